"""Words for the rule-based model: stems without the common ones, and sentences."""

from __future__ import annotations

import re

_WORD = re.compile(r"\d+/\d+|[^\W_]+(?:[-'\u2019.][^\W_]+)*")
_CODE = re.compile(r"([A-Za-z]{1,6})[-\u2010\u2011]?(\d{2,})")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"\u201d')]*\s+(?=[\"\u201c(]?[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|mr|mrs|ms|dr|st|no|approx|[ap]\.m)\.)$", re.IGNORECASE
)
_SAME = {
    "cost": "price",
    "buy": "purchase",
    "bought": "purchase",
    "acquire": "purchase",
    "acquir": "purchase",
    "acquisition": "purchase",
    "takeover": "purchase",
    "paid": "pay",
    "sent": "send",
    "made": "make",
    "got": "get",
    "money": "refund",
    "guarantee": "warranty",
    "yearly": "year",
    "annual": "year",
    "annually": "year",
    "monthly": "month",
    "trial": "try",
    "tried": "try",
    "life": "last",
    "lifetime": "last",
    "e-mail": "email",
    "mail": "email",
    "subscription": "plan",
    "abroad": "international",
    "cancellation": "cancel",
    "cancelation": "cancel",
    "delivery": "ship",
    "deliver": "ship",
    "shipment": "ship",
    "payment": "pay",
    "bill": "invoice",
    "expiry": "expire",
    "expiration": "expire",
    "parcel": "package",
}
COMMON = frozenset(  # function words, and what questions are phrased with
    """
    a about after all also am an and any anyone are as at be been before being but by can
    could did do does doing don't each even for from get give had has have he hello help
    her hey hi him his how i i'd i'll i'm i've if in into is it it's its just know let
    like long many may me mean might more most much must my need no not of off ok on one
    only or other our out over own please say she should show so some still such take tell
    than thank thanks that that's the their them then there these they this those to too
    up us use very want was we were what what's when where which who whom whose why will
    with would yes you your
    """.split()  # noqa: SIM905 - a list of them would be a page
)


def words(text: str) -> list[str]:
    """Split a text into words as they are written: `E-4042`, `it's`, `2-year`."""
    return _WORD.findall(text)


def stem(word: str) -> str:
    """Cut the common endings, so that `refunds`, `refunded` and `refund` meet."""
    word = word.lower().replace("\u2019", "'").removesuffix("'s")
    word = _SAME.get(word, word)
    for ending, shortest in (("ies", 5), ("ing", 6), ("ed", 5), ("es", 5), ("s", 4), ("e", 4)):
        if word.endswith(ending) and len(word) >= shortest and not word.endswith("ss"):
            word = word[: -len(ending)] + ("y" if ending == "ies" else "")
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":  # noqa: PLR2004
                word = word[:-1]
            break
    return stem(_SAME[word]) if word in _SAME else word


GENERIC = frozenset(  # stems that say little about what is asked
    map(
        stem,
        """
        accept actually allow allowed apply available best company current currently customer day
        deal describe detail device different exactly explain fast folk full good guy handle happen
        help info information item kind make mean month new offer old people person policy possible
        process product provide quick quickly right rule somebody someone something soon start
        still stop take thing time today type use user using usual usually way week work year
        """.split(),  # noqa: SIM905 - a list of them would be a page
    )
)


def stems(text: str) -> set[str]:
    """Return the stems of the words that carry meaning; a compound counts by its parts too.

    A code is one word with and without its hyphen, and counts by its number too: `E-4042`.
    """
    found: set[str] = set()
    for word in words(text):
        if word.lower() in COMMON or (len(word) == 1 and word.isalpha() and word.isascii()):
            continue
        if code := _CODE.fullmatch(word):
            found.update((code.expand(r"\1\2").lower(), code.group(2)))
            continue
        found.add(stem(word))
        if "-" in word and word.lower() not in _SAME:
            found.update(stem(part) for part in word.split("-") if len(part) > 1)
    return found - COMMON


def sentences(text: str) -> list[str]:
    """Split running text into sentences, each on one line."""
    flat = " ".join(text.split())
    parts: list[str] = []
    for part in _SENTENCE_END.split(flat):
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {part}"
        elif part:
            parts.append(part)
    return parts


def proper_names(text: str) -> list[str]:
    """Return the capitalized words that do not merely start a sentence, in order, once each."""
    names: list[str] = []
    for sentence in sentences(text):
        for position, match in enumerate(_WORD.finditer(sentence)):
            word = match.group()
            starts = position == 0 and word.lower() in COMMON | {"it", "the"}
            if word[0].isupper() and not starts and word.lower() not in COMMON:
                names.append(word)
    return list(dict.fromkeys(names))
