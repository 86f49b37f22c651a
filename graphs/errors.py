"""What a caller did wrong, in one line that says what to do."""


class UsageError(ValueError):
    """The caller's mistake: a missing question, a bad context value, an unknown graph, another user's thread."""
