"""An inverted index in numpy that takes tools in and lets them go without being rebuilt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np

from tools.ranking.arrays import Flags, Growing, Ints
from tools.ranking.fields import FIELDS

_BITS: Final = 9
MOST_WORDS: Final = (1 << _BITS) - 1
"""Words of one field that count; a tool with more is cut there."""
_SLOT: Final = _BITS * len(FIELDS)
_SHIFTS: Final = tuple(_BITS * place for place in reversed(range(len(FIELDS))))
_NOWHERE: Final = np.zeros(0, np.int64)
_ONES: Final = np.array([1 << shift for shift in _SHIFTS], np.int64)


@dataclass(frozen=True, slots=True)
class Posting:
    """Where words occur.

    Attributes:
        slots: Of the tools that have one, ascending for each word.
        counts: One array a field: how often each of them has it there.
    """

    slots: Ints
    counts: tuple[Ints, ...]


class Postings:
    """Words, by number, to tools. A tool has a slot, a number that grows with each one added.

    It keeps true that what is found depends on the tools that are there and their order alone,
    never on what was added and removed before.

    Attributes:
        count: How many slots are in use.
        version: Changes with what is in the index.
    """

    def __init__(self) -> None:
        self._packed: dict[int, list[Ints]] = {}
        self._alive = Growing(np.zeros(0, bool))
        self._lengths = Growing(np.zeros((0, len(FIELDS)), np.int64))
        self.count = 0
        self.version = 0

    def add(self, words: Ints, lengths: Ints) -> int:
        """Take in tools, and return the first one's slot.

        Args:
            words: The numbers of the words of every field of every tool, in order.
            lengths: How many words that are, a row a tool and a column a field.
        """
        first = self.slots
        if lengths.size and int(lengths.max()) > MOST_WORDS:
            words, lengths = _cut(words, lengths)
        self._lengths.append(lengths)
        self._alive.append(np.ones(len(lengths), bool))
        self.count += len(lengths)
        self.version += 1
        if len(words):
            self._enter(words, lengths, first)
        return first

    def remove(self, slot: int) -> None:
        """Let one tool go; its entries are swept out when their words are next looked up."""
        self.alive[slot] = False
        self.lengths[slot] = 0
        self.count -= 1
        self.version += 1

    def compact(self) -> Ints:
        """Give out the slots anew, without gaps, and return the old ones in their order."""
        kept = np.flatnonzero(self.alive)
        renumbered = np.cumsum(self.alive) - 1
        for word in list(self._packed):
            packed = self._whole(word)
            if packed is not None:
                within = packed & ((1 << _SLOT) - 1)
                self._packed[word] = [(renumbered[packed >> _SLOT] << _SLOT) + within]
        self._lengths.keep(kept)
        self._alive.keep(kept)
        self.version += 1
        return kept

    @property
    def slots(self) -> int:
        """How many slots have been given out."""
        return len(self._alive)

    @property
    def alive(self) -> Flags:
        """Which slots are in use."""
        return self._alive.rows

    @property
    def lengths(self) -> Ints:
        """How many words each slot has, a column a field."""
        return self._lengths.rows

    def __contains__(self, word: int | None) -> bool:
        if word is None or not self._packed.get(word):
            return False
        return self.count == len(self._alive) or self._whole(word) is not None

    def get(self, words: Sequence[int]) -> tuple[Posting, list[int]]:
        """Return where words occur, one behind the other, and where each one's part ends."""
        found = [self._whole(word) for word in words]
        packed = np.concatenate([_NOWHERE if each is None else each for each in (*found, None)])
        counts = tuple((packed >> shift) & MOST_WORDS for shift in _SHIFTS)
        sizes = (0 if each is None else each.size for each in found)
        return Posting(packed >> _SLOT, counts), list(accumulate(sizes))

    def _whole(self, word: int) -> Ints | None:
        """Return a word's entries as one array, without those of tools that are gone."""
        chunks = self._packed.get(word)
        if not chunks:
            return None
        packed = chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
        if self.count < self.slots:
            packed = packed[self.alive[packed >> _SLOT]]
        self._packed[word] = [packed] if packed.size else []
        return packed if packed.size else None

    def _enter(self, words: Ints, lengths: Ints, first: int) -> None:
        # One number a word of a text: the word, then the field, so that a sort brings together
        # what belongs together.
        fields = len(FIELDS)
        keys = words * lengths.size
        keys += np.repeat(np.arange(lengths.size), lengths.ravel())
        keys.sort()
        places = keys // fields  # of a word and a tool
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        packed = np.add.reduceat(_ONES[keys - places * fields], starts)
        words, slots = np.divmod(places[starts], len(lengths))
        packed += (slots + first) << _SLOT
        bounds = np.flatnonzero(np.diff(words, prepend=-1))
        ends = [*bounds[1:].tolist(), len(words)]
        for word, start, end in zip(words[bounds].tolist(), bounds.tolist(), ends, strict=True):
            self._packed.setdefault(word, []).append(packed[start:end])


def _cut(words: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Leave out the words of each field that are beyond the most that count."""
    each = lengths.ravel()
    within = np.arange(len(words)) - np.repeat(np.cumsum(each) - each, each)
    return words[within < MOST_WORDS], np.minimum(lengths, MOST_WORDS)
