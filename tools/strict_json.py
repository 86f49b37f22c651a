"""JSON as the standard has it, read without guessing."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from tools.errors import ArgumentsError
from tools.redact import redact
from tools.text import clean_text, shorten

MAX_CHARACTERS = 1_000_000
"""Longer texts are refused unread."""


def loads(text: str) -> Any:
    """Read exactly one JSON value.

    Line breaks and tabs inside strings are accepted: models write them, and no reading of the text
    is lost by it. Duplicate keys, NaN, Infinity, numbers that overflow, and anything
    after the value are errors.

    Raises:
        ArgumentsError: Where the text broke, as the end of a sentence about it.
    """
    if len(text) > MAX_CHARACTERS:
        raise ArgumentsError(f"has {len(text):,} characters, more than {MAX_CHARACTERS:,}")
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as exc:
        raise ArgumentsError(_broken(text, exc)) from None
    except RecursionError:
        raise ArgumentsError("is nested too deeply") from None


def _broken(text: str, exc: json.JSONDecodeError) -> str:
    """Say where and how; the end of the text is the sign of a reply that was cut off."""
    end = len(text.rstrip())
    if exc.msg.startswith("Unterminated string"):
        where = f"in the middle of a string that begins at {_place(exc)}"
        return f"is not complete JSON: it ends {where}"
    if exc.msg.startswith("Extra data"):
        return f"is not one JSON value: it goes on after its end at {_place(exc)}{_near(text, exc)}"
    if exc.pos >= end or _CUT.fullmatch(text, exc.pos, end):
        return f"is not complete JSON: it ends at {_place(exc)}, where more was due"
    what = exc.msg[:1].lower() + exc.msg[1:]
    return f"is not JSON: {what} at {_place(exc)}{_near(text, exc)}"


def _place(exc: json.JSONDecodeError) -> str:
    return f"line {exc.lineno}, column {exc.colno} (character {exc.pos})"


def _near(text: str, exc: json.JSONDecodeError) -> str:
    rest = redact(clean_text(text[exc.pos : exc.pos + 400]))
    return f", near {json.dumps(shorten(rest, 40), ensure_ascii=False)}"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                shown = json.dumps(shorten(clean_text(key), 80), ensure_ascii=False)
                raise ArgumentsError(f"gives the key {shown} twice in one object")
            seen.add(key)
    return read


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ArgumentsError(f"holds a number that is too large: {shorten(digits, 40)}")
    return value


def _int(digits: str) -> int:
    if len(digits) > _INT_DIGITS:
        raise ArgumentsError(f"holds an integer of {len(digits):,} digits, which is too large")
    return int(digits)


def _constant(name: str) -> NoReturn:
    raise ArgumentsError(f"holds {name}, which is not JSON")


_INT_DIGITS = 4300
_CUT = re.compile(r"t(ru?)?|f(a(ls?)?)?|n(ul?)?|-|\.[0-9]*([eE][-+]?)?|[eE][-+]?|u[0-9a-fA-F]{0,3}")
"""How a value begins that was cut off: a word, a number, an escape in a string."""
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_float=_float,
    parse_int=_int,
    parse_constant=_constant,
    strict=False,
)
