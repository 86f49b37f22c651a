"""Questions in two steps: a clause stands for a name that another search must find first."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphs.models.offline_passages import passages
from graphs.models.offline_words import COMMON, proper_names, stems

_CLAUSE = re.compile(
    r"\b(?:the |an? )?(?:same )?(\w+) (?:that|which|who) ([^?.!,;]+)", re.IGNORECASE
)
_CALENDAR = frozenset([*calendar.month_name, *calendar.day_name])
_NAME = re.compile(r"\b[A-Z][\w-]*(?:[ ][A-Z][\w-]*)*")
_BY = re.compile(rf"\b(\w+) by ({_NAME.pattern})")


@dataclass(frozen=True, slots=True)
class Hop:
    """A question about something that another search must name first.

    "the earbuds made by [the company that acquired Acme]": `first` asks who, `clause` is the
    bracket, `relation` is "acquired Acme".
    """

    first: str
    clause: str
    relation: str

    def resolved(self, question: str, name: str) -> str:
        """Return the question with the name in the clause's place."""
        return question.replace(self.clause, name)


def hop_in(question: str) -> Hop | None:
    """Find a clause that stands for a name: it holds a name, and is not all that is asked.

    Of clauses within clauses the innermost comes first: the others wait for its name.
    """
    for found in reversed(list(_clauses(question))):
        relation = found.group(2).strip()
        rest = question.replace(found.group(), " ")
        if proper_names(f"x {relation}") and stems(rest) - stems(found.group()):
            return Hop(f"who {relation}", found.group(), relation)
    return None


def _clauses(question: str) -> Iterator[re.Match[str]]:
    found = _CLAUSE.search(question)
    while found:
        yield found
        found = _CLAUSE.search(question, found.start(2))


def entity_for(relation: str, results: list[str], known: str) -> tuple[str, str] | None:
    """Find the name that a relation points to, and the sentence that says so.

    `relation` is such as "acquired Acme": the sentence must hold all its words, and a proper name,
    of one or more words, that shares none with the relation or the question (`known`).
    """
    wanted = stems(relation)
    taken = {name.lower() for name in (*proper_names(f"x {relation}"), *proper_names(f"x {known}"))}
    units = [text for result in results for p in passages(result) for _, text in p.units]
    held = [text for text in units if wanted <= stems(text)]
    by = [(m.group(2), text) for text in held for m in _BY.finditer(text) if stems(m[1]) & wanted]
    others = [(m.group(), text) for text in held for m in _NAME.finditer(text)]
    for named, sentence in [*by, *others]:
        name = [word for word in named.split() if word.lower() not in COMMON]
        is_new = taken.isdisjoint(word.lower() for word in name)
        if name and is_new and not _CALENDAR.issuperset(name):
            return " ".join(name), sentence
    return None
