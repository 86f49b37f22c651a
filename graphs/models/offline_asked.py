"""What a question asks for: its words by weight, its names, the kind of answer it wants."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log

from graphs.models.offline_passages import Passage
from graphs.models.offline_places import places_in, places_meant
from graphs.models.offline_words import COMMON, GENERIC, sentences, stem, stems

_AMOUNT = re.compile(
    r"[$€£]\s?\d|\d\s?(?:%|dollars|euros)|\bfree\b|\bno fees?\b"
    r"|\b(?:price|cost|fee)s?\b.*\d",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"\d[\d.,-]*\+?[\s-]+(?:business )?(?:second|minute|hour|day|week|month|year)"
    r"|\b(?:19|20)\d\d\b|\b(?:within an?|next) (?:\w+ )?(?:minute|hour|day|week|month|year)"
    r"|\bat any time\b|\bat once\b|\bnever\b|\buntil\b|\d [ap]\.m",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|no|any)\b")
_MONEY = r"(?:\bhow much (?:is|are|does|do|would|will|for|to|money)\b|\bprices?\b|\bpric|\bcosts?\b"
_WANTS = (  # how it is asked, what the answer has, the words it stands for
    (re.compile(_MONEY + r"|\bfees?\b)", re.IGNORECASE), _AMOUNT, frozenset({stem("price")})),
    (
        re.compile(r"\bhow (?:long|soon|fast|quickly)\b", re.IGNORECASE),
        _SPAN,
        frozenset({stem("time")}),
    ),
    (re.compile(r"\bwhen\b", re.IGNORECASE), _SPAN, frozenset({stem("time")})),
    (re.compile(r"\bhow (?:many|much)\b", re.IGNORECASE), _NUMBER, frozenset[str]()),
)
_NOT = re.compile(r"\bnot\b|n['\u2019]t\b|\bexclu|\bnever\b", re.IGNORECASE)
_TAKES = re.compile(r"\bhow long\b.*\btakes?\b|\bwhen\b.*\b(?:get|arrives?|come)\b", re.IGNORECASE)
_TAKING = re.compile(r"\btakes? (?:up to |about |at most )?\d", re.IGNORECASE)
_STRICT = re.compile(
    r"^\W*(?:(?:and|so|hi|hello|ok),? )*(?:how (?:much|many|long)\b|what (?:is|does|do|are|would)\b"
    r".*\b(?:price|cost)s?\b)",
    re.IGNORECASE,
)
_ACTION = re.compile(
    r"\b(?:can|may|could|do|should|must|to) (?:i|we|you|one)? ?(\w+)", re.IGNORECASE
)
_REFERENCE = re.compile(
    r"\b(?:described in|see|read)(?: the page)? [\"\u201c][^\"\u201d]+[\"\u201d]", re.IGNORECASE
)
_MENU = re.compile(r"(?:\b[A-Z][\w-]* > )+[\w-]+(?: \w+)?")
_GENERIC, _DIGITS, _NAMED, _IN_TITLE = 0.3, 0.3, 1.5, 1.3


@dataclass(slots=True)
class Asked:
    """A question, read against the passages that may answer it."""

    question: str
    weights: dict[str, float] = field(default_factory=dict)
    """The stems that carry meaning; the rarer among the passages, the heavier."""
    names: list[tuple[str, str]] = field(default_factory=list)
    """Proper names and codes, each with the lower-case word behind it, or ""."""
    implied: frozenset[str] = frozenset()
    """Stems that the way of asking stands for: "how much" means a price."""
    places: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, question: str, read: Sequence[Passage]) -> Asked:
        """Weigh the question's words by how few passages have them."""
        found = cls(question, names=_names(question), places=places_in(question))
        asked = stems(question)
        texts = [stems(f"{p.title} {p.text}") - p.other_things(asked) for p in read]
        titled = set[str]().union(*(stems(p.title) for p in read))
        known = Counter(word for text in texts for word in text)
        named = {word for name, _ in found.names for word in stems(name)}
        for word in asked:
            weight = log(1 + (len(read) + 1) / (known[word] + 0.5 + (known[word] == 0)))
            if word in named:
                weight *= _NAMED
            elif word in GENERIC:
                weight *= _GENERIC
            elif word.isdigit():
                weight *= _DIGITS
            elif word in titled:
                weight *= _IN_TITLE
            found.weights[word] = weight
        kinds = [words for asks, _, words in _WANTS if asks.search(question)]
        found.implied = frozenset().union(*kinds[:1])
        return found

    def weight(self, found: set[str]) -> float:
        """Return the share of the question's weight that these stems carry, 0 to 1."""
        total = sum(self.weights.values())
        return sum(self.weights.get(word, 0.0) for word in found) / total if total else 0.0

    def held(self, text: str, passage: Passage) -> set[str]:
        """Return the stems of the question that a text holds, or means by a wider word."""
        found = stems(_REFERENCE.sub("", text)) - passage.other_things(self.weights.keys())
        if self.places:
            meant = places_meant(text, self.places, places_in(passage.text))
            found |= {stem(place) for place in meant}
        return found & self.weights.keys()

    def wanted(self, text: str) -> bool:
        """Say whether the text has the amount, the time or the number that is asked for."""
        kinds = [answer for asks, answer, _ in _WANTS if asks.search(self.question)]
        return bool(kinds) and kinds[0].search(text) is not None

    def polarity(self, text: str) -> float:
        """Return what a sentence loses for saying what is, where it is asked what is not."""
        return -0.4 if _NOT.search(self.question) and not _NOT.search(text) else 0.0

    def timed(self, text: str) -> bool:
        """Say whether a text tells how long something takes, where that is asked."""
        return bool(_TAKES.search(self.question) and _TAKING.search(text))

    def subject(self) -> set[str]:
        """Return the stems of what is asked about: neither general words nor the countries."""
        return self.weights.keys() - GENERIC - {stem(place) for place in self.places}

    def insists(self) -> bool:
        """Say whether an answer without the amount, time or number would be none."""
        return _STRICT.search(self.question) is not None

    def names_missing(self, passage: Passage) -> bool:
        """Say whether the passage lacks a name of the question; it must not answer then."""
        text = f"{passage.title}. {passage.text}"
        plain = _MENU.sub("", text)
        held = stems(text)
        for name, behind in self.names:
            named, place = places_in(text), {name} & self.places
            if place and any(places_meant(unit, place, named) for _, unit in passage.units):
                continue
            if behind:  # "the Team plan": no team, and no menu of this name
                as_name = re.search(rf"(?<![.!?] )(?<!^)\b{re.escape(name)}\b", plain)
                pair = stems(f"{name} {behind}") <= stems(passage.title)
                together = re.search(rf"\b{re.escape(name)}\w* {behind[:4]}", text, re.IGNORECASE)
                if not (as_name or pair or together or name in passage.title):
                    return True
            elif not stems(name) <= held:
                return True
        return False


def _names(question: str) -> list[tuple[str, str]]:
    """Return the capitalized words within the sentences, unless all of them are capitalized."""
    found = []
    for sentence in sentences(question):
        tokens = re.findall(r"[^\W_]+(?:[-'\u2019.][^\W_]+)*", sentence)
        telling = [t for t in tokens if t.lower() not in COMMON]
        capitals = [t for t in telling if t[0].isupper()]
        shouted = len(telling) > 2 and len(capitals) > 0.7 * len(telling)  # noqa: PLR2004
        for position, token in enumerate(tokens):
            is_code = re.fullmatch(r"[A-Za-z]{1,6}-?\d{2,}", token) is not None
            is_name = token[0].isupper() and position > 0 and not shouted
            if token.lower() in COMMON or not (is_code or is_name):
                continue
            behind = tokens[position + 1] if position + 1 < len(tokens) else ""
            telling_behind = behind.islower() and behind not in COMMON
            found.append((token, behind if telling_behind and not is_code else ""))
    return found
