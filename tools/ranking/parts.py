"""The parts of a score, and how they are mixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tools.ranking.arrays import Flags, Floats
from tools.ranking.bm25f import Worth

_LEAST_SPREAD: Final = 0.1
"""Cosines closer together than this tell little: their difference is not blown up."""


@dataclass(frozen=True, slots=True)
class Mix:
    """How the parts make a score.

    Attributes:
        meaning: The share of meaning, 0 to 1; the rest is words.
        alike: The least cosine at which meaning alone is a match.
        clauses: What the best clause counts beside the whole query.
    """

    meaning: float
    alike: float
    clauses: float = 0.7


@dataclass(frozen=True, slots=True)
class Parts:
    """What a query found, one number a slot.

    Attributes:
        worths: Of each word, as the index has it.
        whole: The words' scores, added up.
        clauses: The best clause's score of each, 0 to 1; None for a query of one clause.
        cosines: How near the meaning is.
        scores: All of it, mixed; 0 where nothing matches.
    """

    worths: dict[str, Worth]
    whole: Floats
    clauses: Floats | None
    cosines: Floats
    scores: Floats
    mix: Mix


def spread(cosines: Floats, alive: Flags) -> Floats:
    """Spread the cosines of the tools that are there from 0, the least, to 1."""
    there = cosines if alive.all() else cosines[alive]
    least, most = float(there.min(initial=1)), float(there.max(initial=-1))
    return (cosines - np.float32(least)) * np.float32(1 / max(most - least, _LEAST_SPREAD))
