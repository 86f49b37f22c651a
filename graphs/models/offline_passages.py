"""Tool results as passages: titles, and units of text with the headings above them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise

from graphs.models.offline_words import COMMON, sentences, stem, words

_OFTEN = 4  # times a word stands before the same other one, to be part of its name

# Where the middle of a result was left out, what follows belongs to a document unknown.
_BLOCKS = re.compile(
    r"^\s*(?:-{3,}|\[… [\d,]+ characters in all, the middle left out …\])\s*$", re.MULTILINE
)
_NO_MATCH = re.compile(r"\s*(?:no|0) (?:match|result|document|hit|passage)", re.IGNORECASE)


@dataclass(slots=True)
class Passage:
    """One document's part in a result: its title, and its units of text, each with a heading."""

    title: str
    units: list[tuple[str, str]] = field(default_factory=list)
    compounds: dict[str, str] = field(default_factory=dict)
    """Stems that, with the other, stand for another thing here: in "gift card", a gift is none."""

    @property
    def text(self) -> str:
        """The headings and sentences."""
        return "\n".join(f"{heading}. {text}" if heading else text for heading, text in self.units)

    def other_things(self, asked: AbstractSet[str]) -> set[str]:
        """Return the stems that mean another thing here than alone, which is not asked for."""
        return {word for word, behind in self.compounds.items() if behind not in asked}


def passages(result: str) -> list[Passage]:
    """Read a search result: blocks between `---` lines, led by `Title:` where there is one."""
    found: list[Passage] = []
    if _NO_MATCH.match(result):
        return found
    for block in _BLOCKS.split(result):
        title = re.search(r"^\s*Title:\s*(.+)$", block, re.MULTILINE)
        if title is None and "\nTitle:" in f"\n{result}":
            continue  # the line that counts the results
        body = re.sub(r"^\s*(?:Title|File):.*$", "", block, flags=re.MULTILINE)
        passage = Passage(title.group(1).strip() if title else "")
        passage.units = _units(body)
        if passage.units:
            found.append(passage)
    return found


def join_compounds(read: Sequence[Passage]) -> None:
    """Tell each passage the stems that one and the same other follows nearly everywhere."""
    following: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for passage in read:
        for sentence in sentences(f"{passage.title}. {passage.text}"):
            for word, behind in pairwise([*words(sentence), ""]):
                following[stem(word)][stem(behind) if behind.lower() not in COMMON else ""] += 1
    found = {}
    for word, counts in following.items():
        behind, most = counts.most_common(1)[0]
        if behind and most >= _OFTEN and most >= 0.8 * counts.total():
            found[word] = behind
    for passage in read:
        passage.compounds = found


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
