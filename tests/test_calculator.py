"""The calculator is exact, never answers with a wrong number, and is never slow or large."""

import decimal
import operator
import sys
import threading
import tracemalloc
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tools.arithmetic import UndecidedError, exact, parse
from tools.arithmetic.bounds import BoundsArithmetic
from tools.calculator import CalculatorError, calculator

TIMES, DIVIDED_BY, MINUS, RAISED_DOT = "\u00d7", "\u00f7", "\u2212", "\u00b7"

bounded = settings(max_examples=200, deadline=None, derandomize=True, database=None)


def refusal(expression: str) -> str:
    """Return the message of the error, having checked what holds for every message."""
    with pytest.raises(CalculatorError) as caught:
        calculator(expression)
    message = str(caught.value)
    assert 0 < len(message) <= 250
    assert message.isprintable(), "one line, no control characters, no lone surrogates"
    return message


def value_of(answer: str) -> Fraction:
    return Fraction(Decimal(answer.removesuffix(" (rounded)")))


# --- exact answers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("240*29/30", "232"),
        ("7/2*2", "7"),
        ("0.18*250", "45"),
        ("18% * 250", "45"),
        ("0.1+0.2", "0.3"),
        ("1/8", "0.125"),
        ("-1/8", "-0.125"),
        ("100", "100"),
        ("2.50", "2.5"),
        ("1-1e-30", "0.999999999999999999999999999999"),
        ("1000*1.05**10", "1628.89462677744140625"),
    ],
)
def test_whole_numbers_and_decimals_that_end_are_printed_exactly(
    expression: str, answer: str
) -> None:
    """Case CAL-01, and the sums of the seeds."""
    assert calculator(expression) == answer


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("1/3*3", "1"),
        ("2/3+1/3", "1"),
        ("1/3", "1/3 ≈ 0.333333333333333 (rounded)"),
        ("2/3", "2/3 ≈ 0.666666666666667 (rounded)"),
        ("-2/6", "-1/3 ≈ -0.333333333333333 (rounded)"),
        ("1/70000000", "1/70000000 ≈ 1.42857142857143e-8 (rounded)"),
        ("10**20/3", "100000000000000000000/3 ≈ 3.33333333333333e+19 (rounded)"),
    ],
)
def test_a_fraction_without_an_end_is_shown_with_its_decimal_marked_rounded(
    expression: str, answer: str
) -> None:
    """Case CAL-03."""
    assert calculator(expression) == answer


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("2**64", "18446744073709551616"),
        ("10**30", "1" + "0" * 30),
        ("2**100", "1267650600228229401496703205376"),
        ("10**50", "1" + "0" * 50),
        ("2**-3", "0.125"),
        ("1.5**2", "2.25"),
        ("4**0.5", "2"),
        ("8**(1/3)", "2"),
        ("(4/9)**1.5", "8/27 ≈ 0.296296296296296 (rounded)"),
        ("0**0", "1"),
        ("0**0.5", "0"),
        ("0**sqrt(2)", "0"),
        ("1**(10**4000)", "1"),
        ("(-1)**(10**4000+1)", "-1"),
    ],
)
def test_powers_that_are_fractions_are_exact(expression: str, answer: str) -> None:
    """Cases CAL-07 and CKP-05: the result is text, whatever its length."""
    assert calculator(expression) == answer


