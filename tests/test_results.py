"""Results and errors as text: one rule for every kind of value, limited and without secrets."""

import collections
import enum
import json
import unicodedata
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import ToolMessage
from pydantic import BaseModel

from tools.calculator import CalculatorError
from tools.results import describe_error, limit, render

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.binary(max_size=20)
    | st.decimals()
    | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters()) | st.integers() | st.none(), inner, max_size=4)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


def strict(text: str) -> Any:
    def refuse(name: str) -> NoReturn:
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


# --- rendering -------------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Tone(enum.StrEnum):
    SOFT = "soft"


@dataclass
class Point:
    x: int
    y: float


class Price(BaseModel):
    amount: Decimal
    on: date


class Mute:
    pass


class Torn(collections.UserDict[str, Any]):
    def items(self) -> NoReturn:
        raise RuntimeError


class Broken:
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n {", "as it is\n {"),
        ("", "(empty text)"),
        (None, "(no result)"),
        ("null", "(no result)"),
        (3, "3"),
        (True, "true"),
        (2.5, "2.5"),
        ({"a": [1, None, "é"]}, '{"a":[1,null,"é"]}'),
        ([], "[]"),
        ((1, 2), "[1,2]"),
        ({3, 1, 2}, "[1,2,3]"),
        (frozenset({"b", "a"}), '["a","b"]'),
        (collections.deque([1]), "[1]"),
        ({1: "a", None: "b", False: "c"}, '{"1":"a","null":"b","false":"c"}'),
        (Decimal("12.50"), "12.50"),
        (Fraction(1, 3), "1/3"),
        (datetime(2026, 1, 2, 3, 4, tzinfo=UTC), "2026-01-02T03:04:00+00:00"),
        ({"on": date(2026, 1, 2)}, '{"on":"2026-01-02"}'),
        (timedelta(hours=1), "1:00:00"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Path("a/b"), "a/b"),
        (Colour.RED, "red"),
        ([Colour.RED, Level.LOW, Tone.SOFT], '["red",1,"soft"]'),
        (Tone.SOFT, "soft"),
        (Point(1, float("inf")), '{"x":1,"y":"Infinity"}'),
        (Price(amount=Decimal("1.10"), on=date(2026, 1, 2)), '{"amount":"1.10","on":"2026-01-02"}'),
        ([Point(1, 2.0)], '[{"x":1,"y":2.0}]'),
        (Mute(), "[Mute, not shown]"),
        (Broken(), "[Broken, not shown]"),
        (Torn(a=1), "[Torn, not shown]"),
        ({"f": Mute()}, '{"f":"[Mute, not shown]"}'),
        ((n for n in range(3)), "[generator, not shown]"),
        (range(10**12), "range(0, 1000000000000)"),
        (ValueError("no such order"), "ValueError: no such order"),
        (ToolMessage("told", tool_call_id="1"), "told"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "invoice", "text": "a"}], '[{"type":"invoice","text":"a"}]'),
        (
            ToolMessage([{"type": "text", "text": "see"}], tool_call_id="1"),
            "see",
        ),
        (
            [{"type": "image", "base64": "AAAA", "mime_type": "image/png"}],
            "[image, image/png, 3 bytes, not shown]",
        ),
        (
            [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}],
            "[image, not shown]",
        ),
        ([{"type": "resource", "resource": {"uri": "file:a", "text": "inside"}}], "inside"),
    ],
)
def test_every_kind_of_value_has_its_text(value: Any, text: str) -> None:
    assert render(value) == text


def test_bytes_become_a_note_of_type_and_size() -> None:
    """Case RES-09."""
    picture = b"\x89PNG" + b"\0" * 49_996
    assert render(picture) == "[binary result, PNG image, 50,000 bytes, not shown]"
    assert render(b"\xff" * 50_000) == "[binary result, 50,000 bytes, not shown]"
    assert render(bytearray(b"x")) == "[binary result, 1 bytes, not shown]"
    assert render({"data": picture}) == (
        '{"data":"[binary result, PNG image, 50,000 bytes, not shown]"}'
    )


def test_numbers_that_json_has_not_are_texts() -> None:
    """Case RES-11."""
    text = render({"mean": float("nan"), "max": float("inf"), "min": float("-inf")})
    assert strict(text) == {"mean": "NaN", "max": "Infinity", "min": "-Infinity"}
    assert render(float("nan")) == "NaN"
    assert render(Decimal("sNaN")) == "NaN"


@given(anything)
def test_any_value_is_rendered_as_text_that_can_be_stored_and_data_as_strict_json(
    value: Any,
) -> None:
    text = render(value)
    text.encode()
    assert "\0" not in text
    assert text
    if isinstance(value, dict | tuple) or (isinstance(value, list) and value):
        strict(text)


def test_data_that_holds_itself_or_is_nested_without_end_is_rendered() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert "nested too deeply" in render(loop)
    strict(render(loop))


