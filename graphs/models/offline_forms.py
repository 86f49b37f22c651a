"""Sums as people word them, each with the calculator's notation for it."""

from __future__ import annotations

import re

_DIGITS = r"(\d+(?:,\d{3})*(?:\.\d+)?)(?![\d%]|,\d|\.\d|\s%|\s?percent)"
_NUMBER = r"[$€£]?\s?" + _DIGITS
_PERCENT = r"(\d+(?:\.\d+)?)\s?(?:%|percent\b|per cent\b)"
_PRICE = r"[$€£]\s?" + _DIGITS
_THING = r"[a-z-]+(?: [a-z-]+)?"
_A = r"(?:an? |the |my |this |your |our )*"
_EXTRA = (
    r"(?:tip|tax|sales tax|vat|fee|service charge|surcharge|commission|interest|markup|gratuity)"
)
_REDUCED_BY = r"(?:with|at|after|less|minus|reduced by|decreased by|lowered by)(?: an?)?"
_RAISED_BY = r"(?:plus|with|and|increased by|raised by)(?: an?)?"
_ALL_IN = r"\b(?:total|altogether|in all|after|including|pay|final|end up)\b"

_FORMS: tuple[tuple[str, str], ...] = (
    # 20% off a $50 order, 20% less than 50
    (rf"{_PERCENT} (?:off|less than) (?:of )?{_A}{_NUMBER}", "{1} - {0}% * {1}"),
    (rf"{_PERCENT} more than {_A}{_NUMBER}", "{1} + {0}% * {1}"),
    (rf"\badd {_PERCENT} to {_A}{_NUMBER}", "{1} + {0}% * {1}"),
    (rf"\b(?:take|subtract|deduct) {_PERCENT} from {_A}{_NUMBER}", "{1} - {0}% * {1}"),
    # 18% of a $250 order, a 15% tip on $64.20
    (rf"{_PERCENT} of {_A}{_NUMBER}", "{0}% * {1}"),
    (rf"{_PERCENT} (?:{_EXTRA}|discount) (?:on|of|for|from) {_A}{_NUMBER}", "{0}% * {1}"),
    # $50 with 20% off, 50 minus 20%
    (
        rf"{_NUMBER}[^.?!\d%]{{0,30}}?{_REDUCED_BY} {_PERCENT}(?: off| discount)(?![\w%])",
        "{0} - {1}% * {0}",
    ),
    (
        rf"{_NUMBER}[^.?!\d%]{{0,30}}?(?:less|minus|reduced by) {_PERCENT}(?! of|\w|\s?{_EXTRA})",
        "{0} - {1}% * {0}",
    ),
    # $50 plus 10%, $64.20 with a 15% tip
    (rf"{_NUMBER}[^.?!\d%]{{0,30}}?{_RAISED_BY} {_PERCENT} {_EXTRA}", "{0} + {1}% * {0}"),
    (rf"{_NUMBER} (?:plus|increased by|raised by) {_PERCENT}(?! ?\w)", "{0} + {1}% * {0}"),
    # three Plus plans for a year at $240 each
    (r"(\d+) [a-z][^.?!;\d$€£]{0,60}? (?:at|for) " + _PRICE + r" (?:each|apiece)\b", "{0} * {1}"),
    # 3 months at $12 a month: the price must be for one of what is counted
    (
        rf"(\d+) (?:{_THING} )?([a-z]+?)s?,? (?:at|for) {_PRICE} (?:a|an|per|every|each) \2\b",
        "{0} * {2}",
    ),
    (rf"(\d+) {_THING},? at {_PRICE}(?!\.?\d| ?(?:a|an|per|every|each)\b)", "{0} * {1}"),
    (rf"square root of {_NUMBER}", "sqrt({0})"),
    (rf"\bmultiply {_NUMBER} (?:by|and|with) {_NUMBER}", "{0} * {1}"),
    (rf"\bdivide {_NUMBER} by {_NUMBER}", "{0} / {1}"),
    (rf"\badd {_NUMBER} (?:to|and) {_NUMBER}", "{0} + {1}"),
    (rf"\bsubtract {_NUMBER} from {_NUMBER}", "{1} - {0}"),
)
_SERIES: tuple[tuple[str, str], ...] = (
    (r"\bsum of ((?:[$€£]?\d[\d,.]*\d?[,\s]*(?:and )?)+)", "{0}"),
    (r"\b(?:average|mean) of ((?:[$€£]?\d[\d,.]*\d?[,\s]*(?:and )?)+)", "({0}) / {1}"),
)
_TIP_ON = re.compile(
    rf"{_PERCENT} ({_EXTRA}|discount) (?:on|of|for|from) {_A}{_NUMBER}", re.IGNORECASE
)


def worded(text: str) -> str:
    """Put the calculator's notation in the place of the first worded sum; text without one stays.

    The sum is put in parentheses: what is said before and behind it may go on with it.
    """
    for pattern, form in _SERIES:
        if found := re.search(pattern, text, re.IGNORECASE):
            numbers = re.findall(r"\d[\d,]*(?:\.\d+)?", re.sub(r",(?=\s)", " ", found.group(1)))
            if len(numbers) > 1:
                made = form.format(" + ".join(map(plain, numbers)), len(numbers))
                return _put(text, found, made)
    # "the total with a 15% tip on $64.20" asks for both, "a 15% tip on $64.20" for the tip
    if (found := _TIP_ON.search(text)) and re.search(_ALL_IN, text, re.IGNORECASE):
        percent, kind, amount = found.groups()
        sign = "-" if kind.lower() == "discount" else "+"
        return _put(text, found, f"{plain(amount)} {sign} {percent}% * {plain(amount)}")
    for pattern, form in _FORMS:
        if found := re.search(pattern, text, re.IGNORECASE):
            return _put(text, found, form.format(*map(plain, found.groups(default=""))))
    return text


def _put(text: str, found: re.Match[str], made: str) -> str:
    return f"{text[: found.start()]} ({made}) {text[found.end() :]}"


def plain(number: str) -> str:
    """Drop currency signs and thousands separators, which a calculator does not read."""
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", re.sub(r"[$€£]\s?", "", number)).strip()
