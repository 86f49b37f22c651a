"""Countries, and the wider words by which a document may mean one: "Europe", "other countries"."""

from __future__ import annotations

import re

_UNION = """
    Austria Belgium Bulgaria Croatia Cyprus Czechia Denmark Estonia Finland France Germany Greece
    Hungary Ireland Italy Latvia Lithuania Luxembourg Malta Netherlands Poland Portugal Romania
    Slovakia Slovenia Spain Sweden
""".split()  # noqa: SIM905 - a list of them would be a page
_OTHERS = """
    Afghanistan Albania Algeria Argentina Armenia Australia Azerbaijan Bahrain Bangladesh Belarus
    Bolivia Brazil Cambodia Cameroon Canada Chile China Colombia Cuba Ecuador Egypt Ethiopia Georgia
    Ghana Guatemala Honduras Iceland India Indonesia Iran Iraq Israel Jamaica Japan Jordan Kenya
    Kuwait Lebanon Libya Malaysia Mexico Moldova Mongolia Morocco Nepal Nicaragua Nigeria Norway
    Oman Pakistan Panama Paraguay Peru Philippines Qatar Russia Senegal Serbia Singapore Switzerland
    Syria Taiwan Tanzania Thailand Tunisia Turkey Uganda Ukraine Uruguay Venezuela Vietnam Yemen
    Zambia Zimbabwe
""".split()  # noqa: SIM905 - a list of them would be a page
_IN_UNION = re.compile(r"\bEurope\b|\bEuropean Union\b|\bEU\b")
_ELSEWHERE = re.compile(r"\b(?:other|all|every) (?:other )?countr(?:y|ies)\b", re.IGNORECASE)


def places_in(text: str) -> set[str]:
    """Return the countries that a text names."""
    return {
        word.capitalize()
        for word in re.findall(r"\w+", text)
        if word.capitalize() in _UNION or word.capitalize() in _OTHERS
    }


def wider_words(text: str) -> str:
    """Return what else a search may look for: the region of the countries that a text names."""
    return "European Union Europe" if places_in(text) & {*_UNION} else ""


def places_meant(text: str, asked: set[str], named: set[str]) -> set[str]:
    """Return which of the countries asked for a sentence means without naming them.

    Args:
        text: The sentence.
        asked: The countries of the question.
        named: Those that the whole document names; "other countries" are not these.
    """
    meant = asked & {*_UNION} if _IN_UNION.search(text) else set()
    if _ELSEWHERE.search(text) and not re.search(r"\bEuropean Union\b", text):
        meant = meant | (asked - named - {*_UNION})
    return meant
