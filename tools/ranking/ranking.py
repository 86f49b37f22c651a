"""The ranking: which tools answer a query best.

A score is a convex combination of two parts, each between 0 and 1: how well the words match (the
whole query's, and the best of its clauses), and how near the meaning is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import numpy as np

from tools.ranking import query as queries
from tools.ranking.bm25f import Scorer, Worth
from tools.ranking.embedders import default_embedder
from tools.ranking.fields import Described, texts
from tools.ranking.parts import Mix, Parts, spread
from tools.ranking.postings import Floats, Postings
from tools.ranking.reasons import Reason, reasons
from tools.ranking.spelling import Spelling
from tools.ranking.vectors import Embedder, Vectors
from tools.ranking.words import Words

NEAR_SPELLING: Final = 0.7
"""What a word counts that stands in for a misspelt one."""
_TELLING: Final = 2
"""Words that a clause must have to be one."""
_SPARE: Final = 1_000
"""Slots of tools that are gone before the rest move together."""


class Ranking:
    """An index of tools, by name; see `Catalog` for what it keeps true.

    Args:
        embedder: What turns texts into vectors; the shipped table by default.
        mix: How the parts make a score.
    """

    def __init__(self, embedder: Embedder | None = None, mix: Mix | None = None) -> None:
        self._words = Words()
        self._postings = Postings()
        self._scorer = Scorer(self._postings)
        self._spelling = Spelling()
        self._embedder = embedder or default_embedder()
        self._vectors = Vectors(self._embedder.size)
        self._mix = mix or Mix(self._embedder.share, self._embedder.alike)
        self._slots: dict[str, int] = {}
        self._names: list[str] = []

    def add(self, tools: Iterable[Described]) -> None:
        """Index tools whose names are new."""
        read = [texts(tool) for tool in tools]
        first = self._postings.add([self._words.of(text) for text in tool] for tool in read)
        described = [f"{tool.name}. {tool.description}" for tool in read]
        self._vectors.add(self._embedder.of(described))
        self._names += [tool.name for tool in read]
        self._slots.update({tool.name: slot for slot, tool in enumerate(read, first)})

    def remove(self, name: str) -> None:
        """Forget one tool."""
        self._postings.remove(self._slots.pop(name))
        if self._postings.slots > 2 * self._postings.count + _SPARE:
            kept = self._postings.compact()
            self._vectors.keep(kept)
            self._names = [self._names[slot] for slot in kept.tolist()]
            self._slots = {name: slot for slot, name in enumerate(self._names)}

    def search(self, query: str) -> Parts:
        """Score every tool."""
        query = query[: queries.LONGEST]
        worths = {
            word: worth
            for word, weight in self._known(query).items()
            if (worth := self._scorer.worth(word, weight)) is not None
        }
        whole = self._sum(worths.values())
        clauses = self._best_clause(query, worths)
        (vector,) = self._embedder.of([query], remember=False)
        cosines = self._vectors.near(vector)
        return self._mixed(Parts(worths, whole, clauses, cosines, whole, self._mix))

    def best(self, parts: Parts, limit: int) -> tuple[list[tuple[str, float]], int]:
        """Return the best tools with their scores, and how many match at all."""
        scores = parts.scores
        matching = np.flatnonzero(scores)
        if limit < matching.size:
            least = np.partition(scores[matching], -limit)[-limit]
            best = matching[scores[matching] >= least]
        else:
            best = matching
        order = best[np.argsort(-scores[best], kind="stable")[:limit]].tolist()
        return [(self._names[slot], float(scores[slot])) for slot in order], int(matching.size)

    def reasons(self, parts: Parts, name: str) -> tuple[Reason, ...]:
        """Return what one tool was found by, the most telling reason first."""
        return reasons(parts, self._slots[name], self._postings.alive)

    def _known(self, query: str) -> dict[str, float]:
        """Return the words of a query that tools have, with what they count."""
        found: dict[str, float] = {}
        for stem, word in self._words.unstemmed(query).items():
            if stem in self._postings:
                found[stem] = 1.0
            elif not self._embedder.knows(word):
                known = self._postings.words
                for near in self._spelling.near(stem, known, len(known), known.__contains__):
                    found.setdefault(near, NEAR_SPELLING)
        return found

    def _best_clause(self, query: str, worths: dict[str, Worth]) -> Floats | None:
        best: Floats | None = None
        parts = [self._words.unstemmed(clause) for clause in queries.clauses(query)]
        telling = [words for words in parts if len(words) >= _TELLING]
        for words in telling if len(telling) > 1 else ():
            scores = self._sum(worths[word] for word in words if word in worths)
            if highest := float(scores.max(initial=0)):
                scores /= highest
                best = scores if best is None else np.maximum(best, scores)
        return best

    def _sum(self, worths: Iterable[Worth]) -> Floats:
        total = np.zeros(self._postings.slots, np.float32)
        for worth in worths:
            total[worth.slots] += worth.scores
        return total

    def _mixed(self, parts: Parts) -> Parts:
        words = parts.whole / max(float(parts.whole.max(initial=0)), 1e-9)
        if parts.clauses is not None:
            words = (words + self._mix.clauses * parts.clauses) / (1 + self._mix.clauses)
        alive = self._postings.alive
        scores = (1 - self._mix.meaning) * words + self._mix.meaning * spread(parts.cosines, alive)
        matching = alive & ((parts.whole > 0) | (parts.cosines >= self._mix.alike))
        # Sums differ in their last bits with the order of what is added: rounding makes ties ties.
        return replace(parts, scores=np.where(matching, np.round(scores, 5), 0))
