"""Split an arithmetic expression into tokens, refusing whatever could be read in two ways."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from tools.arithmetic.exact import CalculatorError

FUNCTION_NAMES: Final = ("round", "abs", "min", "max", "sqrt")

_SHOWN: Final = 20
_FUNCTIONS: Final = ", ".join(FUNCTION_NAMES)
_TYPOGRAPHIC: Final = {
    "\N{MULTIPLICATION SIGN}": "*",
    "\N{DIVISION SIGN}": "/",
    "\N{MINUS SIGN}": "-",
}
_NUMBER: Final = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# Groups of two are the Indian way to write 1,00,000.
_GROUPED: Final = re.compile(r"[0-9]{1,3}(?:,[0-9]{2,3})*,[0-9]{3}(?![0-9])")
_OPERATOR: Final = re.compile(rf"\*\*|//|[-+*/(),{''.join(_TYPOGRAPHIC)}]")
_NUMBER_START: Final = re.compile(rf"[0-9.(]|(?i:{'|'.join(FUNCTION_NAMES)})\b")
_WORD: Final = re.compile(r"\w+")

_WORD_HINTS: Final = {
    "of": "write * for 'of', as in 18% * 250",
    "x": "write * to multiply",
    "mod": "write % for the remainder",
    "pi": "there are no named constants: write the digits",
    "e": "there are no named constants: write the digits",
}
_CHARACTER_HINTS: Final = {
    "^": "'^' is no operator here: write ** for a power",
    "!": f"there is no factorial: the functions are {_FUNCTIONS}",
    ":": "':' could be a ratio, a time or a division: write / to divide",
    "√": "write sqrt(...) for a square root",
    "#": "leave out comments: give the expression alone",
    **dict.fromkeys(
        "\u00b7\u2219\u22c5\u2022",
        "a raised dot could be a product or a decimal point: write * or .",
    ),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\uff0d", "this dash is no minus sign: write -"),
    **dict.fromkeys("$€£¥₹¢", "give plain numbers, without currency signs or units"),
    **dict.fromkeys("²³¹", "write ** for a power, as in 5**2"),
    **dict.fromkeys("[]{}", "only ( and ) group"),
    **dict.fromkeys("'\"`\u2018\u2019\u201c\u201d", "give the expression without quotes"),
    "=": "'=' may stand only at the start or the end: give one side of the equation",
}


class Token(NamedTuple):
    """A piece of the expression; `kind` is an operator, 'number', 'function' or 'percent'."""

    kind: str
    text: str
    place: int


def shown(text: str) -> str:
    """Return a piece of the input fit for a one-line message: quoted, escaped, 20 characters."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def tokenize(text: str) -> Iterator[Token]:
    """Yield the tokens, each with its place counted from 1.

    Raises:
        CalculatorError: A character or word is not arithmetic, or could be read in two ways.
    """
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        kind, piece = _next_piece(text, at)
        yield Token(kind, piece, at + 1)
        at += len(piece)


def _next_piece(text: str, at: int) -> tuple[str, str]:
    if number := _NUMBER.match(text, at):
        if grouped := _GROUPED.match(text, at):
            plain = grouped[0].replace(",", "")
            raise CalculatorError(
                f"{shown(grouped[0])} could be one number or several: write {shown(plain)[1:-1]}, "
                "or put a space after each comma between arguments"
            )
        return "number", number[0]
    if operator := _OPERATOR.match(text, at):
        return _TYPOGRAPHIC.get(operator[0], operator[0]), operator[0]
    if text[at] == "%":
        return _meaning_of_percent(text, at), "%"
    if hint := _CHARACTER_HINTS.get(text[at]):
        raise CalculatorError(f"{hint} (character {at + 1})")
    if text[at].isnumeric():
        raise CalculatorError(
            f"{shown(text[at])} is no digit from 0 to 9: write numbers with those"
        )
    word = _WORD.match(text, at)
    if word is None:
        raise CalculatorError(
            f"unexpected {shown(text[at])} at character {at + 1}: give only numbers, "
            f"+ - * / // % **, parentheses and {_FUNCTIONS}"
        )
    if word[0].lower() in FUNCTION_NAMES:
        return "function", word[0]
    hint = _WORD_HINTS.get(word[0].lower()) or (
        f"give plain numbers without words or units, and only the functions {_FUNCTIONS}"
    )
    raise CalculatorError(f"{shown(word[0])} is not arithmetic: {hint}")


def _meaning_of_percent(text: str, at: int) -> str:
    """Tell `50%` ('percent') from `7 % 3` ('%', the remainder), by what follows and by spaces.

    Only a percent sign can stand before an operator other than a sign, a closing parenthesis, a
    comma or the end; only a remainder before a number, which must not look like `8% 9`. A sign
    may follow either, so that the spaces must tell: `10% + 5` is 5.1, `10 % -3` is -2.
    """
    if text.startswith("%", at + 1):
        raise CalculatorError("'%%' is no operator: write one %")
    follow = text[at + 1 :].lstrip()
    space_before = text[at - 1 : at].isspace()
    space_after = text[at + 1 : at + 2].isspace()
    if follow[:1] in {"+", "-", "\N{MINUS SIGN}"}:
        space_after_sign = follow[1:2].isspace()
        if space_after and space_after_sign and not space_before:
            return "percent"
        if space_after and space_before and not space_after_sign:
            return "%"
    elif not _NUMBER_START.match(follow):
        return "percent"
    elif space_before or not space_after:
        return "%"
    raise CalculatorError(
        f"'%' at character {at + 1} could be percent or remainder: write (18%) * 250 for a "
        "percentage, or 7 % (3), with a space on both sides of %, for a remainder"
    )
