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

from tools.ranking.postings import Floats
from tools.ranking.wordpiece import WordPiece
from tools.ranking.words import Remembered, runs, surface

TABLE: Final = Path(__file__).with_name("table.npz")
_MOST: Final = 256
"""Words of one text that count."""


class Meaning:
    """Turns texts into unit vectors; texts that mean alike lie close.

    It remembers the vector of each word of the tools it has seen, one row a word.
    """

    share = 0.27
    alike = 0.45

    def __init__(self, path: Path = TABLE) -> None:
        with np.load(path) as stored:
            self._rows: Floats = stored["rows"].astype(np.float32) * stored["scales"][:, None]
            self._ids: list[int] = stored["ids"].tolist()
            self._pieces = WordPiece(str(stored["pieces"]).split("\n"))
        self.size = int(self._rows.shape[1])
        self._places = Remembered(self._split)
        self._words: dict[str, int] = {}
        self._vectors = np.zeros((1_024, self.size), np.float32)

    def of(self, texts: Sequence[str], *, remember: bool = True) -> Floats:
        """Return one vector a text, of length 1; of length 0 where nothing is known."""
        if not remember:
            return _unit(np.stack([self._sum(text) for text in texts]))
        words = [self._of(text) for text in texts]
        made = np.zeros((len(texts), self.size), np.float32)
        # The first word of every text, then the second of those that have one, and so on.
        order = np.array(sorted(range(len(words)), key=lambda number: -len(words[number])), int)
        lengths = np.array([len(words[number]) for number in order])
        starts = np.cumsum(lengths) - lengths
        places = np.array([place for number in order for place in words[number]], int)
        for turn in range(int(lengths.max(initial=0))):
            longer = int(np.searchsorted(-lengths, -turn, side="left"))
            made[order[:longer]] += self._vectors[places[starts[:longer] + turn]]
        return _unit(made)

    def knows(self, word: str) -> bool:
        """Whether a folded word is a common one, and so hardly a misspelling."""
        return self._pieces.whole(word)

    def numbers(self, word: str) -> list[int]:
        """Return the pieces of a folded word as BERT's vocabulary numbers them."""
        return [self._ids[piece] for piece in self._pieces.cut(word)]

    def _sum(self, text: str) -> Floats:
        words = dict.fromkeys(word for run in runs(text) for word in surface(run))
        pieces = [piece for word in list(words)[:_MOST] for piece in self._pieces.cut(word)]
        total: Floats = self._rows[pieces].sum(axis=0)
        return total

    def _of(self, text: str) -> list[int]:
        places = chain.from_iterable(map(self._places.__getitem__, runs(text)))
        return list(dict.fromkeys(places))[:_MOST]

    def _split(self, run: str) -> tuple[int, ...]:
        return tuple(self._place(word) for word in surface(run))

    def _place(self, word: str) -> int:
        place = self._words.get(word)
        if place is None:
            place = self._words[word] = len(self._words) + 1
            if place >= len(self._vectors):
                self._vectors = np.pad(self._vectors, ((0, len(self._vectors)), (0, 0)))
            if pieces := self._pieces.cut(word):
                self._vectors[place] = self._rows[pieces].sum(axis=0)
        return place


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = vectors / np.maximum(lengths, 1e-9)
    return unit


@functools.cache
def shared() -> Meaning:
    """Return the one table of this process."""
    return Meaning()
