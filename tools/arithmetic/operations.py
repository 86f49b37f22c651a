"""The operations: exact on fractions, between proven bounds where no fraction fits."""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from tools.arithmetic import exact
from tools.arithmetic.bounds import Bounds, BoundsArithmetic
from tools.arithmetic.exact import CalculatorError, UndecidedError

MAX_PLACES: Final = 100

Number = Fraction | Bounds
"""A fraction is exact; bounds stand for an irrational number, or for one too long to keep exact."""


class Arithmetic:
    """The operations, with bounds at a number of working digits.

    * Fractions stay fractions while numerator and denominator have at most 4,300 digits each.
    * Bounds always hold the true value.
    * Nothing longer than a few times the limit is ever computed: a power is measured first, and
      every other operation at most adds up the lengths of operands that are within the limit.
    """

    def __init__(self, digits: int) -> None:
        self._between = BoundsArithmetic(digits)
        self._operations: dict[str, Callable[..., Number]] = {
            "+": self.add,
            "-": lambda a, b: self.add(a, self.negate(b)),
            "*": self.multiply,
            "/": self.divide,
            "//": self.floor_divide,
            "%": self.remainder,
            "**": self.power,
            "negate": self.negate,
            "percent": lambda a: self.divide(a, Fraction(100)),
            "abs": self.absolute,
            "max": lambda *a: self.negate(self.minimum(*map(self.negate, a))),
            "min": self.minimum,
            "round": self.round,
            "sqrt": self.sqrt,
        }

    def apply(self, operation: str, operands: Sequence[Number]) -> Number:
        """Return the operation's result.

        Raises:
            CalculatorError: There is no result, or it is too long.
            UndecidedError: There may be one at more working digits.
        """
        return self._operations[operation](*operands)

    def add(self, a: Number, b: Number) -> Number:
        """Return a + b."""
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return self._kept(a + b)
        return self._between.add(self._bounds(a), self._bounds(b))

    def negate(self, a: Number) -> Number:
        """Return -a."""
        return -a if isinstance(a, Fraction) else a.negated()

    def multiply(self, a: Number, b: Number) -> Number:
        """Return a * b."""
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return self._kept(a * b)
        return self._between.multiply(self._bounds(a), self._bounds(b))

    def divide(self, a: Number, b: Number) -> Number:
        """Return a / b."""
        _refuse_zero(b)
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return self._kept(a / b)
        return self._between.divide(self._bounds(a), self._bounds(b))

    def floor_divide(self, a: Number, b: Number) -> Number:
        """Return the quotient rounded down, as Python does for negative numbers too."""
        _refuse_zero(b)
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return self._kept(Fraction(a // b))
        return self._kept(_agreed(self.divide(a, b), lambda q: Fraction(math.floor(q))))

    def remainder(self, a: Number, b: Number) -> Number:
        """Return a - b * (a // b), which has the sign of b, as in Python."""
        _refuse_zero(b)
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return self._kept(a % b)
        return self.add(a, self.negate(self.multiply(b, self.floor_divide(a, b))))

    def absolute(self, a: Number) -> Number:
        """Return a without its sign."""
        if isinstance(a, Fraction):
            return abs(a)
        if a.low < 0 < a.high:
            return Bounds(Decimal(0), max(a.low.copy_negate(), a.high))
        return a if a.low >= 0 else a.negated()

    def minimum(self, *numbers: Number) -> Number:
        """Return the least number: itself where that can be told, else bounds of the least."""
        ends = [_ends(number) for number in numbers]
        least = min(range(len(ends)), key=lambda place: ends[place][1])
        limit = ends[least][1]
        if all(place == least or limit <= low for place, (low, _) in enumerate(ends)):
            return numbers[least]
        known = [self._bounds(number) for number in numbers]
        return Bounds(min(one.low for one in known), min(one.high for one in known))

    def round(self, a: Number, places: Number = Fraction(0)) -> Number:
        """Return a at so many decimal places; a half goes away from zero, as on an invoice."""
        whole = isinstance(places, Fraction) and places.denominator == 1
        if not (isinstance(places, Fraction) and whole and abs(places) <= MAX_PLACES):
            raise CalculatorError(
                f"round takes a whole number of places from -{MAX_PLACES} to {MAX_PLACES}, "
                "as in round(2.345, 2)"
            )
        scale = Fraction(10) ** int(places)

        def rounded(value: Fraction) -> Fraction:
            size = math.floor(abs(value) * scale + Fraction(1, 2)) / scale
            return size if value > 0 else -size

        return self._kept(_agreed(a, rounded))

    def sqrt(self, a: Number) -> Number:
        """Return the square root, exact for the square of a fraction."""
        if _ends(a)[1] < 0:
            raise CalculatorError("sqrt of a negative number has no real result")
        root = exact.root(a, 2) if isinstance(a, Fraction) else None
        return self._between.sqrt(self._bounds(a)) if root is None else root

    def power(self, a: Number, b: Number) -> Number:
        """Return a ** b, exact where that is a fraction within the limit."""
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            result = exact.power(a, b)
            if result is not None:
                return self._kept(result)
        if a == 0 and _ends(b)[0] > 0:
            return Fraction(0)
        if _ends(a)[1] >= 0:
            return self._between.power(self._bounds(a), self._bounds(b))
        if not (isinstance(b, Fraction) and b.denominator == 1):
            raise CalculatorError("a negative number to a fractional power has no real result")
        size = self._between.power(self._bounds(self.negate(a)), self._bounds(b))
        return size.negated() if b.numerator % 2 else size

    def _bounds(self, a: Number) -> Bounds:
        return self._between.of(a) if isinstance(a, Fraction) else a

    def _kept(self, a: Fraction) -> Number:
        return a if exact.fits(a) else self._between.of(a)


def _ends(a: Number) -> tuple[Fraction, Fraction]:
    return (a, a) if isinstance(a, Fraction) else (Fraction(a.low), Fraction(a.high))


def _refuse_zero(divisor: Number) -> None:
    if divisor == 0:
        raise CalculatorError("division by zero")


def _agreed(a: Number, step: Callable[[Fraction], Fraction]) -> Fraction:
    """Return the step's result where both ends of the bounds agree on it."""
    low, high = (step(end) for end in _ends(a))
    if low != high:
        raise UndecidedError
    return low
