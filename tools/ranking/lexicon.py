"""Words by number: texts are read in bulk, and each distinct word is worked on once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from tools.ranking.arrays import Ints
from tools.ranking.numbering import Numbering
from tools.ranking.split import split
from tools.ranking.words import LONGEST

_AT_ONCE: Final = 1_024
"""Texts that are read together; what they are cut into takes memory until they are read."""


class Read(NamedTuple):
    """Texts as the numbers of their words.

    Attributes:
        words: Every word that the lexicon knows, by number.
        numbers: Of the words of the texts, one text behind the other.
        counts: How many words each text has.
    """

    words: Sequence[str]
    numbers: Ints
    counts: Ints

    def first(self, most: int) -> Read:
        """Return the same texts without the words of each that are beyond the most."""
        if int(self.counts.max(initial=0)) <= most:
            return self
        before = np.cumsum(self.counts) - self.counts
        within = np.arange(len(self.numbers)) - np.repeat(before, self.counts)
        return Read(self.words, self.numbers[within < most], np.minimum(self.counts, most))


class Lexicon:
    """Gives each folded word a number, from 0 on in the order they come; they only grow."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._numbering = Numbering()

    def read(self, texts: Sequence[str]) -> Read:
        """Read texts, and learn the words that are new."""
        starts = range(0, max(1, len(texts)), _AT_ONCE)
        read = [split(texts[start : start + _AT_ONCE]) for start in starts]
        numbers = np.concatenate([self._numbering.of(part) for part in read])
        new = self._numbering.since(len(self._words))
        self._words += (word.decode()[:LONGEST] for word in new)
        return Read(self._words, numbers, np.concatenate([part.counts for part in read]))
