"""Text that is safe to store, send and print."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

_UNSEEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
_FILLERS = "\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5" + "".join(map(chr, range(0xFE00, 0xFE10)))

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


def seen(text: str) -> str:
    """Return a text on one line, without the characters that are not shown.

    These are control, format (zero-width, direction, tags), private and surrogate characters,
    variation selectors and blank fillers.
    """
    line = one_line(text)
    if line.isascii() and line.isprintable():
        return line
    kept = (c for c in line if unicodedata.category(c) not in _UNSEEN and not _is_filler(c))
    return " ".join("".join(kept).split())


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


def _is_filler(char: str) -> bool:
    return char in _FILLERS or "\U000e0100" <= char <= "\U000e01ef"
