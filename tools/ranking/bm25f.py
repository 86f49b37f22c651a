"""BM25F: how well a tool's words answer a query's, by field."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tools.ranking.postings import Floats, Ints, Postings


@dataclass(frozen=True, slots=True)
class Weights:
    """The parameters of BM25F; fields in the order of `FIELDS`.

    Attributes:
        fields: What one word counts there.
        length: How much a long field counts less, 0 to 1.
        saturation: How soon a repeated word stops to count more.
    """

    fields: tuple[float, ...] = (2.4, 1.0, 0.6, 0.6)
    length: tuple[float, ...] = (0.4, 0.6, 0.5, 0.9)
    saturation: float = 1.5


@dataclass(frozen=True, slots=True)
class Worth:
    """What one word of a query is worth to the tools that have it.

    Attributes:
        slots: Of those tools, ascending.
        scores: One a slot, above 0.
        shares: What each field has of it, one array a field.
    """

    slots: Ints
    scores: Floats
    shares: tuple[Floats, ...]


class Scorer:
    """Scores words on an index; the lengths of the fields are weighed once for all searches."""

    def __init__(self, postings: Postings, weights: Weights | None = None) -> None:
        self._postings = postings
        self._weights = weights or Weights()
        self._norms: Floats = np.zeros((0, 0), np.float32)
        self._version = -1

    def worth(self, word: str, weight: float = 1.0) -> Worth | None:
        """Return what a word is worth to each tool that has it, or None if none has."""
        posting = self._postings.get(word)
        if posting is None:
            return None
        norms = self._up_to_date()
        shares: tuple[Floats, ...] = tuple(
            counts * norms[place, posting.slots] for place, counts in enumerate(posting.counts)
        )
        share = np.add.reduce(shares)
        rare = weight * rarity(posting.slots.size, self._postings.count)
        scores: Floats = (rare * share / (self._weights.saturation + share)).astype(np.float32)
        return Worth(posting.slots, scores, shares)

    def _up_to_date(self) -> Floats:
        """Return what one word counts in each field of each slot."""
        if self._version != self._postings.version:
            lengths = self._postings.lengths
            means = lengths.sum(axis=1, keepdims=True) / max(1, self._postings.count)
            b = np.array(self._weights.length)[:, None]
            fields = np.array(self._weights.fields)[:, None]
            relative = lengths / np.maximum(means, 1e-9)
            self._norms = (fields / (1 - b + b * relative)).astype(np.float32)
            self._version = self._postings.version
        return self._norms


def rarity(found: int, count: int) -> float:
    """Return the weight of a word that `found` of `count` tools have."""
    return math.log(1 + (count - found + 0.5) / (found + 0.5))