@pytest.mark.parametrize(
    ("expression", "base", "exponent"),
    [("1.05**360", Fraction("1.05"), 360), ("(1+0.05/12)**360", Fraction(241, 240), 360)],
)
def test_a_long_compound_power_is_rounded_to_15_digits(
    expression: str, base: Fraction, exponent: int
) -> None:
    """Case CAL-07: 15 significant digits, each of them right."""
    result = base**exponent
    expected = Context(prec=15).divide(Decimal(result.numerator), Decimal(result.denominator))
    assert calculator(expression) == f"{expected} (rounded)"


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("1e-100", "0." + "0" * 99 + "1"),
        ("1e-101", "1e-101"),
        ("1/3**40", "1/12157665459056928801 ≈ 8.22526333996996e-20 (rounded)"),
        ("0.5**400", "3.87259191484932e-121 (rounded)"),
        ("1/3**300", "7.30505658114782e-144 (rounded)"),
    ],
)
def test_more_than_100_places_or_digits_of_a_fraction_give_way_to_15_digits(
    expression: str, answer: str
) -> None:
    assert calculator(expression) == answer


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("2 + 3*4", "14"),
        ("(2 + 3)*4", "20"),
        ("10 - 4 - 3", "3"),
        ("100/10/2", "5"),
        ("-2**2", "-4"),
        ("(-2)**2", "4"),
        ("2**-1", "0.5"),
        ("2**3**2", "512"),
        ("2**-2**2", "0.0625"),
        ("2*-3", "-6"),
        ("5--3", "8"),
        ("+5 - +3", "2"),
        ("-7//2", "-4"),
        ("7//-2", "-4"),
        ("7.5//2", "3"),
        ("-7 % 3", "2"),
        ("7 % -3", "-2"),
        ("7.5 % 2", "1.5"),
        ("2 * 7 % 4", "2"),
    ],
)
def test_precedence_and_rounding_down_are_those_of_python(expression: str, answer: str) -> None:
    assert calculator(expression) == answer


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("240", "240"),
        ("007", "7"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1e3", "1000"),
        ("1E+3", "1000"),
        ("2.5e-3", "0.0025"),
        (" 1\t+\u00a01 ", "2"),
    ],
)
def test_numbers_are_read_exactly(expression: str, answer: str) -> None:
    assert calculator(expression) == answer


# --- functions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("round(2.4)", "2"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(2.665, 2)", "2.67"),
        ("round(1234.567,2)", "1234.57"),
        ("round(1250, -2)", "1300"),
        ("round(2/3, 4)", "0.6667"),
        ("round(sqrt(2), 2)", "1.41"),
        ("round(1.05**360, 2)", "42476396.41"),
        ("abs(-3)", "3"),
        ("abs(2-5.5)", "3.5"),
        ("abs(-sqrt(2))", "1.41421356237310 (rounded)"),
        ("min(3, 1, 2)", "1"),
        ("max(3, 1/2, 2.5)", "3"),
        ("max(-7)", "-7"),
        ("max(2, sqrt(2))", "2"),
        ("min(2, sqrt(2))", "1.41421356237310 (rounded)"),
        ("min(sqrt(2), sqrt(2))", "1.41421356237310 (rounded)"),
        ("sqrt(16)", "4"),
        ("sqrt(2.25)", "1.5"),
        ("SQRT(Max(4, 9))", "3"),
        ("max(min(1, 2), (3))*2", "6"),
        ("sqrt(4)%", "0.02"),
    ],
)
def test_functions(expression: str, answer: str) -> None:
    assert calculator(expression) == answer


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("sqrt(1, 2)", "sqrt takes 1 argument, not 2"),
        ("abs(1, 2)", "abs takes 1 argument, not 2"),
        ("round(1, 2, 3)", "round takes 1 to 2 arguments, not 3"),
        ("round(1, 0.5)", "whole number of places"),
        ("round(1, 101)", "whole number of places"),
        ("round(1, sqrt(2))", "whole number of places"),
        ("max()", "a number is missing before ')'"),
        ("max(1,)", "a number is missing before ')'"),
        ("sqrt 4", "write sqrt(...)"),
        ("2 + abs", "write abs(...)"),
        ("sqrt(-1)", "negative"),
        ("sqrt(-sqrt(2))", "negative"),
    ],
)
def test_a_function_used_wrongly_says_how_to_use_it(expression: str, hint: str) -> None:
    assert hint in refusal(expression)


@pytest.mark.parametrize("expression", ["factorial(5)", "factorial(100000)", "170!", "sin(1)"])
def test_a_function_not_offered_is_an_error_naming_those_that_are(expression: str) -> None:
    """Case CAL-09."""
    assert "round, abs, min, max, sqrt" in refusal(expression)


