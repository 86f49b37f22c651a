"""Fractions within the limits: their roots and powers, and the errors of a calculation."""

import math
from fractions import Fraction
from typing import Final

MAX_DIGITS: Final = 4300
_TOO_LONG: Final = 10**MAX_DIGITS


class CalculatorError(ValueError):
    """An expression that has no result; the message is one line that says what to do."""


class UndecidedError(Exception):
    """The bounds are too wide to decide a step: the same steps need more working digits."""


def fits(a: Fraction) -> bool:
    """Tell whether numerator and denominator have at most 4,300 digits each."""
    return abs(a.numerator) < _TOO_LONG and a.denominator < _TOO_LONG


def root(a: Fraction, degree: int) -> Fraction | None:
    """Return the real root of a if it is a fraction, else None."""
    if degree == 1:
        return a
    if a < 0:
        return None
    over, under = _integer_root(a.numerator, degree), _integer_root(a.denominator, degree)
    return None if over is None or under is None else Fraction(over, under)


def power(a: Fraction, b: Fraction) -> Fraction | None:
    """Return a ** b, or None if it is irrational or too long; its size is known before it is made.

    Raises:
        CalculatorError: Zero to a negative power.
    """
    if a == 0 and b < 0:
        raise CalculatorError("division by zero")
    base = root(a, b.denominator)
    if base is None:
        return None
    fewest_bits = (max(abs(base.numerator), base.denominator).bit_length() - 1) * abs(b.numerator)
    return None if fewest_bits >= _TOO_LONG.bit_length() else base**b.numerator


def _integer_root(value: int, degree: int) -> int | None:
    if value in (0, 1):
        return value
    if degree >= value.bit_length():
        return None
    # Newton's steps fall towards the root from a start that is above it by less than 1e-8.
    exponent = math.log2(value) / degree
    shift = max(int(exponent) - 50, 0)
    guess = int(2 ** (exponent - shift) * (1 + 1e-9)) + 1 << shift
    while (better := ((degree - 1) * guess + value // guess ** (degree - 1)) // degree) < guess:
        guess = better
    return guess if guess**degree == value else None
