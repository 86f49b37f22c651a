"""Texts split into folded words in bulk, as `words_of` splits one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from tools.ranking.arrays import Ints
from tools.ranking.words import words_of

_END: Final = "\x01"
"""Stands behind each text, and is no part of a word."""

_OTHER, _LOWER, _UPPER, _DIGIT = range(4)


def _kind(code: int) -> int:
    character = chr(code)
    if not character.isascii() or character.islower():  # what is not ASCII has been folded before
        return _LOWER
    if character.isupper():
        return _UPPER
    return _DIGIT if character.isdigit() else _OTHER


def _breaks(code: int) -> bool:
    """Whether a word begins or has ended at the second of three characters, given their kinds.

    Inside of a run of letters and digits a word begins at a capital behind a small letter, at the
    last of several capitals if a small letter follows, and where letters and digits meet.
    """
    before, here, behind = code >> 4, code >> 2 & 3, code & 3
    if _OTHER in (before, here) or (before == _DIGIT) != (here == _DIGIT):
        return before != here
    return here == _UPPER and (before == _LOWER or (before == _UPPER and behind == _LOWER))


# Tables for `bytes.translate`, the fastest way to look up every byte of a text.
_KINDS: Final = bytes(map(_kind, range(256)))
_BREAKS: Final = bytes(map(_breaks, range(64))) + bytes(192)
_FOLDED: Final = bytes(code + 32 * (kind == _UPPER) for code, kind in enumerate(_KINDS))


class Split(NamedTuple):
    """The words of texts, one text behind the other.

    Attributes:
        text: Of all of them, folded, in UTF-8.
        starts: Where each word begins in it.
        lengths: Of each word, in bytes, at least 1.
        counts: How many words each text has.
    """

    text: bytes
    starts: Ints
    lengths: Ints
    counts: Ints

    def words(self, places: Ints) -> list[bytes]:
        """Return some of the words."""
        starts = self.starts[places]
        ends = (starts + self.lengths[places]).tolist()
        return [self.text[start:end] for start, end in zip(starts.tolist(), ends, strict=True)]


def split(texts: Sequence[str]) -> Split:
    """Split texts into their words."""
    joined = _joined(texts)
    if not joined.isascii() or joined.count(_END) > len(texts) + 1:
        joined = _joined([text if _plain(text) else " ".join(words_of(text)) for text in texts])
    text = joined.encode() + b" "
    kinds = np.frombuffer(text.translate(_KINDS), np.uint8)
    codes = (kinds[:-2] << 4) | (kinds[1:-1] << 2) | kinds[2:]
    breaks = np.flatnonzero(np.frombuffer(codes.tobytes().translate(_BREAKS), bool)) + 1
    words = np.flatnonzero(kinds[breaks])
    starts = breaks[words]
    # There is a break behind every word, for each text has an end.
    lengths = breaks[words + 1] - starts
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord(_END))[1:]
    counts = np.diff(np.searchsorted(starts, ends), prepend=0)
    return Split(text.translate(_FOLDED), starts, lengths, counts)


def _plain(text: str) -> bool:
    return text.isascii() and _END not in text


def _joined(texts: Sequence[str]) -> str:
    return _END.join(["", *texts, ""])
