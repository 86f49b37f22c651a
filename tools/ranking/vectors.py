"""One vector a tool, in a matrix that grows, and how near a query's is to each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tools.ranking.arrays import Floats, Growing, Ints
from tools.ranking.lexicon import Read


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

    def of(self, texts: Sequence[str], read: Read | None = None) -> Floats:
        """Return one vector a text; `read` is the same texts, where they have been read already."""
        ...

    def knows(self, word: str) -> bool:
        """Whether a folded word is a common one, and so hardly a misspelling."""
        ...


class Vectors:
    """The vectors of tools by slot."""

    def __init__(self, size: int) -> None:
        self._vectors = Growing(np.zeros((0, size), np.float32))

    def add(self, vectors: Floats) -> None:
        """Append vectors, one a slot."""
        self._vectors.append(vectors)

    def keep(self, slots: Ints) -> None:
        """Drop every vector but these, and number them anew."""
        self._vectors.keep(slots)

    def near(self, vector: Floats) -> Floats:
        """Return the cosine of each slot's vector with another."""
        # Not `@`: a matrix product starts threads, which cost more than they save here, and its
        # last bits change with the size of the matrix.
        cosines: Floats = np.vecdot(self._vectors.rows, vector)
        return cosines
