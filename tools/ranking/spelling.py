"""Misspelt words: the known words whose pairs of letters are most like theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

SHORTEST: Final = 4
"""Letters that a word must have for a neighbour to be looked for."""
_TWO_SLIPS: Final = 8
"""Letters from which on two slips are believed, instead of one."""
_ALIKE: Final = 0.5
_LOOKED_AT: Final = 24
_MOST: Final = 2


class Spelling:
    """Finds the known words that an unknown one may stand for.

    A word is 64 bits, one for each pair of neighbouring letters by its hash; the words whose bits
    agree most are then compared letter by letter. A new word costs nothing until one is looked for.
    """

    def __init__(self) -> None:
        self._words: list[str] = []
        self._bits = np.zeros(0, np.uint64)

    def near(
        self, word: str, known: Iterable[str], count: int, here: Callable[[str], bool]
    ) -> list[str]:
        """Return at most two words, the nearest first.

        Args:
            word: Stemmed, and unknown.
            known: Every word there has been, in the order they came: it only grows.
            count: How many that are.
            here: Whether a tool still has a word.
        """
        if len(word) < SHORTEST or not word.isalpha():
            return []
        if count > len(self._words):
            new = list(islice(known, len(self._words), None))
            self._words += new
            self._bits = np.concatenate([self._bits, _bits(new)])
        (bits,) = _bits([word])
        both = np.bitwise_count(self._bits & bits)
        alike = 2 * both / (np.bitwise_count(self._bits) + np.bitwise_count(bits))
        places = np.argsort(-alike, kind="stable")[:_LOOKED_AT]
        allowed = 2 if len(word) >= _TWO_SLIPS else 1
        near = []
        for place in places[alike[places] >= _ALIKE]:
            candidate = self._words[place]
            if candidate[0] != word[0] and allowed == 1:
                continue
            slips = slips_between(word, candidate, allowed)
            if slips <= allowed and here(candidate):
                near.append((slips, -alike[place], candidate))
        return [candidate for *_, candidate in sorted(near)[:_MOST]]


def slips_between(one: str, other: str, most: int) -> int:
    """Count letters added, left out, changed, or swapped with the next; `most` + 1 means more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
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


def _bits(words: list[str]) -> NDArray[np.uint64]:
    """Return the pairs of letters of each word, the ends included, as bits."""
    if not words:
        return np.zeros(0, np.uint64)
    text = "\n".join(["", *words, ""])
    letters = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    pairs = (
        letters[:-1] * np.uint64(0x9E3779B1) + letters[1:] * np.uint64(0x85EBCA77)
    ) >> np.uint64(11)
    bits = np.left_shift(np.uint64(1), pairs & np.uint64(63))
    starts = np.flatnonzero(letters == ord("\n"))[:-1]
    return np.bitwise_or.reduceat(bits, starts)
