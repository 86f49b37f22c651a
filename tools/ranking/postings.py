"""An inverted index in numpy that takes tools in and lets them go without being rebuilt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tools.ranking.fields import FIELDS

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32]
Flags: TypeAlias = NDArray[np.bool_]

_BITS: Final = 9
MOST_WORDS: Final = (1 << _BITS) - 1
"""Words of one field that count; a tool with more is cut there."""
_SLOT: Final = _BITS * len(FIELDS)
_SHIFTS: Final = tuple(_BITS * place for place in reversed(range(len(FIELDS))))


@dataclass(frozen=True, slots=True)
class Posting:
    """Where one word occurs.

    Attributes:
        slots: Of the tools that have it, ascending.
        counts: One array a field: how often each of them has it there.
    """

    slots: Ints
    counts: tuple[Ints, ...]


class Postings:
    """Words to tools. A tool has a slot, a number that grows with each one added.

    It keeps true that what is found depends on the tools that are there and their order alone,
    never on what was added and removed before.

    Attributes:
        slots: How many have been given out.
        count: How many of them are in use.
        version: Changes with what is in the index.
    """

    def __init__(self) -> None:
        self._packed: dict[str, list[Ints]] = {}
        self._alive = np.zeros(0, bool)
        self._lengths = np.zeros((len(FIELDS), 0), np.int64)
        self.slots = 0
        self.count = 0
        self.version = 0

    def add(self, documents: Iterable[Sequence[Sequence[str]]]) -> int:
        """Take in tools, each as the words of its fields, and return the first one's slot."""
        first = self.slots
        words: list[str] = []
        counts: list[int] = []
        for document in documents:
            for field in document:
                words += field[:MOST_WORDS]
                counts.append(min(len(field), MOST_WORDS))
        lengths = np.array(counts, np.int64).reshape(-1, len(FIELDS))
        self._grow(lengths.T)
        if words:
            known = list(dict.fromkeys(words))
            ids = dict(zip(known, range(len(known)), strict=True))
            keys = np.fromiter(map(ids.__getitem__, words), np.int64, len(words)) << 32
            keys += np.repeat(np.arange(len(lengths)), lengths.sum(axis=1))
            ones = np.tile(np.array([1 << shift for shift in _SHIFTS], np.int64), len(lengths))
            self._enter(known, keys, np.repeat(ones, lengths.ravel()), first)
        return first

    def remove(self, slot: int) -> None:
        """Let one tool go; its entries are swept out when their words are next looked up."""
        self._alive[slot] = False
        self._lengths[:, slot] = 0
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
        self._lengths = self._lengths[:, kept]
        self._alive = np.ones(kept.size, bool)
        self.slots = self.count
        self.version += 1
        return kept

    @property
    def alive(self) -> Flags:
        """Which slots are in use."""
        return self._alive[: self.slots]

    @property
    def lengths(self) -> Ints:
        """How many words each slot has, a row a field."""
        return self._lengths[:, : self.slots]

    @property
    def words(self) -> dict[str, list[Ints]]:
        """Every word there is, and some that were, in the order they came."""
        return self._packed

    def __contains__(self, word: str) -> bool:
        return self._whole(word) is not None

    def get(self, word: str) -> Posting | None:
        """Return where a word occurs, or None."""
        packed = self._whole(word)
        if packed is None:
            return None
        counts = tuple((packed >> shift) & MOST_WORDS for shift in _SHIFTS)
        return Posting(packed >> _SLOT, counts)

    def _whole(self, word: str) -> Ints | None:
        """Return a word's entries as one array, without those of tools that are gone."""
        chunks = self._packed.get(word)
        if not chunks:
            return None
        packed = chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
        if self.count < self.slots:
            packed = packed[self._alive[packed >> _SLOT]]
        self._packed[word] = [packed] if packed.size else []
        return packed if packed.size else None

    def _enter(self, words: list[str], keys: Ints, adds: Ints, first: int) -> None:
        order = np.argsort(keys, kind="stable")
        keys, adds = keys[order], adds[order]
        starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
        ids = keys[starts] >> 32
        packed = ((keys[starts] & 0xFFFFFFFF) + first << _SLOT) + np.add.reduceat(adds, starts)
        bounds = np.searchsorted(ids, np.arange(len(words) + 1)).tolist()
        for word, start, end in zip(words, bounds, bounds[1:], strict=False):
            self._packed.setdefault(word, []).append(packed[start:end])

    def _grow(self, lengths: Ints) -> None:
        end = self.slots + lengths.shape[1]
        if end > self._alive.size:
            spare = max(end, 2 * self._alive.size) - self._alive.size
            self._alive = np.r_[self._alive, np.zeros(spare, bool)]
            self._lengths = np.pad(self._lengths, ((0, 0), (0, spare)))
        self._alive[self.slots : end] = True
        self._lengths[:, self.slots : end] = lengths
        self.count += lengths.shape[1]
        self.slots = end
        self.version += 1
