"""Arithmetic on what was found: two things are looked up, and their numbers are compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from graphs.models.offline_words import COMMON, sentences, stem, stems

_BETWEEN = re.compile(
    r"^(?:what is|what's|what are|tell me|find|calculate)?\s*(?:the )?difference (?:in [\w ]+? )?"
    r"between (.+?) and (.+)$",
    re.IGNORECASE,
)
_THAN = re.compile(
    r"^how (?:much|many \w+) (more|less|fewer|longer|shorter) (do|does|did|will) (.+?) than (.+)$",
    re.IGNORECASE,
)
_TOGETHER = re.compile(
    r"^how (?:much|many \w+) (do|does|did|will) (.+?) and (.+?) "
    r"((?:cost|take|last|hold|weigh)\b.*?)(?: together| in total| altogether)$",
    re.IGNORECASE,
)
_VERB = re.compile(r"\s(costs?|lasts?|takes?|holds?|weighs?|charges?|runs?)\b(.*)$", re.IGNORECASE)
_NUMBER = re.compile(r"([$€£]?)(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?![\w%])\s*([^\W\d_]*)")
_YEAR_DIGITS = 4
_QUANTITIES = frozenset(
    map(
        stem,
        """
        age amount capacity cost date depth distance duration fee height length life limit number
        period population price rate size speed storage time total warranty weight width year
        """.split(),  # noqa: SIM905 - a list of them would be a page
    )
)

Sign = Literal["-", "+"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two questions, and what is done with the numbers that answer them.

    Attributes:
        first: The first question.
        second: The second one.
        sign: Whether the numbers are added, or the second is taken from the first.
        ordered: Whether the first one comes first; else the smaller is taken from the larger.
    """

    first: str
    second: str
    sign: Sign
    ordered: bool


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit: a currency sign, a noun's stem, "year" for a date, or nothing.

    `word` is the unit as it is written.
    """

    value: str
    unit: str
    word: str = ""


def comparison_in(text: str) -> Comparison | None:
    """Read a question that compares two things or adds them up; None where it does not.

    "the difference between A and B", "how much more does A cost than B", "how much do A and B cost
    together".
    """
    text = text.strip().rstrip("?!. ")
    if found := _TOGETHER.match(text):
        aux, first, second, verb = found.groups()
        ask = f"How much {aux}"
        return Comparison(f"{ask} {first} {verb}?", f"{ask} {second} {verb}?", "+", ordered=True)
    if found := _BETWEEN.match(text):
        first, second = found.groups()
        if not (stems(first) & _QUANTITIES and stems(second) & _QUANTITIES):
            return None  # two things, but no number of either is asked for
        return Comparison(f"What is {first}?", f"What is {second}?", "-", ordered=False)
    found = _THAN.match(text)
    verb_in = _VERB.search(f" {found.group(3)}") if found else None
    if found is None or verb_in is None:
        return None
    word, aux, first, second = found.groups()
    how = "How long" if word.lower() in {"longer", "shorter"} else "How much"
    less = word.lower() in {"less", "fewer", "shorter"}
    asked = [f"{how} {aux} {first}?", f"{how} {aux} {second} {verb_in.group(1)}{verb_in.group(2)}?"]
    one, other = reversed(asked) if less else asked
    return Comparison(one, other, "-", ordered=True)


def numbers_for(
    comparison: Comparison, first: str, second: str
) -> tuple[Quantity, Quantity] | None:
    """Find the two numbers, of one unit, in the answers to the two questions; None if they lack.

    The number counts whose sentence has the most of the question's words, and among those the one
    right behind a word that only this question has: "Plus $240, Business $600".
    """
    ours, theirs = stems(comparison.first), stems(comparison.second)
    one = _ranked(first, ours, ours - theirs)
    other = _ranked(second, theirs, theirs - ours)
    for quantity in one:
        for match in other:
            if quantity.unit == match.unit:
                return quantity, match
    return None


def expression_of(comparison: Comparison, one: Quantity, other: Quantity) -> str:
    """Write the sum for a calculator."""
    swap = not comparison.ordered and float(one.value) < float(other.value)
    left, right = (other, one) if swap else (one, other)
    return f"{left.value} {comparison.sign} {right.value}"


def told(result: str, like: Quantity) -> str:
    """Tell a result with the unit of a quantity."""
    number = result.rstrip(".")
    if like.unit in {"$", "€", "£"}:
        return f"{like.unit}{number}"
    return f"{number} {like.word}".rstrip()


def _ranked(text: str, asked: set[str], own: set[str]) -> list[Quantity]:
    """List the numbers of an answer, the best first."""
    ranked: list[tuple[int, int, Quantity]] = []
    for sentence in sentences(text):
        held = len(stems(sentence) & asked)
        behind = 0
        for found in _NUMBER.finditer(sentence):
            before = sentence[behind : found.start()]
            near = int(bool(stems(before) & own))
            behind = found.end(2)
            ranked.append((held, near, _quantity(*found.groups())))
    ranked.sort(key=lambda item: (-item[0], -item[1]))
    return [quantity for _, _, quantity in ranked]


def _quantity(sign: str, number: str, word: str) -> Quantity:
    value = number.replace(",", "")
    if sign:
        return Quantity(value, sign)
    if len(value) == _YEAR_DIGITS and value[:2] in {"17", "18", "19", "20"}:
        return Quantity(value, "year", "years")
    if word and word.lower() not in COMMON:
        return Quantity(value, stem(word), word)
    return Quantity(value, "")
