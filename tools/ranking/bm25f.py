"""BM25F: how well a tool's words answer a query's, by field."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
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
        slots: Of those tools, ascending.
        scores: One a slot, above 0.
    """

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

    def worths(self, weights: Mapping[int, float]) -> list[Worth]:
        """Return what each term is worth to the tools that have it.

        Args:
            weights: What each counts, by number; all of them are in the index.
        """
        self._work_out(weights)
        found = []
        for term, weight in weights.items():
            slots, saturated = self._saturated[term]
            rare = np.float32(weight * rarity(slots.size, self._postings.count))
            found.append(Worth(slots, rare * saturated))
        return found

    def shares(self, term: int, slot: int) -> list[float]:
        """Return what each field of one tool has of a term's worth to it, up to a factor."""
        posting, _ = self._postings.get([term])
        shares = _shares(posting, self._up_to_date())
        return [float(share[posting.slots == slot].sum()) for share in shares]

    def _work_out(self, terms: Iterable[int]) -> None:
        norms = self._up_to_date()
        new = [term for term in terms if term not in self._saturated]
        if not new:
            return
        posting, ends = self._postings.get(new)
        share = np.add.reduce(_shares(posting, norms))
        saturated = share / (np.float32(self._weights.saturation) + share)
        for term, start, end in zip(new, [0, *ends], ends, strict=False):
            self._saturated[term] = posting.slots[start:end], saturated[start:end]

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
