"""The ranking: which tools answer a query best, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tools.ranking import bm25f
from tools.ranking.fields import FIELDS, Described, texts
from tools.ranking.postings import Postings
from tools.ranking.words import Words


@dataclass(frozen=True, slots=True)
class Reason:
    """One word that a tool was found by.

    Attributes:
        word: As the index has it.
        fields: Where the tool has it: name, description, parameters.
        share: What it is worth, of the tool's score.
    """

    word: str
    fields: tuple[str, ...]
    share: float


class Ranking:
    """An index of tools, by name; see `Catalog` for what it keeps true."""

    def __init__(self) -> None:
        self._words = Words()
        self._postings = Postings()
        self._weights = bm25f.Weights()
        self._slots: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def add(self, tools: Iterable[Described]) -> None:
        """Index tools whose names are new."""
        names: list[str] = []
        documents: list[list[list[str]]] = []
        for tool in tools:
            names.append(tool.name)
            documents.append([self._words.of(text) for text in texts(tool)])
        first = self._postings.add(documents)
        for slot, name in enumerate(names, first):
            self._slots[name] = slot
            self._names[slot] = name

    def remove(self, name: str) -> None:
        """Forget one tool."""
        slot = self._slots.pop(name)
        del self._names[slot]
        self._postings.remove(slot)

    def search(self, query: str, limit: int) -> tuple[list[tuple[str, float]], int]:
        """Return the best tools with their scores, and how many match at all."""
        scores = bm25f.scores(self._postings, self._weighed(query), self._weights)
        matching = np.flatnonzero(scores > 0)
        order = matching[np.argsort(-scores[matching], kind="stable")[:limit]]
        best = [(self._names[int(slot)], float(scores[slot])) for slot in order]
        return best, int(matching.size)

    def reasons(self, query: str, name: str) -> tuple[Reason, ...]:
        """Return what a tool was found by, the most telling word first."""
        slot = self._slots[name]
        relative = self._postings.lengths()
        found: list[Reason] = []
        for word, weight in self._weighed(query).items():
            posting = self._postings.get(word)
            if posting is None or slot not in posting.slots:
                continue
            place = int(np.searchsorted(posting.slots, slot))
            shares = [float(s[place]) for s in bm25f.by_field(posting, relative, self._weights)]
            total = sum(shares)
            idf = weight * bm25f.rarity(posting.slots.size, self._postings.count)
            fields = tuple(f for f, share in zip(FIELDS, shares, strict=True) if share)
            found.append(Reason(word, fields, idf * total / (self._weights.saturation + total)))
        return tuple(sorted(found, key=lambda reason: -reason.share))

    def _weighed(self, query: str) -> dict[str, float]:
        return dict.fromkeys(Counter(self._words.of(query)), 1.0)
