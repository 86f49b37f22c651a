"""Text as the index has it: identifiers split, case and accents folded, words stemmed."""

from __future__ import annotations

import functools
import re
import threading
import unicodedata
from collections.abc import Sequence
from typing import Final

import Stemmer

_CJK_CHARS: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK: Final = re.compile(f"[{_CJK_CHARS}]+")
_ASCII: Final = "[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_ASCII_PART: Final = re.compile(_ASCII)
_PART: Final = re.compile(
    f"[{_CJK_CHARS}]+|{_ASCII}|[^\\W\\d_A-Za-z{_CJK_CHARS}][^\\W\\d_{_CJK_CHARS}]*|[^\\W_]"
)
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")
LONGEST: Final = 64
"""Characters of one word; what is longer is data, and is cut."""

_STOPS: Final = """
a about after all also am an and any are as at be been being but by can could did do does done for
from get had has have having he her here him his how i if in into is it its just like ll may me
might must my need needs no not now of on or our out over please re s should so some such t than
that the their them then there these they this those to too us use used using ve very want wants
was we were what when where which while who whom whose why will with within would you your
"""
STOP_WORDS: Final = frozenset(_STOPS.split())


@functools.lru_cache(maxsize=16)  # of a query, which is looked at for its words and its meaning
def words_of(text: str) -> Sequence[str]:
    """Return the folded words of a text, unstemmed, stop words too.

    `getUserByID`, `get_user_by_id` and `get user by id` are the same words. Chinese, Japanese and
    Korean runs become pairs of characters.
    """
    if not text.isascii():
        # Accents go before the text is cut, for what has none is cut by its capitals.
        apart = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", apart))
    if text.isascii():
        return [part[:LONGEST].lower() for part in _ASCII_PART.findall(text)]
    words: list[str] = []
    for part in _PART.findall(text):
        if part.isascii():
            words.append(part[:LONGEST].lower())
        elif _CJK.fullmatch(part):
            words += (part[i : i + 2] for i in range(max(1, len(part) - 1)))
        else:
            words.append(part[:LONGEST].casefold())
    return words


class _Own(threading.local):
    """A stemmer for each thread: it must not be used by two at a time."""

    def __init__(self) -> None:
        self.stemmer = Stemmer.Stemmer("english", 0)


_own: Final = _Own()


def stems(words: Sequence[str]) -> list[str]:
    """Return the stem of each folded word, empty for a stop word."""
    kept = ["" if word in STOP_WORDS else word for word in words]
    stemmed: list[str] = _own.stemmer.stemWords(kept)
    return stemmed


def stemmed(text: str) -> dict[str, str]:
    """Return each folded word of a text with its stem, empty for a stop word."""
    words = list(dict.fromkeys(words_of(text)))
    return dict(zip(words, map(_stem, words), strict=True))


@functools.lru_cache(maxsize=8_192)  # the words of queries are few, and come again
def _stem(word: str) -> str:
    return stems([word])[0]
