"""The sum that a question asks for, as an expression for a calculator; None where it asks none."""

from __future__ import annotations

import re

from graphs.models.offline_forms import plain, worded

_COUNTS = dict(
    zip(
        [
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ],
        map(str, range(2, 13)),
        strict=True,
    )
)
_WORDS = (
    (r"(?<=[\d)])\s*\^\s*(?=[\d(])", " ** "),
    (r",?\s*\b(?:and |then )*(?=(?:plus|minus|times|(?:divid|multipli)ed by)\b)", " "),
    (r",\s*(?=[+*/\u00d7\u00f7]\s*\d)", " "),
    (r"\bmultiplied by\b|\btimes\b|(?<=[\d)])\s*[x\u00d7]\s*(?=[\d(])", " * "),
    (r"\bdivided by\b|\u00f7", " / "),
    (r"\bplus\b|\badded to\b", " + "),
    (r"\bminus\b|\u2212|\u2013(?=\s*\d)", " - "),
    (r"\b(?:to the power of|raised to(?: the power of)?)\b", " ** "),
    (r"\bsquared\b", " ** 2"),
    (r"\bcubed\b", " ** 3"),
)
_RUN = re.compile(r"(?:sqrt|round|abs|min|max|[\d.,()+*/%$€£\s-])+(?:\*\*)?", re.IGNORECASE)
_OPERATION = re.compile(r"[\d)%]\s*(?:\*\*|//|[-+*/%])\s*[-(\d.]|(?:sqrt|round|abs|min|max)\s*\(")
_SURE = re.compile(r"[\d)%]\s*(?:[*+]|\*\*|//)\s*[-(\d.]|(?:sqrt|round|abs|min|max)\s*\(")
_FILLERS = re.compile(
    r"\b(?:what|what's|whats|is|are|how|much|many|calculate|compute|work|out|evaluate|solve|please"
    r"|the|result|value|answer|of|to|equals?|equal|tell|me|can|could|would|you|for|exact|exactly|there|all|together|altogether|total|so|if"
    r"|do|does|make|makes|give|a|an|sum|it|i|need|know|hi|hello|thanks|thank|and|then)\b",
    re.IGNORECASE,
)


_BEYOND = re.compile(
    r"\bfactorials?\b|\d!|\b(?:logarithm|log|ln)(?: of|\s?\() ?\d"
    r"|\b(?:sine?|cos(?:ine)?|tan(?:gent)?)"
    r"(?: of|\s?\() ?\d|\b(?:derivative|integral|cube root|prime factors?|modulus?)\b.*\d"
    r"|\bis \d+ (?:a )?prime\b",
    re.IGNORECASE,
)


def beyond_calculator(text: str) -> bool:
    """Say whether a sentence asks for mathematics that a calculator of plain sums can't do."""
    return _BEYOND.search(text) is not None


def is_plain_sum(text: str) -> bool:
    """Say whether a text is nothing but one sum."""
    return expression_in(text) is not None and not re.search(
        r"[^\W\d_]", _FILLERS.sub(" ", re.sub(r"\b(?:percent|tip|times|plus|minus)\b", " ", text))
    )


def expression_in(text: str) -> str | None:
    """Return the sum asked for in a sentence, in the calculator's notation.

    Only what the sentence says: a form such as `18% of a $250 order` or `3 months at $12 a month`,
    with what follows it (`, plus 7`), or an expression. Minus and division, which dates and phone
    numbers have too, count only where the sentence holds nothing else.
    """
    text = text.strip().rstrip("?!=. ").replace("\u2019", "'")
    text = re.sub(
        r"\b(?:" + "|".join(_COUNTS) + r")\b",
        lambda m: _COUNTS[m.group().lower()],
        text,
        flags=re.IGNORECASE,
    )
    made = worded(text)
    if made == text:
        return _written(text)
    return _written(made, sure=True)


def _written(text: str, *, sure: bool = False) -> str | None:
    text = re.sub(r"[$€£]\s?(?=\d)", "", text)
    for pattern, sign in _WORDS:
        text = re.sub(pattern, sign, text, flags=re.IGNORECASE)
    runs = [run.group().strip(" ,.") for run in _RUN.finditer(text)]
    runs = [run for run in runs if _OPERATION.search(run)]
    if len(runs) != 1:
        return None
    (run,) = runs
    others = _FILLERS.sub(" ", text.replace(run, " ", 1))
    if re.search(r"\d" if sure else r"\w" if not _SURE.search(run) else r"[%^]", others):
        return None
    if re.fullmatch(r"(?:\d{4}-\d\d-\d\d|\d{1,2}[-/]\d{1,2}[-/]\d{2,4})", run):  # a date
        return None
    return _tidy(plain(re.sub(r"\s+", " ", run)))


def _tidy(run: str) -> str:
    """Drop parentheses that change nothing: around the whole, or around products in a sum."""
    run = re.sub(r"\(\s+", "(", re.sub(r"\s+\)", ")", run))
    if found := re.fullmatch(r"\(([^()]*|\([^()]*\) / \d+|sqrt\([^()]*\))\)", run):
        return found.group(1)
    if found := re.fullmatch(r"\((\d[\d.]*%? \* \d[\d.]*)\)((?: [-+] \d[\d.]*)+)", run):
        return found.group(1) + found.group(2)
    if found := re.fullmatch(r"(\d[\d.]*)\s?([-+])\s?(\d[\d.]*)%", run):  # 200 + 10%
        return "{0} {1} {2}% * {0}".format(*found.groups())
    return run
