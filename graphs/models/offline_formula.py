"""A formula found in a document, filled with the numbers of a question."""

from __future__ import annotations

import re

from graphs.models.offline_words import stem, stems, words

_FORMULA = re.compile(
    r"^\s*(?:>\s*)?([A-Za-z][\w '-]*?)\s*=\s*([^=\n]*[A-Za-z][^=\n]*)$", re.MULTILINE
)
_OPERATORS = {"\u00d7": "*", "\u00f7": "/", "\u2212": "-", "*": "*", "/": "/", "+": "+", "-": "-"}
_PARTS = re.compile(r"(\s[-+*/\u00d7\u00f7\u2212]\s|[()])")
_NUMBER = re.compile(r"([$€£]\s?)?(\d[\d,]*(?:\.\d+)?)(?!\S*\d)")
_MONEY = frozenset(map(stem, ("price", "amount", "cost", "fee", "paid", "total", "sum", "charge")))
_NEAR = 4


def filled_formula(question: str, results: list[str]) -> tuple[str, str] | None:
    """Return a formula as the document has it, and the expression with the question's numbers.

    A formula is a line `name = ...` of words, numbers and the four signs of arithmetic. A name of a
    price takes the question's only amount of money, another the number that stands by its words;
    all must be found.
    """
    asked = stems(question)
    for result in results:
        for found in _FORMULA.finditer(result):
            name, right = found.group(1), found.group(2).strip().rstrip(".")
            if not stems(name) & asked:
                continue
            expression = _fill(right, question)
            if expression is not None:
                return f"{name.strip()} = {right}", expression
    return None


def _fill(right: str, question: str) -> str | None:
    parts: list[str] = []
    bound = False
    for part in _PARTS.split(f" {right} "):
        text = part.strip()
        if not text:
            continue
        if text in _OPERATORS or text in "()":
            parts.append(_OPERATORS.get(text, text))
        elif re.fullmatch(r"\d+(?:\.\d+)?%?", text):
            parts.append(text)
        else:
            number = _number_for(text, question)
            if number is None:
                return None
            parts.append(number)
            bound = True
    return " ".join(parts) if bound and len(parts) > 1 else None


def _number_for(name: str, question: str) -> str | None:
    meant = stems(name)
    amounts, near = [], []
    for number in _NUMBER.finditer(question):
        value = number.group(2).replace(",", "")
        if number.group(1):
            amounts.append(value)
            continue
        behind = question[number.end() :]
        before = words(question[: number.start()])[-_NEAR:]
        around = [*words(behind)[:_NEAR], *before]
        shared = meant & {stem(word) for word in around}
        if shared:
            near.append((-len(shared), value))
    if meant & _MONEY:
        return amounts[0] if len(amounts) == 1 else None
    near.sort()
    if not near or (len(near) > 1 and near[0][0] == near[1][0]):
        return None
    return near[0][1]
