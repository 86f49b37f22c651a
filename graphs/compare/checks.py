"""Check an answer against what is expected of it, without a model."""

import re
import unicodedata
from decimal import Decimal
from typing import NamedTuple

from graphs.compare.numbers import is_expected, numbers_in
from graphs.compare.questions import Question


class Verdict(NamedTuple):
    """Whether an answer is right, None where that could not be found out, and why."""

    correct: bool | None
    why: str


def check(question: Question, answer: str) -> Verdict:
    """Check an answer by the question's own rule; `judge` is not decided here.

    * `exact`: the same text, white space and typographic quotes aside.
    * `contains`: every expected text is in it, in any case; digits match whole numbers only, so
      that "1-year" is not in "11-year".
    * `number`: one of its numbers is the expected one, to the digits with which that is written
      (`graphs.compare.numbers` says how numbers are read).
    """
    if isinstance(question.expected, Decimal):
        return _number(question.expected, answer)
    if question.check == "exact":
        same = _plain(answer) == _plain(question.expected[0])
        return Verdict(same, "" if same else f"expected exactly {question.expected[0]!r}")
    text = _plain(answer).casefold()
    missing = [part for part in question.expected if not _holds(text, _plain(part).casefold())]
    return Verdict(not missing, f"lacks {', '.join(map(repr, missing))}" if missing else "")


def _number(expected: Decimal, answer: str) -> Verdict:
    if any(is_expected(found, expected) for found in numbers_in(answer)):
        return Verdict(correct=True, why="")
    return Verdict(correct=False, why=f"lacks the number {expected}")


def _plain(text: str) -> str:
    table = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"'})
    dashes = re.sub("[\u2010-\u2015]", "-", unicodedata.normalize("NFKC", text))
    return " ".join(dashes.translate(table).split())


def _holds(text: str, part: str) -> bool:
    before = r"(?<![\d])(?<!\d[.,])" if part[:1].isdigit() else ""
    after = r"(?![\d])(?![.,]\d)" if part[-1:].isdigit() else ""
    return re.search(before + re.escape(part) + after, text) is not None
