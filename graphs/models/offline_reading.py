"""Answers taken from tool results: the passages that bear on a question, in their own words."""

from __future__ import annotations

import calendar
import re
from collections import Counter
from dataclasses import dataclass, field
from math import log

from graphs.models.offline_words import COMMON, proper_names, sentences, stems

ENOUGH = 0.5
"""The share of a question's weight that an answer's sentences and title must carry."""

_MAX_SENTENCES = 3
_NO_MATCH = re.compile(r"\s*(?:no|0) (?:match|result|document|hit|passage)", re.IGNORECASE)
_CALENDAR = frozenset([*calendar.month_name, *calendar.day_name])
_NAME = re.compile(r"\b[A-Z][\w-]*(?:[ ][A-Z][\w-]*)*")
_AMOUNT = re.compile(r"[$€£]\s?\d|\d\s?(?:%|dollars|euros)|\bfree\b", re.IGNORECASE)
_SPAN = re.compile(
    r"\d[\d.,-]*\+?[\s-]+(?:business )?(?:second|minute|hour|day|week|month|year)"
    r"|\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_WANTS = (
    (re.compile(r"\bhow much\b|\bprice|\bcosts?\b|\bfees?\b", re.IGNORECASE), _AMOUNT),
    (re.compile(r"\bhow long\b|\bwhen\b|\bhow many (?:days|months|years)", re.IGNORECASE), _SPAN),
)


@dataclass(slots=True)
class Passage:
    """One document's part in a result: its title, and its units of text, each with a heading."""

    title: str
    units: list[tuple[str, str]] = field(default_factory=list)


def passages(result: str) -> list[Passage]:
    """Read a search result: blocks between `---` lines, led by `Title:` where there is one."""
    found: list[Passage] = []
    if _NO_MATCH.match(result):
        return found
    for block in re.split(r"^\s*-{3,}\s*$", result, flags=re.MULTILINE):
        title = re.search(r"^\s*Title:\s*(.+)$", block, re.MULTILINE)
        if title is None and "\nTitle:" in f"\n{result}":
            continue  # the line that counts the results
        body = re.sub(r"^\s*(?:Title|File):.*$", "", block, flags=re.MULTILINE)
        passage = Passage(title.group(1).strip() if title else "")
        passage.units = _units(body)
        if passage.units:
            found.append(passage)
    return found


def _units(body: str) -> list[tuple[str, str]]:
    """Split a text into sentences, list items and table rows, each with the heading above it."""
    units: list[tuple[str, str]] = []
    heading, paragraph = "", ""
    header: list[str] = []
    for line in [*body.splitlines(), ""]:
        text = line.strip()
        is_item = re.match(r"(?:[-*+]|\d+[.)])\s+", text)
        is_apart = line.startswith("    ") and not is_item  # such as a formula
        if not text or text.startswith(("#", "|")) or is_item or is_apart:
            units.extend((heading, sentence) for sentence in sentences(paragraph))
            paragraph = ""
        if text.startswith("#"):
            heading = text.lstrip("# ").strip()
        elif text.startswith("|"):
            cells = [cell.strip() for cell in text.strip("|").split("|")]
            if not header:
                header = cells
            elif not all(set(cell) <= set("-: ") for cell in cells):
                units.append((heading, _row(header, cells)))
            continue
        elif is_item:
            paragraph = text[is_item.end() :] if is_item.group()[0] in "-*+" else text
        elif is_apart and text:
            units.append((heading, text))
        elif text:
            paragraph = f"{paragraph} {text}".strip()
        header = []
    return units


def _row(header: list[str], cells: list[str]) -> str:
    values = [
        f"{name} {cell}".strip() if name else cell
        for name, cell in zip(header[1:], cells[1:], strict=False)
        if cell
    ]
    return f"{cells[0]}: {', '.join(values)}."