# --- irrational results --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("sqrt(2)", "1.41421356237310 (rounded)"),
        ("2**0.5", "1.41421356237310 (rounded)"),
        ("sqrt(2)**2", "2.00000000000000 (rounded)"),
        ("(-sqrt(2))**3", "-2.82842712474619 (rounded)"),
        ("sqrt(10)//1", "3"),
        ("sqrt(10) % 1", "0.162277660168379 (rounded)"),
        ("1/sqrt(10)", "0.316227766016838 (rounded)"),
        ("sqrt(2)*10**20", "1.41421356237310e+20 (rounded)"),
        ("sqrt(2) - 1.4142135623730950488016887242096980785696", "7.18753769480732e-41 (rounded)"),
        ("1.0001**100000", "22015.4560485522 (rounded)"),
        ("(1+1e-100)**1e100", "2.71828182845905 (rounded)"),
    ],
)
def test_irrational_and_long_results_are_right_to_15_digits_and_marked(
    expression: str, answer: str
) -> None:
    assert calculator(expression) == answer


@pytest.mark.parametrize(
    "expression", ["sqrt(2)**2 - 2", "1/(sqrt(2)**2 - 2)", "sqrt(sqrt(3)**2 - 3)", "sqrt(3)**2//1"]
)
def test_a_result_that_hangs_on_digits_that_cancel_is_an_error_not_a_guess(expression: str) -> None:
    assert "not enough to settle the result" in refusal(expression)


@pytest.mark.parametrize("expression", ["(-8)**(1/3)", "(-2)**0.5", "(-1)**sqrt(2)"])
def test_a_power_that_is_no_real_number_is_an_error(expression: str) -> None:
    assert "no real result" in refusal(expression)


@bounded
@given(
    base=st.fractions(min_value=Fraction(1, 1000), max_value=10**6, max_denominator=1000),
    exponent=st.fractions(min_value=-20, max_value=20, max_denominator=50),
)
def test_fractional_powers_are_right_to_15_digits(base: Fraction, exponent: Fraction) -> None:
    assume(exact.power(base, exponent) is None)
    wide = Context(prec=60)
    base_decimal, exponent_decimal = (
        wide.divide(Decimal(x.numerator), Decimal(x.denominator)) for x in (base, exponent)
    )
    expected = Context(prec=15).plus(wide.power(base_decimal, exponent_decimal))
    answer = calculator(f"({base})**({exponent})")
    assert answer.endswith(" (rounded)")
    assert value_of(answer) == Fraction(expected)


# --- percent -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("50%", "0.5"),
        ("200*15%", "30"),
        ("200+10%", "200.1"),
        ("(50)%", "0.5"),
        ("(20+30)%", "0.5"),
        ("10 %", "0.1"),
        ("-50%", "-0.5"),
        ("10% + 5", "5.1"),
        ("10% - 5", "-4.9"),
        (f"10% {MINUS} 5", "-4.9"),
        ("10%*5", "0.5"),
        ("10 % * 5", "0.5"),
        ("10%**2", "0.01"),
        ("max(10%, 5%)", "0.1"),
        ("(10%)-3", "-2.9"),
        ("= 50% =", "0.5"),
    ],
)
def test_a_percent_sign_divides_by_100(expression: str, answer: str) -> None:
    """Case CAL-15."""
    assert calculator(expression) == answer


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("7 % 3", "1"),
        ("7%3", "1"),
        ("7 %3", "1"),
        ("10 % -3", "-2"),
        (f"10 % {MINUS}3", "-2"),
        ("10 % (-3)", "-2"),
        ("10 % (3)", "1"),
        ("10%(3)", "1"),
        ("7 % sqrt(9)", "1"),
        ("2**3 % 5", "3"),
        ("50% % 0.3", "0.2"),
    ],
)
def test_between_two_numbers_a_percent_sign_is_the_remainder(expression: str, answer: str) -> None:
    """Case CAL-15: `7 % 3` is the documented remainder."""
    assert calculator(expression) == answer


