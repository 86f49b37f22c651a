"""What a caller did wrong, in one line that says what to do."""


class UsageError(ValueError):
    """The caller's mistake: no question, a bad context value, another user's thread."""


class AnswerError(ValueError):
    """An answer that decides nothing; one line that says what is wrong with it."""
