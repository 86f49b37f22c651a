"""Which thread ids there are: those that a person can type, see listed and look up."""

THREAD_ID_LIMIT = 200

NO_THREAD_ID = f"a thread id has 1 to {THREAD_ID_LIMIT} printable characters"
"""What is wrong with an id that `is_thread_id` refuses."""


def is_thread_id(text: str) -> bool:
    """Tell whether a text can be a thread's id; a lone surrogate is not printable."""
    return bool(text.strip()) and len(text) <= THREAD_ID_LIMIT and text.isprintable()
