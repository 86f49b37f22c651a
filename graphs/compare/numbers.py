"""The numbers of an answer, as people write them, and when one of them is the expected one."""

import re
from decimal import Decimal
from fractions import Fraction

_GROUP = "['\u2019\u00a0\u2009\u202f]"
"""What stands between thousands, beside a comma, a point or a blank."""

_DIGITS = (
    rf"\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|"
    rf"\d{{1,3}}(?:\.\d{{3}})+,\d+|\d{{1,3}}(?:\.\d{{3}}){{2,}}|"
    rf"\d{{1,3}}(?:{_GROUP}\d{{3}})+(?:[.,]\d+)?|"
    r"(?<!\d,)\d+,(?:\d{1,2}|\d{4,})(?!\d|,\d)|\d+(?:\.\d+)?|\.\d+"
)
_NUMBER = re.compile(
    r"(?:(?<![\w.])|(?<=\bUSD)|(?<=\bEUR)|(?<=\bGBP)|(?<=\bCHF)|(?<=\bJPY))"
    r"(?P<sign>[-\u2212](?:[$\u20ac\u00a3\u00a5]\s?)?)?"
    rf"(?P<digits>(?:{_DIGITS})(?![\d]))"
    r"(?P<power>[eE][-+]?\d{1,3}(?!\d))?"
    r"(?P<over>(?:/\d{1,15})+(?![/.]?\d))?"
    r"(?P<percent>\s?(?:%|\uff05|percent\b|per cent\b))?"
)
_SPACED = re.compile(r"(?<![\w.,])\d{1,3}(?: \d{3})+(?![\w]|[.,]\d)")
_LONGEST = 400
_HUNDRED = 100
_NOISE = Fraction(1, 10**9)


def numbers_in(text: str) -> list[Fraction]:
    """Read the numbers of a text, in order.

    * `1,200.50`, `1.200,50`, `1 200`, `1'200.50` have their thousands taken together; a comma
      before one, two or more than three digits is a decimal one: `45,5` is 45.5.
    * A currency beside a number is not part of it: `$45`, `-$45`, `EUR45`, `45.00 €`.
    * `18%` is 18 and 0.18; `1/3` is a third, and `1/3/2024` is three numbers.
    * `E-4042` holds 4042; `v1.2.3` holds none.
    """
    found: list[tuple[int, Fraction]] = []
    for match in _NUMBER.finditer(text):
        found += [(match.start(), value) for value in _values(match)]
    for match in _SPACED.finditer(text):
        if len(match.group()) <= _LONGEST:
            found.append((match.start(), Fraction(match.group().replace(" ", ""))))
    return [value for _, value in sorted(found, key=lambda one: one[0])]


def is_expected(found: Fraction, expected: Decimal) -> bool:
    """Tell whether a number that an answer holds is the expected one.

    One expected whole (`45`) must be that number, however it is written (`45.00`). One expected
    with decimals (`0.333`) is met by whatever is it when rounded to as many: `0.3333`, `1/3`. Fewer
    decimals than expected do not meet it, unless no more are needed (`0.5` for `0.50`).
    """
    exact = Fraction(expected)
    exponent = expected.as_tuple().exponent
    half = Fraction(5) * Fraction(10) ** (exponent - 1) if isinstance(exponent, int) else _NOISE
    close = _NOISE * max(Fraction(1), abs(exact))
    return abs(found - exact) <= (max(half, close) if half < Fraction(1, 2) else close)


def _values(match: re.Match[str]) -> list[Fraction]:
    """Return what a number may mean; one that is too long to be meant as one means nothing."""
    digits = match["digits"]
    if len(digits) > _LONGEST:
        return []
    value = Fraction(f"{_plain(digits)}{match['power'] or ''}")
    below = [int(part) for part in (match["over"] or "").split("/")[1:]]
    if len(below) > 1:  # a date
        return [value, *map(Fraction, below)]
    if below:
        value = value / below[0] if below[0] else value
    value = -value if match["sign"] else value
    return [value, value / _HUNDRED] if match["percent"] else [value]


def _plain(digits: str) -> str:
    """Write the digits of a number with a point alone."""
    digits = re.sub(_GROUP, "", digits)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        return digits.replace(",", "")
    if "," in digits:
        return digits.replace(".", "").replace(",", ".")
    return digits.replace(".", "") if digits.count(".") > 1 else digits
