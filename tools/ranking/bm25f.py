"""BM25F: how well a tool's words answer a query's, by field."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tools.ranking.postings import Floats, Posting, Postings


@dataclass(frozen=True, slots=True)
class Weights:
    """The parameters of BM25F; fields in the order of `FIELDS`.

    Attributes:
        fields: What one word counts there.
        length: How much a long field counts less, 0 to 1.
        saturation: How soon a repeated word stops to count more.
    """

    fields: tuple[float, ...] = (2.4, 1.0, 0.4)
    length: tuple[float, ...] = (0.4, 0.6, 0.7)
    saturation: float = 1.1


def rarity(found: int, count: int) -> float:
    """Return the weight of a word that `found` of `count` tools have."""
    return math.log(1 + (count - found + 0.5) / (found + 0.5))


def scores(postings: Postings, words: Mapping[str, float], weights: Weights) -> Floats:
    """Return one score a slot, 0 where no word matches.

    Args:
        postings: The index.
        words: The query's, each with its weight.
        weights: The parameters.
    """
    total = np.zeros(postings.slots, np.float32)
    relative = postings.lengths()
    for word, weight in words.items():
        if (posting := postings.get(word)) is not None:
            share = sum(by_field(posting, relative, weights))
            idf = weight * rarity(posting.slots.size, postings.count)
            total[posting.slots] += idf * share / (weights.saturation + share)
    return total


def by_field(posting: Posting, relative: Floats, weights: Weights) -> list[Floats]:
    """Return, field by field, what each tool of a posting has of its word."""
    shares: list[Floats] = []
    for place, counts in enumerate(posting.counts):
        b = weights.length[place]
        norm = 1 - b + b * relative[place, posting.slots]
        shares.append((weights.fields[place] * counts / norm).astype(np.float32))
    return shares