@pytest.mark.parametrize(
    "expression",
    [
        "8% 9",
        "10% (3)",
        "50% sqrt(4)",
        "10% -3",
        "10% +3",
        "10%-3",
        "100%-20%",
        "10 % - 3",
        "10 %-3",
        f"10%{MINUS}3",
    ],
)
def test_a_percent_sign_that_could_be_either_is_an_error_naming_the_ambiguity(
    expression: str,
) -> None:
    """Case CAL-15."""
    message = refusal(expression)
    assert "could be percent or remainder" in message
    assert "(18%) * 250" in message


def test_18_percent_of_250_in_words_is_told_to_write_a_product() -> None:
    assert "18% * 250" in refusal("18% of 250")


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    ["1/0", "0/0", "5%0", "5 % 0", "5//0", "1/(0.1+0.2-0.3)", "0**-1", "sqrt(2)/0", "sqrt(2)//0"],
)
def test_division_by_zero_is_an_error(expression: str) -> None:
    """Case CAL-17: also where floats would leave a remainder."""
    assert refusal(expression) == "division by zero"


def test_typographic_signs_are_read_as_operators() -> None:
    """Case CAL-13."""
    assert calculator(f"5 {TIMES} 3") == "15"
    assert calculator(f"10 {DIVIDED_BY} 4") == "2.5"
    assert calculator(f"5 {MINUS} 3") == "2"


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        (f"2{RAISED_DOT}3", "write * or ."),
        ("8:2", "write / to divide"),
        ("2\u20133", "write -"),
        (f"2{TIMES}{TIMES}3", "a number is missing"),
        (f"7{DIVIDED_BY}{DIVIDED_BY}2", "a number is missing"),
        ("2^10", "write ** for a power"),
        ("2^0.5", "write ** for a power"),
        ("5\u00b2", "write ** for a power"),
        ("\u221a4", "write sqrt(...)"),
        ("5 x 3", "write * to multiply"),
        ("7 mod 3", "write %"),
    ],
)
def test_a_sign_of_another_notation_is_an_error_that_says_what_to_write(
    expression: str, hint: str
) -> None:
    """Cases CAL-13 and CAL-21."""
    assert hint in refusal(expression)


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("1,000", "write 1000"),
        ("1,000 * 3", "write 1000"),
        ("1,234,567.89", "write 1234567"),
        ("1,00,000", "write 100000"),
        ("max(1,000)", "space after each comma"),
        ("max(1,000, 2,000)", "space after each comma"),
        ("max(100,200)", "space after each comma"),
        ("(1,000)", "write 1000"),
        ("1,5", "thousands separators"),
        ("(1, 2)", "outside a function"),
        ("max(1, (2, 3))", "outside a function"),
        ("1 000", "an operator is missing"),
        ("1_000", "plain numbers"),
        ("1.2.3", "an operator is missing"),
        ("0x10", "plain numbers"),
        ("1j", "plain numbers"),
        ("$240", "currency"),
        ("240\u20ac", "currency"),
        ("5 kg", "units"),
        ("3k", "units"),
        ("240 USD", "units"),
        ("2*pi", "named constants"),
        ("\u0663+1", "0 to 9"),
        ("\uff13", "0 to 9"),
        ("\u00bd", "0 to 9"),
        ("nan", "plain numbers"),
        ("1e999999999", "4,300 digits"),
        pytest.param("1e" + "9" * 900, "4,300 digits", id="a long exponent"),
        ("1e-999999999", "4,300 digits"),
        ("1e4300", "4,300 digits"),
    ],
)
def test_a_number_that_is_not_plain_is_an_error_and_never_a_wrong_number(
    expression: str, hint: str
) -> None:
    assert hint in refusal(expression)


