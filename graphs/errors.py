"""What a caller did wrong, in one line that says what to do."""


class UsageError(ValueError):
    """The caller's mistake: no question, a bad context value, another user's thread."""
