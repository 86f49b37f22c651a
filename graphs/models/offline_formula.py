"""A formula found in a document, filled with the numbers of a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphs.models.offline_words import stem, stems, words

_FORMULA = re.compile(
    r"^\s*(?:>\s*)?([A-Za-z][\w '-]*?)\s*=\s*([^=\n]*[A-Za-z][^=\n]*)$", re.MULTILINE
)
_OPERATORS = {"\u00d7": "*", "\u00f7": "/", "\u2212": "-", "*": "*", "/": "/", "+": "+", "-": "-"}
_PARTS = re.compile(r"(\s[-+*/\u00d7\u00f7\u2212]\s|[()])")
_NUMBER = re.compile(
    r"([$€£]\s?)?(?<![\w.-])(\d[\d,]*(?:\.\d+)?)(?![\w%-]|\.\d)(\s(?:dollars|euros|pounds|USD|EUR)\b)?"
)
_OF = re.compile(r"((?:\s[a-z]+){0,2}?)\s(?:out )?of\s(?:the |my |a |its |their )*", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,;:.?!](?:\s|$)|\s(?:and|but|so|then|while|after|before)\s")
_MONEY = frozenset(map(stem, ("price", "amount", "cost", "fee", "paid", "total", "sum", "charge")))
_QUANTITY = re.compile(r"\bhow much\b|\bwhat\b|\bcalculate\b|\bcompute\b|\bamount\b", re.IGNORECASE)
_SAME = (
    (re.compile(r"\b(?:not|never)(?: yet)? used\b|n['\u2019]t used\b", re.IGNORECASE), "unused"),
    (re.compile(r"\b(days|weeks|months|hours) (?:left|remaining)\b", re.IGNORECASE), r"\1 unused"),
    (re.compile(r"\bremaining (days|weeks|months|hours)\b", re.IGNORECASE), r"unused \1"),
    (
        re.compile(
            r"\b(?:get|gets|got|given|paid|pay|receive) back\b|\bmoney back\b", re.IGNORECASE
        ),
        "refund",
    ),
)
_NEAR = 5


@dataclass(frozen=True, slots=True)
class _Given:
    """A number of the question: its value, the whole it is a part of, the stems around it."""

    value: str
    is_money: bool
    whole: str | None
    around: frozenset[str]


def filled_formula(question: str, results: list[str]) -> tuple[str, str] | None:
    """Return a formula as the document has it, and the expression with the question's numbers.

    A formula is a line `name = ...` of words, numbers and the four signs of arithmetic. A name of a
    price takes the question's only amount of money, another the only number by which all its words
    stand; in "29 of 30 days" that is 29, and 30 must be in the formula. All must be found.
    """
    for pattern, word in _SAME:
        question = pattern.sub(word, question)
    if not _QUANTITY.search(question):
        return None
    given = _given(question)
    for formula, right in _formulas(question, results):
        expression = _fill(right, given)
        if expression is not None:
            return formula, expression
    return None


def has_formula(question: str, results: list[str]) -> str | None:
    """Return the first formula for something that the question names, as the document has it."""
    return next((formula for formula, _ in _formulas(question, results)), None)


def _formulas(question: str, results: list[str]) -> Iterator[tuple[str, str]]:
    asked = stems(question)
    for result in results:
        for found in _FORMULA.finditer(result):
            name, right = found.group(1).strip(), found.group(2).strip().rstrip(".")
            if stems(name) & asked:
                yield f"{name} = {right}", right


def _fill(right: str, given: list[_Given]) -> str | None:
    parts: list[str] = []
    bound: list[_Given] = []
    for part in _PARTS.split(f" {right} "):
        text = part.strip()
        if not text:
            continue
        if text in _OPERATORS or text in "()":
            parts.append(_OPERATORS.get(text, text))
        elif re.fullmatch(r"\d+(?:\.\d+)?%?", text):
            parts.append(text)
        else:
            number = _number_for(text, given)
            if number is None:
                return None
            parts.append(number.value)
            bound.append(number)
    literals = [part for part in parts if part not in {number.value for number in bound}]
    if any(number.whole is not None and number.whole not in literals for number in bound):
        return None
    if _exceeds_its_whole(parts, bound):
        return None
    return " ".join(parts) if bound and len(parts) > 1 else None


def _exceeds_its_whole(parts: list[str], bound: list[_Given]) -> bool:
    """Say whether a count is larger than the number that the formula divides it by."""
    counts = {number.value for number in bound if not number.is_money}
    return any(
        count in counts
        and sign == "/"
        and re.fullmatch(r"[\d.]+", whole) is not None
        and float(count) > float(whole)
        for count, sign, whole in zip(parts, parts[1:], parts[2:], strict=False)
    )


def _given(question: str) -> list[_Given]:
    found: list[_Given] = []
    numbers = list(_NUMBER.finditer(question))
    position = 0
    while position < len(numbers):
        number, end, whole = numbers[position], numbers[position].end(), None
        between = ""
        if position + 1 < len(numbers) and not number.group(1):
            behind = numbers[position + 1]
            part_of = _OF.fullmatch(question[number.end() : behind.start()])
            if part_of and not behind.group(1):
                between, end, whole = part_of.group(1), behind.end(), behind.group(2)
                position += 1
        position += 1
        after = question[end : numbers[position].start() if position < len(numbers) else None]
        before = question[: number.start()]
        earlier = [other.end() for other in numbers if other.end() <= number.start()]
        before = before[max(earlier, default=0) :]
        near = [*_clauses(after)[:1], between]
        around = [w for text in near for w in words(text)[:_NEAR]]
        around += words(_clauses(before)[-1])[-_NEAR:]
        is_money = bool(number.group(1) or number.group(3))
        value = number.group(2).replace(",", "")
        found.append(_Given(value, is_money, whole, frozenset(map(stem, around))))
    return found


def _clauses(text: str) -> list[str]:
    return _CLAUSE_END.split(text)


def _number_for(name: str, given: list[_Given]) -> _Given | None:
    """Return the only number that a name can mean."""
    meant = stems(name)
    if meant & _MONEY:
        fits = [number for number in given if number.is_money]
    else:
        fits = [number for number in given if not number.is_money and meant <= number.around]
    return fits[0] if len(fits) == 1 else None
