"""Why a tool was found: which words matched where, and what each part of the score was worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tools.ranking.arrays import Flags
from tools.ranking.fields import FIELDS
from tools.ranking.parts import Parts, spread


@dataclass(frozen=True, slots=True)
class Reason:
    """One part of a tool's score; the shares of all of them add up to it.

    Attributes:
        kind: A word that matched, the clause that matched best, or nearness in meaning.
        word: The word as the index has it, stemmed; empty for the other kinds.
        fields: Where the tool has the word, the field that counts most first.
        share: What it is worth.
    """

    kind: Literal["word", "clause", "meaning"]
    word: str
    fields: tuple[str, ...]
    share: float


def reasons(
    parts: Parts, slot: int, alive: Flags, shares_of: Callable[[str, int], list[float]]
) -> tuple[Reason, ...]:
    """Return what one tool was found by, the most telling reason first.

    Args:
        parts: What the query found.
        slot: The tool's.
        alive: Which slots are in use.
        shares_of: Says what each field of a slot has of a word's worth to it.
    """
    mix = parts.mix
    words = (1 - mix.meaning) / (1 + (mix.clauses if parts.clauses is not None else 0))
    each = words / max(float(parts.whole.max(initial=0)), 1e-9)
    found: list[Reason] = []
    for word, worth in parts.worths.items():
        place = int(np.searchsorted(worth.slots, slot))
        if place < worth.slots.size and worth.slots[place] == slot:
            shares = shares_of(word, slot)
            order = sorted(range(len(FIELDS)), key=lambda field: -shares[field])
            fields = tuple(FIELDS[field] for field in order if shares[field])
            found.append(Reason("word", word, fields, each * float(worth.scores[place])))
    if parts.clauses is not None and parts.clauses[slot]:
        share = words * mix.clauses * float(parts.clauses[slot])
        found.append(Reason("clause", "", (), share))
    if meaning := mix.meaning * float(spread(parts.cosines, alive)[slot]):
        found.append(Reason("meaning", "", (), meaning))
    return tuple(sorted(found, key=lambda reason: -reason.share))
