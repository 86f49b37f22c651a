"""The terms of the index: the stems of words, by number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import count
from typing import Final

import numpy as np

from tools.ranking.arrays import Growing, Ints
from tools.ranking.lexicon import Read
from tools.ranking.words import stems

_NONE: Final = -1


class Terms:
    """Gives each stem a number, from 0 on in the order they come; stop words have none."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._of_words = Growing(np.zeros(0, np.int64))

    @property
    def numbers(self) -> Mapping[str, int]:
        """The number of every term there has been, ascending."""
        return self._numbers

    def read(self, read: Read) -> tuple[Ints, Ints]:
        """Return the terms of texts, one text behind the other, and how many each has."""
        if new := read.words[len(self._of_words) :]:
            numbers = [self._numbers[stem] if stem else _NONE for stem in stems(new)]
            self._of_words.append(np.array(numbers, np.int64))
        terms = self._of_words.rows[read.numbers]
        kept = terms != _NONE
        ends = np.concatenate([[0], np.cumsum(kept)])[np.cumsum(read.counts)]
        return terms[kept], np.diff(ends, prepend=0)
