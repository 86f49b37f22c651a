"""Text that is safe to store, send and print."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_START = 3
"""Letters that make a beginning."""


def clean_text(text: str) -> str:
    """Replace lone surrogates by U+FFFD, join split pairs, and remove NUL characters.

    Either would end a thread: no later request that carries a lone surrogate can be encoded, and
    databases refuse NUL.
    """
    if text.isascii():
        return text.replace("\0", "") if "\0" in text else text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "")


def one_line(text: str) -> str:
    """Join lines and runs of blanks into one line of clean text."""
    return " ".join(clean_text(text).split())


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the one name that was probably meant: the same but for its spelling, or its start."""
    names = list(known)
    for near in (
        [k for k in names if _letters(k) == _letters(name)],
        [k for k in names if len(name) >= _START and k.lower().startswith(name.lower())],
        [k for k in names if len(k) >= _START and name.lower().startswith(k.lower())],
    ):
        if len(near) == 1:
            return near[0]
    return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=0.75)), None)


def _letters(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def shorten(text: str, n: int) -> str:
    """Cut text to n characters, the last one then an ellipsis."""
    return text if len(text) <= n else text[: max(0, n - 1)] + "…"[:n]
