"""What can go wrong with a model: its configuration, or its reply."""


class ModelError(ValueError):
    """A model that can't be used as it is configured; one line that says what to do."""


class ModelReplyError(RuntimeError):
    """A reply that is no reply (no choices, no JSON, an error in a 200); asking again may help."""
