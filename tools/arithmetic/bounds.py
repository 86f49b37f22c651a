"""Interval arithmetic for numbers that no fraction within the limits can hold."""

from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
from fractions import Fraction
from typing import Final, NamedTuple

from tools.arithmetic.exact import MAX_DIGITS, CalculatorError, UndecidedError

_LARGEST: Final = Decimal(f"1e{MAX_DIGITS}")
_SMALLEST: Final = Decimal(f"1e-{MAX_DIGITS}")
# Just over ln(10**4300), so that exp() is never asked for a number far beyond the limit.
_MAX_LN: Final = Decimal(9902)


class Bounds(NamedTuple):
    """Two decimals that hold the true value between them."""

    low: Decimal
    high: Decimal

    def negated(self) -> "Bounds":
        """Return the bounds of the negative value."""
        # `-low` would round to the precision of the thread's own decimal context.
        return Bounds(self.high.copy_negate(), self.low.copy_negate())


class BoundsArithmetic:
    """Operations on bounds at a number of working digits, rounded outwards at every step.

    All raise CalculatorError for a value beyond 10**4300 or nearer to 0 than its inverse, and
    UndecidedError where only narrower bounds could tell whether there is a result.
    """

    def __init__(self, digits: int) -> None:
        traps = [InvalidOperation, DivisionByZero, Overflow]
        self._down = Context(digits, ROUND_FLOOR, Emin=-999_999, Emax=999_999, traps=traps)
        self._up = Context(digits, ROUND_CEILING, Emin=-999_999, Emax=999_999, traps=traps)

    def of(self, a: Fraction) -> Bounds:
        """Return the bounds of a fraction of any length."""
        over, under = Decimal(a.numerator), Decimal(a.denominator)
        return _checked(self._down.divide(over, under), self._up.divide(over, under))

    def add(self, a: Bounds, b: Bounds) -> Bounds:
        """Return a + b."""
        return _checked(self._down.add(a.low, b.low), self._up.add(a.high, b.high))

    def multiply(self, a: Bounds, b: Bounds) -> Bounds:
        """Return a * b."""
        return _checked(*self._product(a, b))

    def divide(self, a: Bounds, b: Bounds) -> Bounds:
        """Return a / b."""
        if b.low <= 0 <= b.high:
            raise UndecidedError
        pairs = [(x, y) for x in a for y in b]
        return _checked(
            min(self._down.divide(x, y) for x, y in pairs),
            max(self._up.divide(x, y) for x, y in pairs),
        )

    def sqrt(self, a: Bounds) -> Bounds:
        """Return the square root of a value that is not negative."""
        if a.low < 0:
            raise UndecidedError
        # The root is rounded to nearest: one step outwards makes it a bound.
        low = self._down.next_minus(self._down.sqrt(a.low))
        return Bounds(max(low, Decimal(0)), self._up.next_plus(self._up.sqrt(a.high)))

    def power(self, a: Bounds, b: Bounds) -> Bounds:
        """Return a ** b for a positive a."""
        if a.low <= 0:
            raise UndecidedError
        # ln and exp are rounded to nearest: one step outwards makes each a bound.
        low = self._down.next_minus(self._down.ln(a.low))
        high = self._up.next_plus(self._up.ln(a.high))
        exponent = self._product(Bounds(low, high), b)
        if exponent.low > _MAX_LN:
            raise too_large()
        if exponent.high < _MAX_LN.copy_negate():
            raise _too_small()
        if exponent.low < _MAX_LN.copy_negate() or exponent.high > _MAX_LN:
            raise UndecidedError
        low = self._down.next_minus(self._down.exp(exponent.low))
        return _checked(low, self._up.next_plus(self._up.exp(exponent.high)))

    def _product(self, a: Bounds, b: Bounds) -> Bounds:
        pairs = [(x, y) for x in a for y in b]
        low = min(self._down.multiply(x, y) for x, y in pairs)
        return Bounds(low, max(self._up.multiply(x, y) for x, y in pairs))


def too_large() -> CalculatorError:
    """Return the error for a number that is too long to be written out."""
    return CalculatorError(f"the result has more than {MAX_DIGITS:,} digits: use smaller numbers")


def _too_small() -> CalculatorError:
    return CalculatorError(f"a number is nearer to 0 than 10**-{MAX_DIGITS}: use larger numbers")


def _checked(low: Decimal, high: Decimal) -> Bounds:
    if low >= _LARGEST or high <= _LARGEST.copy_negate():
        raise too_large()
    if 0 < low <= high < _SMALLEST or _SMALLEST.copy_negate() < low <= high < 0:
        raise _too_small()
    return Bounds(low, high)
