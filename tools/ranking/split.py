"""Texts split into folded words in bulk, as `words_of` splits one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tools.ranking.words import words_of

END: Final = b"\x01"
"""Stands behind each text, and is no word of one."""
_MARK: Final = END.decode()

_OTHER, _LOWER, _UPPER, _DIGIT = range(4)


def _kind(code: int) -> int:
    character = chr(code)
    if not character.isascii() or character.islower():  # what is not ASCII has been folded before
        return _LOWER
    if character.isupper():
        return _UPPER
    return _DIGIT if character.isdigit() else _OTHER


def _fold(code: int) -> int:
    if code in END or _KINDS[code] in (_LOWER, _DIGIT):
        return code
    return ord(chr(code).lower()) if _KINDS[code] == _UPPER else ord(" ")


_KINDS: Final = np.array([_kind(code) for code in range(256)], np.uint8)
_FOLDED: Final = bytes(map(_fold, range(256)))


def split(texts: Sequence[str]) -> list[bytes]:
    """Return the words of each text in UTF-8, followed by `END`."""
    joined = _joined(texts)
    if not joined.isascii() or joined.count(_MARK) > len(texts):
        plain = (text.isascii() and _MARK not in text for text in texts)
        pairs = zip(texts, plain, strict=True)
        joined = _joined([text if kept else " ".join(words_of(text)) for text, kept in pairs])
    text = np.frombuffer(joined.encode(), np.uint8)
    return _apart(text).translate(_FOLDED).split()


def _joined(texts: Sequence[str]) -> str:
    return f" {_MARK} ".join([*texts, ""])


def _apart(text: Any) -> bytes:
    """Put a space where a word begins inside of a run of letters and digits: `getURL2` has three.

    A word begins at a capital behind a small letter, at the last of several capitals if a small
    letter follows, and where letters and digits meet.
    """
    kinds = _KINDS[text]
    before, here = kinds[:-1], kinds[1:]
    capital = here == _UPPER
    capital[:-1] &= (before[:-1] == _LOWER) | ((before[:-1] == _UPPER) & (here[1:] == _LOWER))
    capital[-1:] &= before[-1:] == _LOWER
    number = ((before == _DIGIT) != (here == _DIGIT)) & (before != _OTHER) & (here != _OTHER)
    begins = np.flatnonzero(capital | number) + 1
    apart = np.full(len(text) + len(begins), ord(" "), np.uint8)
    kept = np.ones(len(apart), bool)
    kept[begins + np.arange(len(begins))] = False
    apart[kept] = text
    return apart.tobytes()
