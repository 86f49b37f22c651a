"""Answers taken from tool results: the passages that bear on a question, in their own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from graphs.models.offline_asked import Asked
from graphs.models.offline_passages import Passage, join_compounds, passages
from graphs.models.offline_words import GENERIC, stems

ENOUGH = 0.55
"""The share of a question's weight that an answer's sentences and title must carry."""

_ENOUGH_IF_TITLED = 0.35  # where the whole title is what is asked about
_LEAST_OF_REST = 0.4  # of what the title does not say
_MAX_SENTENCES = 3
_LEANS = re.compile(
    r"^(?:it|this|they|these|those|then|otherwise|each|both|after that)\b"
    r"|^(?:\w+ ){1,4}(?:it|them)\b",
    re.IGNORECASE,
)
_ALIKE = 0.06


@dataclass(frozen=True, slots=True)
class Finding:
    """What a result says to a question: the words, where they stand, how well they fit."""

    text: str
    title: str
    score: float
    covered: frozenset[str] = frozenset()


def best_answers(question: str, results: Sequence[str], context: str = "") -> list[Finding]:
    """Return the sentences of the passage that fit the question best, or [] if none fits.

    Where documents of several things of one kind fit as well, each has its say, three at most.
    """
    read = list({(p.title, p.text): p for r in results for p in passages(r)}.values())
    join_compounds(read)
    asked = Asked.read(question, read)
    if not asked.weights or not read:
        return []
    found = []
    for rank, passage in enumerate(read):
        said = _said(asked, passage)
        if said is not None:
            score = said.score - rank * 0.02 + 0.2 * _title_fit(asked, passage, stems(context))
            found.append(Finding(said.text, said.title, score, said.covered))
    found.sort(key=lambda finding: -finding.score)
    return found[:1] + [
        other
        for other in found[1:3]
        if _is_of_a_kind(found[0], other, asked) and found[0].score - other.score <= _ALIKE
    ]


def _is_of_a_kind(first: Finding, other: Finding, asked: Asked) -> bool:
    """Say whether two titles name things of the kind that the question asks about."""
    shared = stems(first.title) & stems(other.title) & asked.weights.keys()
    return first.title != other.title and bool(shared) and first.covered == other.covered


def _title_fit(asked: Asked, passage: Passage, context: set[str]) -> float:
    """Say how far title and question are about the same, 0 to 1."""
    title = stems(passage.title) - (GENERIC - asked.weights.keys())
    hit = title & asked.held(passage.title, passage)
    return _fit(asked, hit, title, title & (asked.implied | context))


def _fit(
    asked: Asked, hit: set[str], whole: set[str], also: AbstractSet[str] = frozenset()
) -> float:
    """Return the harmonic mean of how much of a title is asked, and how much of what is asked."""
    hit = hit & whole
    precision = len(hit | also) / len(whole) if whole else 0.0
    recall = asked.weight(hit)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _said(asked: Asked, passage: Passage) -> Finding | None:
    """Choose the passage's sentences; None where they say too little of what is asked."""
    if asked.names_missing(passage):
        return None
    titled = asked.held(passage.title, passage)
    rest = asked.weights.keys() - titled - GENERIC
    if not rest and titled - GENERIC and not asked.insists():
        picked, own = _first(passage), titled
    else:
        picked, own = _choose(asked, passage, titled)
    if not picked:
        return None
    if rest and not own & rest and not asked.insists():  # only the title is to the point
        picked = _first(passage)
    chosen = [passage.units[position] for position in picked]
    text = " ".join(sentence for _, sentence in chosen)
    coverage = asked.weight(titled | own)
    subject = asked.subject()
    if subject and not subject & (titled | own):
        return None
    whole = asked.weight(set(rest))
    title = stems(passage.title) - GENERIC
    enough = _ENOUGH_IF_TITLED if title and title <= titled else ENOUGH
    lacks_rest = whole and asked.weight(own & rest) < _LEAST_OF_REST * whole
    if coverage < enough or (lacks_rest and enough == ENOUGH):
        return None
    if asked.insists() and not asked.wanted(text):
        return None
    fit = _title_fit(asked, passage, set())
    wants = 0.15 if asked.wanted(text) else 0.0
    headed = max(_fit(asked, asked.held(h, passage), stems(h) - GENERIC) for h, _ in chosen)
    return Finding(
        text, passage.title, coverage + 0.4 * fit + 0.2 * headed + wants, frozenset(titled | own)
    )


def _first(passage: Passage) -> list[int]:
    """Return the sentences that open the passage: what it is about."""
    return _whole(passage, list(range(min(2, len(passage.units)))))


def _choose(asked: Asked, passage: Passage, titled: set[str]) -> tuple[list[int], set[str]]:
    """Return the sentences that say the most of what the title does not.

    Also what the best of them covers: scattered words of several sentences answer nothing.
    """
    scored: list[tuple[float, int, set[str]]] = []
    for position, (heading, text) in enumerate(passage.units):
        own = asked.held(text, passage)
        above = asked.held(heading, passage) - own
        polarity = asked.polarity(f"{heading} {text}")
        new, again = own - titled, own & titled
        score = asked.weight(new) + 0.25 * asked.weight(again) + 0.7 * asked.weight(above - titled)
        score += 0.25 if asked.timed(text) else 0.0
        if own or above or asked.timed(text):
            score += 0.25 if asked.wanted(text) else 0.0
            score += (0.05 if position == 0 else 0.0) + polarity
            scored.append((score, position, own | above))
    if not scored:
        return [], set()
    scored.sort(key=lambda item: (-item[0], item[1]))
    top, position, covered = scored[0]
    picked, covered = [position], set(covered)
    for score, other, more in scored[1:]:
        adds = asked.weight(more - covered - titled)
        if len(picked) < _MAX_SENTENCES and (score >= 0.85 * top or adds > 0.15 * top + 0.05):
            picked.append(other)
            covered |= more
    return _whole(passage, sorted(picked)), scored[0][2]


def _whole(passage: Passage, picked: list[int]) -> list[int]:
    """Add what the sentences lean on: the one before "it", the items of a list that one leads."""
    chosen = set(picked)
    for position in picked:
        heading, text = passage.units[position]
        before = passage.units[position - 1] if position else ("", "")
        if _LEANS.search(text) and before[0] == heading and before[1].endswith((".", "?", "!")):
            chosen.add(position - 1)
    heading, last = passage.units[max(chosen)]
    if last.endswith(":"):
        following = range(max(chosen) + 1, min(max(chosen) + 6, len(passage.units)))
        chosen.update(i for i in following if passage.units[i][0] == heading)
    return sorted(chosen)
