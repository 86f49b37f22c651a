"""Turn the text of an arithmetic expression into steps for a stack machine, without recursion."""

from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from tools.arithmetic import exact
from tools.arithmetic.exact import CalculatorError
from tools.arithmetic.lexer import Token, shown, tokenize

MAX_DEPTH: Final = 100
# The least and the most arguments of each function; None for any number.
_ARGUMENTS: Final[dict[str, tuple[int, int | None]]] = {
    "round": (1, 2),
    "abs": (1, 1),
    "min": (1, None),
    "max": (1, None),
    "sqrt": (1, 1),
}
_STRENGTH: Final = {"+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2, "negate": 3, "**": 4}


class Operation(NamedTuple):
    """Replace the last `operands` numbers on the stack by the operation's result."""

    name: str
    operands: int


Step = Fraction | Operation


def parse(text: str) -> list[Step]:
    """Return the expression in postfix order: precedence and associativity are Python's.

    Raises:
        CalculatorError: The text is not one arithmetic expression.
    """
    parser = _Parser()
    for token in tokenize(text):
        parser.read(token)
    return parser.finish()


class _Open:
    """A parenthesis not closed yet, with the function it belongs to and the arguments so far."""

    def __init__(self, function: str | None) -> None:
        self.function = function
        self.arguments = 1


class _Parser:
    """Dijkstra's shunting yard, which knows whether a number or an operator must come next."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._waiting: list[str | _Open] = []
        self._depth = 0
        self._function: Token | None = None
        self._last: Token | None = None
        self._number_next = True

    def read(self, token: Token) -> None:
        """Take the next token."""
        if self._function is not None and token.kind != "(":
            raise CalculatorError(_needs_parentheses(self._function))
        if self._number_next:
            self._start_of_number(token)
        else:
            self._after_number(token)
        self._last = token

    def finish(self) -> list[Step]:
        """Return the steps of the whole expression."""
        if self._last is None:
            raise CalculatorError("the expression is empty: give arithmetic such as 18% * 250")
        if self._function is not None:
            raise CalculatorError(_needs_parentheses(self._function))
        if self._number_next:
            raise CalculatorError(
                f"the expression ends too early: a number is missing after {shown(self._last.text)}"
            )
        if self._depth:
            raise CalculatorError("a '(' is never closed: add ')'")
        self._take_waiting(0)
        return self._steps

    def _start_of_number(self, token: Token) -> None:
        if token.kind == "number":
            self._steps.append(_literal(token))
            self._number_next = False
        elif token.kind == "function":
            self._function = token
        elif token.kind == "(":
            self._open()
        elif token.kind == "-":
            self._waiting.append("negate")
        elif token.kind != "+":
            raise CalculatorError(
                f"a number is missing before {shown(token.text)} at character {token.place}"
            )

    def _after_number(self, token: Token) -> None:
        if token.kind in {"number", "function", "("}:
            raise CalculatorError(
                f"an operator is missing before {shown(token.text)} at character {token.place}: "
                "write * to multiply, and each number without spaces"
            )
        if token.kind == ")":
            self._close(token)
        elif token.kind == ",":
            self._next_argument(token)
        elif token.kind == "percent":
            self._steps.append(Operation("percent", 1))
        else:
            # `**` groups from the right, so that an equal one stays waiting.
            self._take_waiting(_STRENGTH[token.kind] + (token.kind == "**"))
            self._waiting.append(token.kind)
            self._number_next = True

    def _open(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise CalculatorError(f"more than {MAX_DEPTH} nested parentheses: simplify")
        self._waiting.append(_Open(self._function.text.lower() if self._function else None))
        self._function = None

    def _next_argument(self, token: Token) -> None:
        self._take_waiting(0)
        opened = self._waiting[-1] if self._waiting else None
        if not isinstance(opened, _Open) or opened.function is None:
            raise CalculatorError(
                f"a comma at character {token.place} is outside a function: write numbers without "
                "thousands separators, and decimals with a point"
            )
        opened.arguments += 1
        self._number_next = True

    def _close(self, token: Token) -> None:
        self._take_waiting(0)
        opened = self._waiting.pop() if self._waiting else None
        if not isinstance(opened, _Open):
            raise CalculatorError(f"the ')' at character {token.place} was never opened: remove it")
        self._depth -= 1
        if opened.function is not None:
            _check_arguments(opened.function, opened.arguments)
            self._steps.append(Operation(opened.function, opened.arguments))

    def _take_waiting(self, strength: int) -> None:
        """Append the waiting operators at least this strong, back to the last open parenthesis."""
        while self._waiting:
            operator = self._waiting[-1]
            if isinstance(operator, _Open) or _STRENGTH[operator] < strength:
                return
            self._waiting.pop()
            self._steps.append(Operation(operator, 1 if operator == "negate" else 2))


def _check_arguments(function: str, count: int) -> None:
    least, most = _ARGUMENTS[function]
    if count < least or (most is not None and count > most):
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise CalculatorError(f"{function} takes {wanted} argument{'s' * (most != 1)}, not {count}")


def _needs_parentheses(function: Token) -> str:
    return f"{function.text} needs parentheses: write {function.text}(...)"


def _literal(token: Token) -> Fraction:
    mantissa, _, exponent = token.text.lower().partition("e")
    # Decimal() reads any number of digits exactly, where int() obeys a limit of the interpreter.
    value = Fraction(Decimal(mantissa))
    if len(exponent.lstrip("+-0")) <= len(str(exact.MAX_DIGITS)):
        value *= Fraction(10) ** int(exponent or 0)
        if exact.fits(value):
            return value
    raise CalculatorError(
        f"the number {shown(token.text)} has more than {exact.MAX_DIGITS:,} digits: "
        "use a smaller one"
    )