def test_a_space_after_the_comma_tells_arguments_from_thousands() -> None:
    assert calculator("max(1, 000)") == "1"
    assert calculator("max(100, 200)") == "200"
    assert calculator("max(1500,200)") == "1500"


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("2+", "a number is missing after '+'"),
        ("*2", "a number is missing before '*' at character 1"),
        ("2+*3", "a number is missing before '*' at character 3"),
        ("()", "a number is missing before ')'"),
        ("%5", "a number is missing before '%'"),
        ("50%%", "write one %"),
        ("2(3)", "an operator is missing before '(' at character 2"),
        ("(2)(3)", "an operator is missing"),
        ("2 3", "an operator is missing"),
        ("2 sqrt(4)", "an operator is missing"),
        ("50% of 3", "write *"),
        ("(2", "add ')'"),
        ("2)", "never opened"),
        ("2)+(3", "never opened"),
        ("2<3", "unexpected '<' at character 2"),
        ("2\x00", "unexpected '\\x00'"),
        ("\ud800", "unexpected '\\ud800'"),
        ("2\u200b+2", "unexpected '\\u200b'"),
    ],
)
def test_a_mistake_in_the_expression_names_what_is_wrong_and_where(
    expression: str, hint: str
) -> None:
    assert hint in refusal(expression)


@pytest.mark.parametrize("expression", ["", "   ", "=", " = ", "\n"])
def test_an_empty_expression_is_an_error(expression: str) -> None:
    """Case CAL-23."""
    assert "the expression is empty" in refusal(expression)


@pytest.mark.parametrize("expression", ["= 2+2", "=2+2", "2+2 =", "2+2=", "=2+2=", " 2+2 \n"])
def test_one_equals_sign_at_either_end_is_dropped(expression: str) -> None:
    """Case CAL-23."""
    assert calculator(expression) == "4"


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("What is 2+2?", "'What' is not arithmetic"),
        ("2+2 # note", "leave out comments"),
        ("'2+2'", "without quotes"),
        ("2+2=4", "only at the start or the end"),
        ("==2+2", "only at the start or the end"),
        ("2+2\n3+3", "one expression on one line"),
        ("2+2\r3+3", "one expression on one line"),
        ("2+2\u2028+3", "one expression on one line"),
    ],
)
def test_text_around_the_expression_is_an_error(expression: str, hint: str) -> None:
    """Case CAL-23: two lines are never answered with the first one's result."""
    assert hint in refusal(expression)


def test_code_is_refused_and_nothing_is_run(tmp_path: Path) -> None:
    """Case CAL-11."""
    marker = tmp_path / "marker"
    loaded = set(sys.modules)
    for code in (
        "__import__('os').system('id')",
        "().__class__.__bases__[0].__subclasses__()",
        "(lambda:1)()",
        "[x for x in (1,)]",
        "open('/etc/passwd')",
        f"__import__('os').system('touch {marker}')",
        f"open('{marker}', 'w')",
    ):
        refusal(code)
    assert not marker.exists()
    assert set(sys.modules) == loaded


def test_a_message_echoes_only_a_bounded_piece_of_the_input() -> None:
    """Case CAL-11."""
    assert "k" * 20 not in refusal("5" + "k" * 900)
    assert "9" * 20 not in refusal("9" * 400 + " " + "9" * 400)
    assert "1" * 20 not in refusal("1," * 3 + "111," * 200 + "111")


# --- size ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("9**9**9", "4,300 digits"),
        ("10**10**10", "4,300 digits"),
        ("9**9**9**9", "4,300 digits"),
        ("(-9)**(9**9)", "4,300 digits"),
        ("10**-10**10", "nearer to 0"),
        ("1.0001**10**9", "4,300 digits"),
        ("2**(sqrt(2)*10**4000)", "4,300 digits"),
        ("(1/3)**(10**4000)", "nearer to 0"),
        ("10**4300", "4,300 digits"),
        ("2**14285", "4,300 digits"),
        ("10**2150*10**2150", "4,300 digits"),
        ("5*10**4299+5*10**4299", "4,300 digits"),
        ("1/1e-4299/1e-4299", "4,300 digits"),
        ("1e-4299*1e-4299", "nearer to 0"),
    ],
)
def test_a_result_beyond_4300_digits_is_refused_without_being_computed(
    expression: str, hint: str
) -> None:
    """Case CAL-05: 9**9**9 alone would take 150 MB."""
    threads = threading.active_count()
    refusal("1/0")
    tracemalloc.start()
    try:
        assert hint in refusal(expression)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000
    assert threading.active_count() == threads