def test_an_integer_too_long_to_print_is_described() -> None:
    assert render(10**5000) == "[integer of about 5,001 digits, not shown]"
    strict(render([10**5000]))


# --- limits ----------------------------------------------------------------------------------


def test_a_long_result_keeps_head_and_tail_and_states_its_true_size() -> None:
    """Case RES-05."""
    text = "first\n" + "row\n" * 400_000 + "last"
    cut = limit(text, 4000)
    assert len(cut) <= 4000
    assert cut.startswith("first\nrow\n")
    assert cut.endswith("row\nlast")
    assert "[… 1,600,010 characters in all, the middle left out …]" in cut
    assert limit("short", 4000) == "short"


def test_a_text_that_was_cut_before_states_its_first_size() -> None:
    assert "[… 5,000,000 characters in all" in limit("x" * 1000, 100, size=5_000_000)


@pytest.mark.parametrize("n", [1000, 1001, 1002])
def test_no_character_is_cut_in_two(n: int) -> None:
    """Case RES-07."""
    cut = limit("日本🙂" * 2000, n)
    assert len(cut) <= n
    cut.encode()
    assert "\ufffd" not in cut
    assert set(cut.split("\n[")[0]) == set("日本🙂")


@given(st.text(max_size=400), st.integers(-3, 300))
def test_a_limited_text_is_never_longer_than_its_limit(text: str, n: int) -> None:
    cut = limit(text, n)
    assert len(cut) <= max(n, 0) or len(text) <= n
    assert cut == text or len(text) > n
    cut.encode()


CLUSTERS = [
    "e\u0301",
    "👩\u200d👩\u200d👧",
    "🇩🇪",
    "👍🏽",
    "❤\ufe0f",
    "\r\n",
    "\\n",
    "\\u00e9",
    "क\u094d",
]


@given(st.lists(st.sampled_from([*CLUSTERS, "a", "🙂", " "]), min_size=80), st.integers(60, 120))
def test_what_is_one_character_to_a_reader_or_one_escape_is_kept_whole(
    parts: list[str], n: int
) -> None:
    text = "".join(parts)
    cut = limit(text, n)
    if cut == text:
        return
    head, _, tail = cut.partition("\n[… ")
    tail = tail.partition(" …]\n")[2]
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(part))
    assert len(head) in starts
    assert len(text) - len(tail) in starts


# --- errors ----------------------------------------------------------------------------------


def raised(function: Any) -> BaseException:
    with pytest.raises(BaseException) as caught:
        function()
    return caught.value


def test_an_error_carries_neither_secret_nor_path_nor_traceback() -> None:
    """Case RES-13."""
    exc = RuntimeError("401 for https://x.example/?key=sk-live-9 at /srv/app/a.py")
    assert describe_error(exc) == "RuntimeError: 401 for https://x.example/?key=[redacted] at a.py"


@pytest.mark.parametrize(
    ("exc", "said"),
    [
        (TimeoutError(), "TimeoutError"),
        (KeyError("city"), "KeyError: no 'city'"),
        (ValueError("one\n two\n\tthree"), "ValueError: one two three"),
        (
            FileNotFoundError(2, "No such file or directory", "/srv/app/data/a.csv"),
            "FileNotFoundError: [Errno 2] No such file or directory: 'a.csv'",
        ),
        (OSError(r"C:\Users\ann\app\a.py is locked"), "OSError: a.py is locked"),
        (OSError("file:///srv/app/a.py"), "OSError: a.py"),
        (OSError("https://x.example/srv/app/a"), "OSError: https://x.example/srv/app/a"),
        (OSError("1/2 of 3/4/5 and/or"), "OSError: 1/2 of 3/4/5 and/or"),
        (
            ExceptionGroup("two failed", [ValueError("a"), OSError("b")]),
            "ExceptionGroup: two failed; ValueError: a; OSError: b",
        ),
        (ValueError("\ud83c\0"), "ValueError: \ufffd"),
    ],
)
def test_an_error_is_one_line_of_type_and_message(exc: BaseException, said: str) -> None:
    assert describe_error(exc) == said


def test_a_sentence_of_ours_needs_no_type_before_it() -> None:
    assert describe_error(CalculatorError("division by zero")) == "division by zero"
    assert describe_error(CalculatorError()) == "CalculatorError"


def test_an_error_is_bounded_and_one_that_cannot_be_printed_has_its_type() -> None:
    class OddError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert len(describe_error(ValueError("x " * 10_000))) == 500
    assert describe_error(OddError()) == "OddError"


def test_a_validation_error_raised_by_a_tool_does_not_quote_its_input() -> None:
    exc = raised(lambda: Price.model_validate({"token": "tok-123"}))
    said = describe_error(exc)
    assert said == "ValidationError: amount: Field required; on: Field required"


def test_categories_of_joined_characters_are_what_the_limit_assumes() -> None:
    assert {unicodedata.category(c) for c in "\u0301\u094d\ufe0f"} == {"Mn"}
