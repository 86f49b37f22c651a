"""Long text cut down to what a model can use: its head, its tail, and a note of its size."""

from __future__ import annotations

import re
import unicodedata

_HEAD_SHARE = 0.6
_LOOK = 32
"""How far a cut is moved, at most, to spare what belongs together."""

_MARKER = re.compile(r"\[… ([\d,]{1,20}) characters in all, the middle left out …\]")
_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?\Z")


def limit(text: str, n: int, *, size: int | None = None) -> str:
    """Return at most n characters of a text, marker included.

    The head and the tail are kept, the marker between them states the whole size. No cut parts
    the halves of what is one character to a reader (accents, flags, joined emoji), or an escape.

    Args:
        text: Any text, clean of lone surrogates.
        n: The most characters to return; a few more than the marker's 50 make sense.
        size: The whole size, when the text has been cut before.
    """
    total = len(text) if size is None else size
    if len(text) <= n:
        return text
    marker = f"\n[… {total:,} characters in all, the middle left out …]\n"
    room = n - len(marker)
    if room < 2:  # noqa: PLR2004 - a character on each side
        short = f"[{total:,} characters]"
        return short if len(short) <= n else text[: _before(text, max(0, n))]
    head = round(room * _HEAD_SHARE)
    tail = len(text) - (room - head)
    return text[: _before(text, head)] + marker + text[_behind(text, tail) :]


def whole_size(text: str) -> int:
    """Return the size that a text had before `limit` cut it, or its own where it is whole."""
    found = _MARKER.search(text)
    return int(found.group(1).replace(",", "")) if found else len(text)


def without_marker(text: str) -> str:
    """Return what is left of a text that `limit` cut, its head and its tail."""
    return _MARKER.sub(" ", text)


def _before(text: str, cut: int) -> int:
    """Move a cut to the left until it parts nothing."""
    for moved in range(cut, max(0, cut - _LOOK), -1):
        if not _parts(text, moved):
            return moved
    return cut if cut - _LOOK > 0 else 0


def _behind(text: str, cut: int) -> int:
    """Move a cut to the right until it parts nothing."""
    for moved in range(cut, min(len(text), cut + _LOOK)):
        if not _parts(text, moved):
            return moved
    return cut if cut + _LOOK < len(text) else len(text)


def _parts(text: str, cut: int) -> bool:
    """Whether a cut before this position would part what belongs together."""
    if not 0 < cut < len(text):
        return False
    last, following = text[cut - 1], text[cut]
    if last.isascii() and following.isascii():
        return (last == "\r" and following == "\n") or _in_escape(text, cut)
    return (
        _joins_left(following)
        or last == "\u200d"
        or ("\ud800" <= last <= "\udbff" and "\udc00" <= following <= "\udfff")
        or (_is_flag(last) and _is_flag(following) and _flags_before(text, cut) % 2 == 1)
    )


def _in_escape(text: str, cut: int) -> bool:
    return _ESCAPE.search(text, max(0, cut - 12), cut) is not None


def _joins_left(char: str) -> bool:
    return (
        char in "\u200d\ufe0e\ufe0f\u20e3"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or unicodedata.category(char) in {"Mn", "Mc", "Me"}
    )


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flags_before(text: str, cut: int) -> int:
    start = cut
    while start > 0 and cut - start < _LOOK and _is_flag(text[start - 1]):
        start -= 1
    return cut - start
