"""Numbers for words: those that have been met before are looked up in bulk, in a table."""

from __future__ import annotations

from collections import defaultdict
from itertools import count, islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.ranking.arrays import Ints
from tools.ranking.split import Split

_HALF: Final = 8
_KEPT: Final = 2 * _HALF
"""Bytes of a word that a table can hold; longer ones are looked up one by one."""
_FREE: Final = 4
"""Places of the table for each word, at least: so that few share one."""
_FIRST_BITS: Final = 12
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
"""2**64 over the golden ratio: its products spread what is alike."""
_MASKS: Final = np.array([(1 << (8 * size)) - 1 for size in range(_HALF + 1)], np.uint64)

Halves = NDArray[np.uint64]


class Numbering:
    """Gives each word a number, from 0 on in the order they come.

    A word of up to 16 bytes is two whole numbers, which have one place in a table. Where two words
    have the same place it keeps one, and the other is found in the dictionary that has all.
    """

    def __init__(self) -> None:
        self._numbers: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._make_room(_FIRST_BITS)

    def __len__(self) -> int:
        return len(self._numbers)

    def since(self, first: int) -> list[bytes]:
        """Return the words whose numbers are that one and above, in order."""
        return list(islice(self._numbers, first, None))

    def of(self, split: Split) -> Ints:
        """Return the number of each word."""
        heads, tails = _halves(split)
        places = self._places(heads, tails)
        numbers = self._table[places]
        known = (self._heads[places] == heads) & (self._tails[places] == tails)
        known &= split.lengths <= _KEPT
        others = np.flatnonzero(~known)
        if others.size:
            words = split.words(others)
            found = np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))
            numbers[others] = found
            short = split.lengths[others] <= _KEPT
            kept = others[short]
            self._keep(places[kept], heads[kept], tails[kept], found[short])
        return numbers

    def _keep(self, places: Ints, heads: Halves, tails: Halves, numbers: Ints) -> None:
        self._heads[places], self._tails[places] = heads, tails
        self._table[places] = numbers
        if len(self) * _FREE > len(self._table):
            heads, tails, numbers = self._heads, self._tails, self._table
            used = np.flatnonzero(heads)
            self._make_room((len(self) * 2 * _FREE).bit_length())
            again = self._places(heads[used], tails[used])
            self._heads[again], self._tails[again] = heads[used], tails[used]
            self._table[again] = numbers[used]

    def _make_room(self, bits: int) -> None:
        self._shift = np.uint64(64 - bits)
        self._heads = np.zeros(1 << bits, np.uint64)  # no word begins with a zero
        self._tails = np.zeros(1 << bits, np.uint64)
        self._table = np.zeros(1 << bits, np.int64)

    def _places(self, heads: Halves, tails: Halves) -> Ints:
        mixed = heads ^ (tails * _MIX)
        mixed ^= mixed >> np.uint64(29)
        places: Ints = ((mixed * _MIX) >> self._shift).astype(np.int64)
        return places


def _halves(split: Split) -> tuple[Halves, Halves]:
    """Return the first eight bytes of each word as a number, and the eight behind them."""
    # A number at every byte; numpy reads those it is asked for, aligned or not.
    padded = split.text + bytes(_KEPT)
    at = np.ndarray((len(split.text) + 1 + _HALF,), "<u8", padded, strides=(1,))
    heads = at[split.starts] & _MASKS[np.minimum(split.lengths, _HALF)]
    tails = np.zeros_like(heads)
    long = np.flatnonzero(split.lengths > _HALF)
    sizes = np.minimum(split.lengths[long], _KEPT) - _HALF
    tails[long] = at[split.starts[long] + _HALF] & _MASKS[sizes]
    return heads, tails