def test_a_power_is_measured_before_it_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Case CAL-05: the only powers that are computed are those known to fit."""
    longest = 0
    power = Fraction.__pow__

    def measured(a: Fraction, b: int) -> Fraction:
        nonlocal longest
        longest = max(longest, max(abs(a.numerator), a.denominator).bit_length() * abs(b))
        return power(a, b)

    monkeypatch.setattr(Fraction, "__pow__", measured)
    refusal("9**9**9")
    assert longest <= 4 * 9, "9**9, and no more"
    assert len(calculator("9**4000")) == 3817
    assert longest == 4 * 4000


@pytest.mark.parametrize(
    "expression",
    ["1" + "+1" * 20000, "9" * 100000, "-" * 5000 + "1"],
    ids=["sum", "number", "signs"],
)
def test_more_than_1000_characters_are_refused_unread(
    expression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case CAL-19."""
    monkeypatch.setattr("tools.calculator.parse", lambda text: pytest.fail(f"read {len(text)}"))
    assert "at most 1,000" in refusal(expression)


def test_1000_characters_of_anything_nested_end_in_an_answer_or_an_error() -> None:
    """Case CAL-19: neither the parser nor the evaluation recurses."""
    assert calculator("1" + "+1" * 499 + " ") == "500"
    assert calculator("9" * 1000) == "9" * 1000
    assert calculator("-" * 999 + "1") == "-1"
    assert calculator("1" + "**1" * 333) == "1"
    assert calculator("(" * 100 + "1" + ")" * 100) == "1"
    assert "100 nested parentheses" in refusal("(" * 101 + "1" + ")" * 101)
    assert "100 nested parentheses" in refusal("abs(" * 101 + "1" + ")" * 101)
    assert calculator("(1)+" * 249 + "1") == "250"


def test_long_operands_at_every_step_stay_within_the_memory_bound() -> None:
    tracemalloc.start()
    try:
        assert calculator("+".join(f"{n}**-900" for n in range(11, 99))).endswith("(rounded)")
        assert calculator("+".join(["sqrt(7**5001)"] * 70)).endswith("(rounded)")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


def test_the_interpreters_own_limit_on_digits_does_not_matter() -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert calculator("10**4299 + 1") == "1" + "0" * 4298 + "1"
        assert calculator("9" * 900 + "+1") == "1" + "0" * 900
    finally:
        sys.set_int_max_str_digits(limit)


def test_the_callers_decimal_context_does_not_matter() -> None:
    expressions = ["-sqrt(2)*3", "abs(-(2**0.5))", "1/3", "1e-200/7", "10**40+0.25", "-1.1**999"]
    usual = [calculator(expression) for expression in expressions]
    with decimal.localcontext(prec=2, rounding=decimal.ROUND_UP) as context:
        context.traps[decimal.Inexact] = True
        assert [calculator(expression) for expression in expressions] == usual


# --- properties ----------------------------------------------------------------------------------

OPERATORS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": lambda a, b: Fraction(a // b),
    "%": operator.mod,
}
Sum = tuple[str, Fraction | None]
"""The text of an expression and its value; None for a division by zero."""


def combined(sign: str, left: Sum, right: Sum) -> Sum:
    text = f"({left[0]}) {sign} ({right[0]})"
    if left[1] is None or right[1] is None or (right[1] == 0 and sign in {"/", "//", "%"}):
        return text, None
    return text, OPERATORS[sign](left[1], right[1])


literals: st.SearchStrategy[Sum] = st.decimals(
    min_value=0, max_value=10**6, places=3, allow_nan=False
).map(lambda number: (f"{number:f}", Fraction(number)))
sums: st.SearchStrategy[Sum] = st.recursive(
    literals,
    lambda inner: st.one_of(
        st.builds(combined, st.sampled_from(sorted(OPERATORS)), inner, inner),
        inner.map(lambda one: (f"-({one[0]})", None if one[1] is None else -one[1])),
        inner.map(lambda one: (f"({one[0]})%", None if one[1] is None else one[1] / 100)),
    ),
    max_leaves=8,
)


