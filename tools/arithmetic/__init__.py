"""Exact arithmetic on the text of an expression: what the calculator tool is made of."""

from tools.arithmetic.exact import MAX_DIGITS, CalculatorError, UndecidedError
from tools.arithmetic.expression import MAX_DEPTH, Operation, Step, parse
from tools.arithmetic.operations import MAX_PLACES, Arithmetic, Number

__all__ = [
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MAX_PLACES",
    "Arithmetic",
    "CalculatorError",
    "Number",
    "Operation",
    "Step",
    "UndecidedError",
    "parse",
]
