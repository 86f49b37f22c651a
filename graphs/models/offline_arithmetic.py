"""The sum that a question asks for, as an expression for a calculator; None where it asks none."""

from __future__ import annotations

import re

_NUMBER = r"[$€£]?\s?(\d[\d,]*(?:\.\d+)?)"
_PERCENT = r"(\d+(?:\.\d+)?)\s?(?:%|percent|per cent)"
_PRICE = r"[$€£]\s?(\d[\d,]*(?:\.\d+)?)"
_THINGS = r"[a-z-]+(?: [a-z-]+)?"
_REDUCED_BY = r"(?:with|at|after|less|minus)(?: an?)?"
_WORDS = (
    (r"\bmultiplied by\b|\btimes\b|(?<=[\d)])\s*[x\u00d7]\s*(?=[\d(])", " * "),
    (r"\bdivided by\b|\u00f7", " / "),
    (r"\bplus\b|\badded to\b", " + "),
    (r"\bminus\b|\u2212|\u2013(?=\s*\d)", " - "),
    (r"\b(?:to the power of|raised to(?: the power of)?)\b", " ** "),
    (r"\bsquared\b", " ** 2"),
    (r"\bcubed\b", " ** 3"),
)
_FORMS = (
    # 18% of a $250 order
    (rf"{_PERCENT} of (?:an? |the |my |this )*{_NUMBER}", "{0}% * {1}"),
    # 20% off a $50 order
    (rf"{_PERCENT} (?:off|discount on|less than) (?:an? |the |my )*{_NUMBER}", "{1} - {0}% * {1}"),
    # $50 with 20% off, 50 minus 20%
    (
        rf"{_NUMBER}[^.?!\d]{{0,30}}?{_REDUCED_BY} {_PERCENT}(?: off| discount)?(?![\w%]| of)",
        "{0} - {1}% * {0}",
    ),
    # 3 months at $12 a month
    (rf"(\d+) {_THINGS},? (?:at|for) {_PRICE} (?:each|apiece|a|an|per)\b", "{0} * {1}"),
    (rf"(\d+) {_THINGS},? at {_PRICE}(?![\d.]*\d)", "{0} * {1}"),
    (rf"square root of {_NUMBER}", "sqrt({0})"),
    (rf"\bmultiply {_NUMBER} (?:by|and|with) {_NUMBER}", "{0} * {1}"),
    (rf"\bdivide {_NUMBER} by {_NUMBER}", "{0} / {1}"),
    (rf"\badd {_NUMBER} (?:to|and) {_NUMBER}", "{0} + {1}"),
    (rf"\bsubtract {_NUMBER} from {_NUMBER}", "{1} - {0}"),
)
_SERIES = (
    (r"\bsum of ((?:[$€£]?\d[\d,.]*\d?[,\s]*(?:and )?)+)", "{0}"),
    (r"\b(?:average|mean) of ((?:[$€£]?\d[\d,.]*\d?[,\s]*(?:and )?)+)", "({0}) / {1}"),
)
_RUN = re.compile(r"(?:sqrt|round|abs|min|max|[\d.,()+*/%$€£\s-])+(?:\*\*)?", re.IGNORECASE)
_OPERATION = re.compile(r"[\d)%]\s*(?:\*\*|//|[-+*/%])\s*[-(\d.]|(?:sqrt|round|abs|min|max)\s*\(")
_SURE = re.compile(r"[\d)%]\s*(?:[*+]|\*\*|//)\s*[-(\d.]|(?:sqrt|round|abs|min|max)\s*\(")
_FILLERS = re.compile(
    r"\b(?:what|what's|whats|is|are|how|much|many|calculate|compute|work|out|evaluate|solve|please"
    r"|the|result|value|answer|of|to|equals?|equal|tell|me|can|could|would|you|for|exact|exactly"
    r"|do|does|make|makes|give|a|an|sum|it|i|need|know|hi|hello|thanks|thank|and|then)\b",
    re.IGNORECASE,
)


def expression_in(text: str) -> str | None:
    """Return the sum asked for in a sentence, in the calculator's notation.

    Only what the sentence says: a form such as `18% of a $250 order` or `3 months at $12 a month`,
    or written operators between numbers. `-` and `/` also stand in dates, ranges and names, so they
    count only where the sentence holds nothing else.
    """
    text = text.strip().rstrip("?!=. ").replace("\u2019", "'")
    for pattern, form in _SERIES:
        if found := re.search(pattern, text, re.IGNORECASE):
            numbers = re.findall(r"\d[\d,]*(?:\.\d+)?", re.sub(r",(?=\s)", " ", found.group(1)))
            if len(numbers) > 1:
                return form.format(" + ".join(map(_plain, numbers)), len(numbers))
    for pattern, form in _FORMS:
        if found := re.search(pattern, text, re.IGNORECASE):
            rest = text[found.end() :]
            if not re.match(r"\s*(?:[-+*/\u00d7\u00f7]|times|plus|minus)\s*\d", rest):
                return form.format(*map(_plain, found.groups()))
    return _written(text)


def _written(text: str) -> str | None:
    text = re.sub(r"[$€£]\s?(?=\d)", "", text)
    for pattern, sign in _WORDS:
        text = re.sub(pattern, sign, text, flags=re.IGNORECASE)
    runs = [run.group().strip(" ,.") for run in _RUN.finditer(text)]
    runs = [run for run in runs if _OPERATION.search(run)]
    if len(runs) != 1:
        return None
    (run,) = runs
    others = _FILLERS.sub(" ", text.replace(run, " ", 1))
    if not _SURE.search(run) and re.search(r"\w", others):
        return None
    if re.fullmatch(r"(?:\d{4}-\d\d-\d\d|\d{1,2}[-/]\d{1,2}[-/]\d{2,4})", run):  # a date
        return None
    return _plain(re.sub(r"\s+", " ", run))


def _plain(number: str) -> str:
    """Drop currency signs and thousands separators, which a calculator does not read."""
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", re.sub(r"[$€£]\s?", "", number)).strip()
