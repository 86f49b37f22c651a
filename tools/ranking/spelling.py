"""Misspelt words: the known words whose pairs of letters are most like theirs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import islice, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.ranking.arrays import Growing

SHORTEST: Final = 4
"""Letters that a word must have for a neighbour to be looked for."""
_TWO_SLIPS: Final = 8
"""Letters from which on two slips are believed, instead of one."""
_ALIKE: Final = 0.5
_SLACK: Final = 0.05
"""Pairs that share a bit count once."""
_END: Final = "\n"
_MIX: Final = (0x9E3779B1, 0x85EBCA77)
_HIGH: Final = 11
_LOOKED_AT: Final = 24
_MOST: Final = 2


class Spelling:
    """Finds the known words that an unknown one may stand for.

    A word is 64 bits for its letters, and as many for its pairs of neighbouring letters; the words
    whose bits agree most are then compared letter by letter. A new word costs nothing until one is
    looked for.
    """

    def __init__(self) -> None:
        self._words: list[str] = []
        self._bits = Growing(np.zeros((0, 2), np.uint64))
        self._lengths = Growing(np.zeros(0, np.int64))

    def near(self, word: str, known: Collection[str], here: Callable[[str], bool]) -> list[str]:
        """Return at most two words, the nearest first.

        Args:
            word: Stemmed, and unknown.
            known: Every word there has been, in the order they came: it only grows.
            here: Whether a tool still has a word.
        """
        if len(word) < SHORTEST or not word.isalpha():
            return []
        if new := list(islice(known, len(self._words), None)):
            self._words += new
            self._bits.append(_bits(new))
            self._lengths.append(np.array([*map(len, new)], np.int64))
        allowed = 2 if len(word) >= _TWO_SLIPS else 1
        near = []
        for unlike, candidate in self._alike(word, allowed, here):
            if candidate[0] == word[0] or allowed > 1:
                slips = slips_between(word, candidate, allowed)
                if slips <= allowed:
                    near.append((slips, unlike, candidate))
        return [candidate for *_, candidate in sorted(near)[:_MOST]]

    def _alike(
        self, word: str, allowed: int, here: Callable[[str], bool]
    ) -> list[tuple[float, str]]:
        """Return the words of about the same length and pairs of letters, the likest first."""
        letters, pairs = _bits_of(word)
        close = np.flatnonzero(
            (np.abs(self._lengths.rows - len(word)) <= allowed)
            # A slip takes one letter at most, and brings one at most.
            & (np.bitwise_count(self._bits.rows[:, 0] ^ letters) <= 2 * allowed)
        )
        of_close = self._bits.rows[close, 1]
        both = np.bitwise_count(of_close & pairs)
        alike = 2 * both / (np.bitwise_count(of_close) + np.bitwise_count(pairs))
        # A slip changes at most three pairs of a word's, where two letters are swapped.
        least = max(_ALIKE, 1 - 3 * allowed / (len(word) + 1))
        found = np.flatnonzero(alike >= least - _SLACK)
        words = zip((-alike[found]).tolist(), close[found].tolist(), strict=True)
        there = [(unlike, self._words[place]) for unlike, place in words]
        return sorted(pair for pair in there if here(pair[1]))[:_LOOKED_AT]


def slips_between(one: str, other: str, most: int) -> int:
    """Count letters added, left out, changed, or swapped with the next; `most` + 1 means more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    one, other = _apart(one, other)
    longer = max(len(one), len(other))
    if longer <= 1 or not (one and other):
        return longer
    if one == other[::-1] and longer == len("ab"):
        return 1
    if most == 1:
        return 2
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def _apart(one: str, other: str) -> tuple[str, str]:
    """Leave out what two words begin and end with alike."""
    shorter = min(len(one), len(other))
    start = 0
    while start < shorter and one[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[start : len(one) - end], other[start : len(other) - end]


def _bits(words: list[str]) -> NDArray[np.uint64]:
    """Return bits for the letters of each word, and for the pairs of them, the ends included."""
    text = _END.join(["", *words, ""])
    letters = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    mixed = letters[:-1] * np.uint64(_MIX[0]) + letters[1:] * np.uint64(_MIX[1])
    numbers = np.stack([letters[:-1], mixed >> np.uint64(_HIGH)], axis=1)
    bits = np.left_shift(np.uint64(1), numbers & np.uint64(63))
    starts = np.flatnonzero(letters == ord(_END))[:-1]
    return np.bitwise_or.reduceat(bits, starts)


def _bits_of(word: str) -> tuple[np.uint64, np.uint64]:
    """Return the bits of one word; several times faster than an array of one."""
    letters = pairs = 0
    for before, letter in pairwise([ord(_END), *map(ord, word), ord(_END)]):
        letters |= 1 << (before & 63)
        pairs |= 1 << ((before * _MIX[0] + letter * _MIX[1] >> _HIGH) & 63)
    return np.uint64(letters), np.uint64(pairs)
