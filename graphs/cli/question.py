"""Read the question, from the command line or from stdin."""

import sys

from graphs.errors import UsageError

QUESTION_LIMIT = 100_000
"""Characters of a question; a longer one is a document, and belongs in the folder searched."""


def read_question(word: str) -> str:
    """Return the question's text.

    Args:
        word: The question, or `-` for all of stdin.

    Raises:
        UsageError: It is blank, too long or no UTF-8 text, or stdin is closed.
    """
    text = _read_stdin() if word == "-" else word
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise UsageError("the question is not UTF-8 text: convert it and ask again")
    text = text.replace("\0", "").strip()
    if not text:
        raise UsageError(
            'the question is empty: ask something, such as rungs ask "How do I get a refund?"'
        )
    if len(text) > QUESTION_LIMIT:
        raise UsageError(
            f"the question has more than {QUESTION_LIMIT:,} characters: "
            "put long texts into a folder and name it with --docs"
        )
    return text


def _read_stdin() -> str:
    if sys.stdin is None:
        raise UsageError("stdin is closed: give the question as an argument, or pipe it in")
    # Four bytes a character at most: one more than the limit tells that a question is too long.
    data = sys.stdin.buffer.read(4 * QUESTION_LIMIT + 4)
    return data.decode("utf-8", "surrogateescape")
