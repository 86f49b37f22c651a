"""The table of meanings: a vector for each piece of a word, added up to that of a text.

`table.npz` lies beside this module: int8 rows, their scales, and the pieces.
`benchmarks/make_table.py` says what it was made of and how, and makes it again.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np

from tools.ranking.arrays import Floats, sums
from tools.ranking.lexicon import Read
from tools.ranking.wordpiece import WordPiece
from tools.ranking.words import words_of

TABLE: Final = Path(__file__).with_name("table.npz")
_MOST: Final = 512
"""Words of one text that count."""
_KEPT: Final = 8_192
"""Words of queries whose pieces are remembered."""
_WHOLE: Final = 1_024
"""How fine the numbers are; 512 words of them add up to less than the 2**24 that are exact."""


class Meaning:
    """Turns texts into unit vectors; texts that mean alike lie close.

    The numbers of the table are rounded to whole ones: sums of those are exact, so that a vector
    is the same to the last bit in whatever order, and beside whatever else, it was made.
    """

    share = 0.27
    alike = 0.45

    def __init__(self, path: Path = TABLE) -> None:
        with np.load(path) as stored:
            rows = stored["rows"].astype(np.float32) * stored["scales"][:, None]
            self._rows: Floats = np.round(rows * _WHOLE)
            self._ids: list[int] = stored["ids"].tolist()
            self._pieces = WordPiece(str(stored["pieces"]).split("\n"))
        self._cut = functools.lru_cache(_KEPT)(self._pieces.cut)
        self.size = int(self._rows.shape[1])

    def of(self, texts: Sequence[str], read: Read | None = None) -> Floats:
        """Return one vector a text, of length 1; of length 0 where nothing is known."""
        made = np.stack([self._sum(text) for text in texts]) if read is None else self._sums(read)
        made /= np.maximum(np.sqrt(np.vecdot(made, made)), 1e-9)[:, None]
        return made

    def knows(self, word: str) -> bool:
        """Whether a folded word is a common one, and so hardly a misspelling."""
        return self._pieces.whole(word)

    def numbers(self, word: str) -> list[int]:
        """Return the pieces of a folded word as BERT's vocabulary numbers them."""
        return [self._ids[piece] for piece in self._pieces.cut(word)]

    def _sum(self, text: str) -> Floats:
        words = dict.fromkeys(words_of(text)[:_MOST])
        pieces = [*chain.from_iterable(map(self._cut, words))]
        total: Floats = self._rows[pieces].sum(axis=0)
        return total

    def _sums(self, read: Read) -> Floats:
        known, numbers, counts = read.first(_MOST)
        used = np.zeros(len(known), bool)
        used[numbers] = True
        words = self._of_words([known[number] for number in np.flatnonzero(used).tolist()])
        # A word counts once in a text.
        keys = np.repeat(np.arange(len(counts)) * len(words), counts)
        keys += (np.cumsum(used) - 1)[numbers]
        keys.sort()
        keys = keys[np.flatnonzero(np.diff(keys, prepend=-1))]
        texts, places = np.divmod(keys, max(1, len(words)))
        return sums(words, places, np.bincount(texts, minlength=len(counts)))

    def _of_words(self, words: list[str]) -> Floats:
        pieces = [*map(self._pieces.cut, words)]
        places = np.fromiter(chain.from_iterable(pieces), np.int64)
        return sums(self._rows, places, np.array([*map(len, pieces)], np.int64))


@functools.cache
def shared() -> Meaning:
    """Return the one table of this process."""
    return Meaning()
