"""Values in free text, found by rules: names, dates, numbers, addresses; none if unclear."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from graphs.models.offline_words import GENERIC, sentences, stems

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905 - as one reads them
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATES = (
    (re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b"), (0, 1, 2)),
    (
        re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH},? (\d{{4}})\b", re.IGNORECASE),
        (2, 1, 0),
    ),
    (
        re.compile(rf"\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b", re.IGNORECASE),
        (2, 0, 1),
    ),
)
_MONEY = re.compile(
    r"\b(?:price|cost|amount|fee|dollars?|euros?|paid|money|total)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![\w.,-])([$€£]\s?)?(-?\d{1,3}(?:,\d{3})+|-?\d+)(\.\d+)?(?![\w-]|[.,]\d)")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_NAME = r"[A-Z][\w'\u2019-]+(?: (?:[A-Z]\.|[A-Z][\w'\u2019-]+)){0,3}"
_PEOPLE = (
    re.compile(rf"\b[Mm]y name is ({_NAME})"),
    re.compile(rf"\b(?:[Tt]his is|I am|I'm|I\u2019m) ({_NAME})"),
    re.compile(
        r"(?i:regards|thanks|thank you|cheers|sincerely|best|yours)[,.!]?\s*\n+\s*"
        rf"({_NAME})\s*(?:\n|\Z)"
    ),
)
_GREETING = re.compile(r"^(?:(?:hi|hello|dear|good \w+)\b[^,.!?]{0,40}[,.!]\s*)+", re.IGNORECASE)
_NEAR = 40
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cues:
    """What tells a field apart: its name, and what is written about it."""

    name: str
    description: str

    @property
    def lead(self) -> str:
        """The first sentence of the description."""
        return next(iter(sentences(self.description)), "")

    @property
    def stems(self) -> set[str]:
        """The words of the name, which a value may stand beside."""
        return stems(self.name.replace("_", " ")) - GENERIC


def labelled(text: str, cues: Cues) -> str | None:
    """Return what stands behind the field's name and a colon, on a line of its own."""
    name = re.escape(cues.name).replace("_", r"[ _-]?")
    found = re.search(rf"^\W*{name}\s*[:=]\s*(\S.*?)\s*$", text, re.IGNORECASE | re.MULTILINE)
    return found.group(1) if found else None


def person_in(text: str) -> str | None:
    """Return who writes, as they say it or sign; None where two are named."""
    for pattern in _PEOPLE:
        found = {name.strip() for name in pattern.findall(text)}
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def address_in(text: str) -> str | None:
    """Return the one e-mail address of the text."""
    found = set(_ADDRESS.findall(text))
    return found.pop() if len(found) == 1 else None


def first_sentence(text: str) -> str | None:
    """Return the first sentence that is more than a greeting or a name."""
    plain = _GREETING.sub("", " ".join(text.split()))
    telling = (s for s in sentences(plain) if len(stems(s)) > 1 and not _is_introduction(s))
    return next(telling, None) or plain or None


def _is_introduction(sentence: str) -> bool:
    return any(pattern.fullmatch(sentence.rstrip(".!,")) for pattern in _PEOPLE)


def date_in(text: str, cues: Cues) -> str | None:
    """Return the date beside the field's words; `03/04/2025` is none, it may be two days."""
    found: dict[int, str] = {}
    for pattern, places in _DATES:
        for match in pattern.finditer(text):
            year, month, day = (match.groups()[place] for place in places)
            number = _MONTHS.index(month[:3].lower()) + 1 if month.isalpha() else int(month)
            try:
                found[match.start()] = date(int(year), number, int(day)).isoformat()
            except ValueError:
                continue
    return _beside(text, found, cues)


def number_in(text: str, cues: Cues, *, whole: bool) -> float | int | None:
    """Return the number beside the field's words, an amount of money where the field is one."""
    money = _MONEY.search(f"{cues.name.replace('_', ' ')} {cues.lead}") is not None
    found: dict[int, float | int] = {}
    for match in _NUMBER.finditer(_blanked(text)):
        sign, digits, fraction = match.groups()
        if bool(sign) != money or (whole and fraction):
            continue
        plain = digits.replace(",", "")
        found[match.start()] = float(plain + fraction) if fraction else int(plain)
    return _beside(text, found, cues)


def _blanked(text: str) -> str:
    """Blank out the dates, whose digits are no numbers."""
    for pattern, _ in _DATES:
        text = pattern.sub(lambda match: " " * len(match.group()), text)
    return text


def _beside(text: str, found: dict[int, T], cues: Cues) -> T | None:
    """Return the value nearest to a word of the field's name; None where no one value is."""
    places = [m.start() for m in re.finditer(r"\w+", text) if stems(m.group()) & cues.stems]
    near = {
        start: min((abs(start - place) for place in places), default=_NEAR + 1) for start in found
    }
    close = sorted((away, start) for start, away in near.items() if away <= _NEAR)
    values = {found[start] for away, start in close if away == close[0][0]}
    return values.pop() if len(values) == 1 else None
