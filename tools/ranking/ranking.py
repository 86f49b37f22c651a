"""The ranking: which tools answer a query best.

A score is a convex combination of two parts, each between 0 and 1: how well the words match (the
whole query's, and the best of its clauses), and how near the meaning is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

import numpy as np

from tools.ranking import query as queries
from tools.ranking.arrays import Floats
from tools.ranking.bm25f import Scorer, Worth
from tools.ranking.embedders import default_embedder
from tools.ranking.fields import FIELDS, Described, texts
from tools.ranking.lexicon import Lexicon, Read
from tools.ranking.parts import Mix, Parts, spread
from tools.ranking.postings import Postings
from tools.ranking.reasons import Reason, reasons
from tools.ranking.spelling import Spelling
from tools.ranking.terms import Terms
from tools.ranking.vectors import Embedder, Vectors
from tools.ranking.words import stemmed, words_of

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
        self._lexicon = Lexicon()
        self._terms = Terms()
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
        tools = list(tools)
        read = self._lexicon.read(texts(tools))
        described = [f"{tool.name}. {tool.description}" for tool in tools]
        vectors = self._embedder.of(described, _described(read))
        terms, lengths = self._terms.read(read)
        first = self._postings.add(terms, lengths.reshape(-1, len(FIELDS)))
        self._vectors.add(vectors)
        self._names += [tool.name for tool in tools]
        self._slots.update({tool.name: slot for slot, tool in enumerate(tools, first)})

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
        said = stemmed(query)
        known = self._known(said)
        numbers = self._terms.numbers
        weights = {numbers[word]: weight for word, weight in known.items()}
        worths = dict(zip(known, self._scorer.worths(weights), strict=True))
        whole = self._sum(worths.values())
        clauses = self._best_clause(query, said, worths)
        (vector,) = self._embedder.of([query])
        cosines = self._vectors.near(vector)
        return self._mixed(Parts(worths, whole, clauses, cosines, whole, self._mix))

    def best(
        self, parts: Parts, limit: int, allowed: Callable[[str], bool] | None = None
    ) -> tuple[list[tuple[str, float]], int]:
        """Return the best tools with their scores, and how many match at all.

        Args:
            parts: The scores.
            limit: How many to return.
            allowed: Says by a tool's name whether it counts; None: all do.
        """
        scores = parts.scores
        best = np.flatnonzero(scores)
        if allowed is not None:
            counts = [allowed(self._names[slot]) for slot in best.tolist()]
            best = best[np.array(counts, dtype=bool)]
        matched = int(best.size)
        if limit < matched:
            matching = scores[best]
            best = best[matching >= np.partition(matching, -limit)[-limit]]
        order = best[np.argsort(-scores[best], kind="stable")[:limit]].tolist()
        return [(self._names[slot], float(scores[slot])) for slot in order], matched

    def reasons(self, parts: Parts, name: str) -> tuple[Reason, ...]:
        """Return what one tool was found by, the most telling reason first."""
        numbers = self._terms.numbers

        def shares_of(word: str, slot: int) -> list[float]:
            return self._scorer.shares(numbers[word], slot)

        return reasons(parts, self._slots[name], self._postings.alive, shares_of)

    def _known(self, said: dict[str, str]) -> dict[str, float]:
        """Return the words of a query that tools have, with what they count."""
        found: dict[str, float] = {}
        numbers = self._terms.numbers
        for word, stem in said.items():
            if stem and self._has(stem):
                found[stem] = 1.0
            elif stem and not self._embedder.knows(word):
                for near in self._spelling.near(stem, numbers, self._has):
                    found.setdefault(near, NEAR_SPELLING)
        return found

    def _has(self, word: str) -> bool:
        """Whether a tool that is there has a word."""
        return self._terms.numbers.get(word) in self._postings

    def _best_clause(
        self, query: str, said: dict[str, str], worths: dict[str, Worth]
    ) -> Floats | None:
        best: Floats | None = None
        clauses = [words_of(clause) for clause in queries.clauses(query)]
        parts = [dict.fromkeys(said[w] for w in words if said.get(w)) for words in clauses]
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
        mix = self._mix
        each = (1 - mix.meaning) / (1 + (mix.clauses if parts.clauses is not None else 0))
        scores = parts.whole * np.float32(each / max(float(parts.whole.max(initial=0)), 1e-9))
        if parts.clauses is not None:
            scores += parts.clauses * np.float32(each * mix.clauses)
        alive = self._postings.alive
        scores += spread(parts.cosines, alive) * np.float32(mix.meaning)
        # Sums differ in their last bits with the order of what is added: rounding makes ties ties.
        scores = np.round(scores, 5)
        scores *= alive & ((parts.whole > 0) | (parts.cosines >= mix.alike))
        return replace(parts, scores=scores)


def _described(read: Read) -> Read:
    """Return what names and descriptions say, of the texts of every field."""
    counts = read.counts.reshape(-1, len(FIELDS))
    said = np.zeros_like(counts, bool)
    said[:, [FIELDS.index("name"), FIELDS.index("description")]] = True
    kept = np.repeat(said.ravel(), read.counts)
    return Read(read.words, read.numbers[kept], (counts * said).sum(axis=1))
