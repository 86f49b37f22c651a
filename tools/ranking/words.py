"""Text as the index has it: identifiers split, case and accents folded, words stemmed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Final, TypeVar

import Stemmer

Value = TypeVar("Value")

_RUN: Final = re.compile(r"[^\W_]+")
_ASCII_RUN: Final = re.compile(r"[A-Za-z0-9]+")
_CJK_CHARS: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK: Final = re.compile(f"[{_CJK_CHARS}]+")
_PART: Final = re.compile(
    f"[{_CJK_CHARS}]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
    f"|[^\\W\\d_A-Za-z{_CJK_CHARS}][^\\W\\d_{_CJK_CHARS}]*|[^\\W_]"
)
_LONGEST: Final = 64
"""Characters of one word; what is longer is data, and is cut."""

_STOPS: Final = """
a about after all also am an and any are as at be been being but by can could did do does done for
from get had has have having he her here him his how i if in into is it its just like ll may me
might must my need needs no not now of on or our out over please re s should so some such t than
that the their them then there these they this those to too us use used using ve very want wants
was we were what when where which while who whom whose why will with within would you your
"""
STOP_WORDS: Final = frozenset(_STOPS.split())


class Remembered(dict[str, tuple[Value, ...]]):
    """What is worked out of each run of letters, once."""

    def __init__(self, work: Callable[[str], tuple[Value, ...]]) -> None:
        super().__init__()
        self._work = work

    def __missing__(self, run: str) -> tuple[Value, ...]:
        value = self[run] = self._work(run)
        return value


class Words:
    """Splits text into stemmed words, and remembers what it has split.

    `getUserByID`, `get_user_by_id` and `get user by id` are the same words. Chinese, Japanese and
    Korean runs become pairs of characters. Stop words are dropped.
    """

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english", 0)  # what is split is remembered here already
        self._known = Remembered(self._split)

    def of(self, text: str) -> list[str]:
        """Return the words of a text, in order, with repetitions."""
        return list(chain.from_iterable(map(self._known.__getitem__, runs(text))))

    def unstemmed(self, text: str) -> dict[str, str]:
        """Return the words of a text, each with what it is the stem of; remembers nothing."""
        found: dict[str, str] = {}
        for run in runs(text):
            for word in surface(run):
                if word not in STOP_WORDS:
                    found.setdefault(self.stem(word), word)
        return found

    def stem(self, word: str) -> str:
        """Return the stem of one folded word."""
        return str(self._stemmer.stemWord(word))

    def _split(self, run: str) -> tuple[str, ...]:
        return tuple(self.stem(w) for w in surface(run) if w not in STOP_WORDS)


def runs(text: str) -> list[str]:
    """Return the runs of letters and digits of a text, as they are."""
    return (_ASCII_RUN if text.isascii() else _RUN).findall(text)


def surface(run: str) -> Iterable[str]:
    """Yield the folded words of one run of letters and digits, unstemmed, stop words too."""
    if run.isascii():
        if run.isdigit() or (run.islower() and run.isalpha()):
            yield run[:_LONGEST]
            return
    else:
        run = unicodedata.normalize("NFKC", run)
    for part in _PART.findall(run):
        if _CJK.fullmatch(part):
            yield from (part[i : i + 2] for i in range(max(1, len(part) - 1)))
        else:
            yield folded(part)[:_LONGEST]


def folded(word: str) -> str:
    """Return a word in lower case without accents."""
    if word.isascii():
        return word.lower()
    apart = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in apart if not unicodedata.combining(c))
