"""The calculator tool: exact arithmetic on an expression of plain numbers."""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Final

from tools.arithmetic import (
    MAX_PLACES,
    Arithmetic,
    CalculatorError,
    Number,
    Step,
    UndecidedError,
    parse,
)

__all__ = ["CalculatorError", "calculator"]

MAX_CHARACTERS: Final = 1000
SHOWN_DIGITS: Final = 15
_LEAST_EXPONENT: Final = -6

# Working digits: the first are enough unless digits cancel out, as in sqrt(2) - 1.414213562373095.
_WORKING_DIGITS: Final = (50, 250)
_ROUNDING: Final = Context(SHOWN_DIGITS, ROUND_HALF_EVEN, Emin=-999_999, Emax=999_999, traps=[])


def calculator(expression: str) -> str:
    """Do exact arithmetic, such as 18% * 250; use it for every calculation instead of guessing.

    What it reads:

    * Numbers such as `240`, `.5`, `2.50` and `1e3`, in the digits 0 to 9. Thousands separators,
      currency signs, units and words are errors, and so is `max(1,000)`, which could be one
      number or two: in `max(1, 200)` the space tells.
    * `+ - * / // % **` and parentheses, with Python's precedence: `-2**2` is -4, and `//` and `%`
      round down for negative numbers. The typographic signs for times, divided by and minus are
      read as `* / -`. Every other sign is an error that says what to write instead, also `^`, the
      raised dot and `:`.
    * `50%` is 0.5, so `200+10%` is 200.1; `7 % 3` and `7%3` are the remainder. What could be
      either, such as `8% 9`, `10%-3` or `10% -3`, is an error; `10% + 5` is 5.1, `10 % -3` is -2.
    * `round(x)`, `round(x, places)` with a half away from zero, `abs(x)`, `min(...)`, `max(...)`
      and `sqrt(x)`, in any case of letters.
    * One `=` at the start or at the end is dropped. A second line is an error.

    What it answers:

    * Whole numbers, and decimals that end within 100 places, exactly: `232`, `0.125`.
    * Another fraction, with up to 100 digits, and its decimal: `1/3 ≈ 0.333333333333333 (rounded)`.
    * An irrational or longer number to 15 significant digits: `1.41421356237310 (rounded)`, in
      scientific notation from 10**15 and below 10**-6.

    Args:
        expression: Plain numbers with + - * / // % **, parentheses, round, abs, min, max, sqrt.

    Returns:
        The result as text.

    Raises:
        CalculatorError: No result: a mistake in the expression, division by zero, no real number,
            more than 1,000 characters, 100 nested parentheses or 4,300 digits before or after the
            point. One line that says what to do.
    """
    steps = parse(_trimmed(expression))
    for digits in _WORKING_DIGITS:
        try:
            return _text(_run(steps, Arithmetic(digits)))
        except UndecidedError:
            continue
    raise CalculatorError(
        f"{_WORKING_DIGITS[-1]} digits are not enough to settle the result, because roots or long "
        "numbers cancel out in it: simplify it, or put round(..., 10) around it"
    )


def _trimmed(expression: str) -> str:
    if len(expression) > MAX_CHARACTERS:
        raise CalculatorError(
            f"the expression has {len(expression):,} characters, and at most {MAX_CHARACTERS:,} "
            "are allowed: split it into parts"
        )
    text = expression.rstrip()
    text = text.removesuffix("=").rstrip()
    if text.lstrip().startswith("="):
        text = text.replace("=", " ", 1)
    if len(text.lstrip().splitlines()) > 1:
        raise CalculatorError("more than one line: give one expression on one line in each call")
    return text


def _run(steps: Sequence[Step], arithmetic: Arithmetic) -> Number:
    stack: list[Number] = []
    for step in steps:
        if isinstance(step, Fraction):
            stack.append(step)
        else:
            operands = stack[-step.operands :]
            del stack[-step.operands :]
            stack.append(arithmetic.apply(step.name, operands))
    return stack[0]


def _text(result: Number) -> str:
    if not isinstance(result, Fraction):
        low, high = (_ROUNDING.plus(end) for end in result)
        if low != high:
            raise UndecidedError
        return f"{_decimal_text(low)} (rounded)"
    exact = _exact_text(result)
    if exact is not None:
        return exact
    decimal = _ROUNDING.divide(Decimal(result.numerator), Decimal(result.denominator))
    if Fraction(decimal) == result:
        return f"{decimal.normalize(_ROUNDING):e}"
    over, under = _integer_text(result.numerator), _integer_text(result.denominator)
    fraction = f"{over}/{under} ≈ " if len(over) + len(under) <= MAX_PLACES else ""
    return f"{fraction}{_decimal_text(decimal)} (rounded)"


def _exact_text(result: Fraction) -> str | None:
    """Return the decimal that is the result, or None if it has more than 100 places or no end."""
    scaled, rest = divmod(abs(result.numerator) * 10**MAX_PLACES, result.denominator)
    if rest:
        return None
    whole, places = divmod(scaled, 10**MAX_PLACES)
    decimals = _integer_text(places).zfill(MAX_PLACES).rstrip("0")
    sign = "-" if result < 0 else ""
    return f"{sign}{_integer_text(whole)}{'.' if decimals else ''}{decimals}"


def _integer_text(number: int) -> str:
    # Unlike str(), a Decimal knows no limit of the interpreter on the digits of an integer.
    return f"{Decimal(number):f}"


def _decimal_text(rounded: Decimal) -> str:
    """Return all 15 significant digits, in scientific notation where zeros would hide them."""
    if _LEAST_EXPONENT <= rounded.adjusted() < SHOWN_DIGITS:
        return f"{rounded:.{SHOWN_DIGITS - 1 - rounded.adjusted()}f}"
    return f"{rounded:.{SHOWN_DIGITS - 1}e}"