@bounded
@given(sums)
def test_every_sum_has_the_value_that_fractions_give(one: Sum) -> None:
    text, value = one
    if value is None:
        assert refusal(text) == "division by zero"
        return
    answer = calculator(text)
    fraction, approximately, _ = answer.partition(" ≈ ")
    if approximately or not answer.endswith(" (rounded)"):
        assert Fraction(fraction) == value
    else:
        assert abs(value_of(answer) - value) <= abs(value) * Fraction(1, 10**14)


numbers = st.builds("{}{}".format, st.sampled_from(["", "", "-"]), st.integers(0, 12))
operations = st.tuples(st.sampled_from([*sorted(OPERATORS), "**"]), numbers)


@bounded
@given(first=numbers, rest=st.lists(operations, max_size=6))
def test_without_parentheses_the_value_is_the_one_python_gives(
    first: str, rest: list[tuple[str, str]]
) -> None:
    # A power takes one small literal, so that Python's own answer stays a short fraction.
    pieces = [first, *(f"{sign} {'2' if sign == '**' else number}" for sign, number in rest)]
    assume("** 2 ** 2 ** 2" not in " ".join(pieces))
    text = " ".join(pieces)
    in_python = " ".join(
        f"-Fraction({word[1:]})"
        if word[0] == "-" and word[1:].isdigit()
        else f"Fraction({word})"
        if word.isdigit()
        else word
        for word in text.split()
    )
    try:
        value = eval(in_python, {"Fraction": Fraction})  # noqa: S307
    except ZeroDivisionError:
        assert refusal(text) == "division by zero"
        return
    answer = calculator(text)
    assert Fraction(answer.partition(" ≈ ")[0]) == value


WORDS = ["sqrt", "round", "max", "min", "abs", "(", ")", ",", "%", " ", "**", "//", "e", "-", "="]
soup = st.lists(st.sampled_from([*WORDS, *"0123456789.+*/", "99999", "1e-9", TIMES]), max_size=40)


@bounded
@given(st.one_of(st.text(), soup.map("".join), soup.map(" ".join)))
def test_any_text_gets_an_answer_or_one_line_of_error(text: str) -> None:
    try:
        answer = calculator(text)
    except CalculatorError:
        refusal(text)
    else:
        assert answer.isprintable()
        assert len(answer) <= 4_500


@bounded
@given(
    low=st.fractions(min_value=-1000, max_value=1000, max_denominator=999),
    high=st.fractions(min_value=-1000, max_value=1000, max_denominator=999),
)
def test_bounds_always_hold_the_true_value(low: Fraction, high: Fraction) -> None:
    between = BoundsArithmetic(5)
    a, b = between.of(low), between.of(high)
    for operation, true in (
        (between.add, low + high),
        (between.multiply, low * high),
        (between.divide, low / high if high else Fraction(0)),
    ):
        try:
            bounds = operation(a, b)
        except UndecidedError:
            assert high == 0
            continue
        assert Fraction(bounds.low) <= true <= Fraction(bounds.high)


@bounded
@given(value=st.integers(0, 10**40), degree=st.integers(1, 40))
def test_a_root_is_exact_or_none(value: int, degree: int) -> None:
    assert exact.root(Fraction(value) ** degree, degree) == value
    assert exact.root(Fraction(value) ** 2 + 1, 2) is None or value == 0


# --- the tool and its parts ----------------------------------------------------------------------


def test_the_description_says_in_one_line_when_to_use_it() -> None:
    summary = (calculator.__doc__ or "").splitlines()[0]
    assert "use it for every calculation" in summary
    assert "exact arithmetic" in summary


def test_an_expression_becomes_steps_in_postfix_order() -> None:
    assert parse("2 + 3*4") == [Fraction(2), Fraction(3), Fraction(4), ("*", 2), ("+", 2)]