@dataclass(frozen=True, slots=True)
class Finding:
    """What a result says to a question: the words, where they stand, how much they cover."""

    text: str
    title: str
    coverage: float


def best_answer(question: str, results: list[str]) -> Finding | None:
    """Return the sentences of one passage that cover the question best; None if too little does."""
    asked = stems(question)
    read = [passage for result in results for passage in passages(result)]
    if not asked or not read:
        return None
    weights = _weights(asked, read)
    total = sum(weights.values()) or 1.0
    best: Finding | None = None
    best_score = 0.0
    for rank, passage in enumerate(read):
        chosen, covered = _choose(question, weights, passage)
        coverage = sum(weights[word] for word in covered) / total
        score = coverage + _wanted(question, " ".join(chosen)) * 0.15 - rank * 0.02
        if chosen and coverage >= ENOUGH and score > best_score:
            best, best_score = Finding(" ".join(chosen), passage.title, coverage), score
    return best


def _weights(asked: set[str], read: list[Passage]) -> dict[str, float]:
    """Weigh a word by how few passages have it; one that none has weighs as an average one."""
    texts = [stems(p.title + " " + " ".join(f"{h} {u}" for h, u in p.units)) for p in read]
    known = Counter(word for text in texts for word in text if word in asked)
    weights = {word: log(1 + (len(read) + 1) / (known[word] + 0.5)) for word in known}
    average = sum(weights.values()) / len(weights) if weights else 1.0
    return {word: weights.get(word, average) for word in asked}


def _wanted(question: str, text: str) -> float:
    """Say whether the text has the amount or the time that the question asks for."""
    kinds = [answer for asks, answer in _WANTS if asks.search(question)]
    return 1.0 if kinds and any(kind.search(text) for kind in kinds) else 0.0


def _choose(
    question: str, weights: dict[str, float], passage: Passage
) -> tuple[list[str], set[str]]:
    titled = stems(passage.title) & weights.keys()
    scored = []
    for position, (heading, text) in enumerate(passage.units):
        own = stems(text) & weights.keys()
        above = (stems(heading) & weights.keys()) - own
        score = sum(weights[word] for word in own) + 0.6 * sum(weights[word] for word in above)
        if own or above:
            score += _wanted(question, text) * 1.2 + (0.4 if position == 0 else 0.0)
            scored.append((score, position, own | above))
    if not scored:
        return [], set()
    scored.sort(key=lambda item: (-item[0], item[1]))
    top = scored[0][0]
    picked = [item for item in scored[:_MAX_SENTENCES] if item[0] >= 0.6 * top]
    covered = titled.union(*(item[2] for item in picked))
    positions = sorted(item[1] for item in picked)
    if passage.units[positions[-1]][1].endswith(":"):  # it leads a list
        heading = passage.units[positions[-1]][0]
        rest = range(positions[-1] + 1, min(positions[-1] + 6, len(passage.units)))
        positions += [i for i in rest if passage.units[i][0] == heading]
    elif len(positions) == 1 and positions[0] == 0 and len(passage.units) > 1:
        positions.append(1)
    return [passage.units[position][1] for position in positions], covered


def entity_for(relation: str, results: list[str], known: str) -> tuple[str, str] | None:
    """Find the name that a relation points to, and the sentence that says so.

    `relation` is such as "acquired Acme": the sentence must hold all its words, and a proper name,
    of one or more words, that shares none with the relation or the question (`known`).
    """
    wanted = stems(relation)
    taken = {name.lower() for name in (*proper_names(f"x {relation}"), *proper_names(f"x {known}"))}
    units = [text for result in results for p in passages(result) for _, text in p.units]
    for text in units:
        if not wanted <= stems(text):
            continue
        for found in _NAME.finditer(text):
            name = [word for word in found.group().split() if word.lower() not in COMMON]
            is_new = taken.isdisjoint(word.lower() for word in name)
            if name and is_new and not _CALENDAR.issuperset(name):
                return " ".join(name), text
    return None
