"""BM25F: how well a tool's words answer a query's, by field."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tools.ranking.arrays import Floats, Ints
from tools.ranking.postings import Posting, Postings


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
    """What one term of a query is worth to the tools that have it.

    Attributes:
        term: Its number.
        slots: Of those tools, ascending.
        scores: One a slot, above 0.
    """

    term: int
    slots: Ints
    scores: Floats


class Scorer:
    """Scores terms on an index; what does not depend on the query is worked out once."""

    def __init__(self, postings: Postings, weights: Weights | None = None) -> None:
        self._postings = postings
        self._weights = weights or Weights()
        self._norms: Floats = np.zeros((0, 0), np.float32)
        self._saturated: dict[int, tuple[Ints, Floats]] = {}
        self._version = -1

    def worth(self, term: int, weight: float = 1.0) -> Worth | None:
        """Return what a term is worth to each tool that has it, or None if none has."""
        norms = self._up_to_date()
        known = self._saturated.get(term)
        if known is None:
            posting = self._postings.get(term)
            if posting is None:
                return None
            share = np.add.reduce(_shares(posting, norms))
            known = posting.slots, share / (np.float32(self._weights.saturation) + share)
            self._saturated[term] = known
        slots, saturated = known
        rare = np.float32(weight * rarity(slots.size, self._postings.count))
        return Worth(term, slots, rare * saturated)

    def shares(self, term: int, slot: int) -> list[float]:
        """Return what each field of one tool has of a term's worth to it, up to a factor."""
        posting = self._postings.get(term)
        if posting is None:
            return []
        return [float(share[posting.slots == slot].sum()) for share in _shares(posting, self._norms)]

    def _up_to_date(self) -> Floats:
        """Return what one word counts in each field of each slot."""
        if self._version != self._postings.version:
            lengths = self._postings.lengths.T
            means = lengths.sum(axis=1, keepdims=True) / max(1, self._postings.count)
            b = np.array(self._weights.length)[:, None]
            fields = np.array(self._weights.fields)[:, None]
            relative = lengths / np.maximum(means, 1e-9)
            self._norms = (fields / (1 - b + b * relative)).astype(np.float32, order="C")
            self._saturated = {}
            self._version = self._postings.version
        return self._norms


def _shares(posting: Posting, norms: Floats) -> list[Floats]:
    return [
        counts.astype(np.float32) * norms[place].take(posting.slots)
        for place, counts in enumerate(posting.counts)
    ]


def rarity(found: int, count: int) -> float:
    """Return the weight of a word that `found` of `count` tools have."""
    return math.log(1 + (count - found + 0.5) / (found + 0.5))
