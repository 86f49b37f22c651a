"""One vector a tool, in a matrix that grows, and how near a query's is to each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tools.ranking.postings import Floats, Ints


class Embedder(Protocol):
    """Turns texts into unit vectors; texts that mean alike lie close."""

    @property
    def size(self) -> int:
        """Numbers of one vector."""
        ...

    @property
    def share(self) -> float:
        """What its part of a score weighs, 0 to 1; the better the embedder, the more."""
        ...

    @property
    def alike(self) -> float:
        """The least cosine at which meaning alone is a match."""
        ...

    def of(self, texts: Sequence[str], *, remember: bool = True) -> Floats:
        """Return one vector a text; `remember` what helps with other texts like them."""
        ...

    def knows(self, word: str) -> bool:
        """Whether a folded word is a common one, and so hardly a misspelling."""
        ...


class Vectors:
    """The vectors of tools by slot."""

    def __init__(self, size: int) -> None:
        self._rows: Floats = np.zeros((0, size), np.float32)
        self._used = 0

    def add(self, vectors: Floats) -> None:
        """Append vectors, one a slot."""
        end = self._used + len(vectors)
        if end > len(self._rows):
            rows: Floats = np.zeros((end + max(64, end // 8), self._rows.shape[1]), np.float32)
            rows[: self._used] = self._rows[: self._used]
            self._rows = rows
        self._rows[self._used : end] = vectors
        self._used = end

    def keep(self, slots: Ints) -> None:
        """Drop every vector but these, and number them anew."""
        self._rows = self._rows[slots]
        self._used = len(slots)

    def near(self, vector: Floats) -> Floats:
        """Return the cosine of each slot's vector with another."""
        # Not `@`: a matrix product starts threads, which cost more than they save here, and its
        # last bits change with the size of the matrix.
        cosines: Floats = np.vecdot(self._rows[: self._used], vector)
        return cosines
