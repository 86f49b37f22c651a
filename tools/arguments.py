"""The arguments of a call: read from the model's raw text, cleaned, coerced and validated.

Reading is strict, because a guess about arguments is an action nobody asked for: cut-off text, two
objects glued together, duplicate keys, NaN and Infinity are errors that say where the text broke.
"""

from __future__ import annotations

from typing import Any

from tools.coercion import normalize
from tools.errors import ArgumentsError
from tools.plain import clean, copied
from tools.strict_json import loads
from tools.validation import problems, validate

__all__ = [
    "ArgumentsError",
    "clean",
    "copied",
    "normalize",
    "parse_arguments",
    "problems",
    "validate",
]


def parse_arguments(raw: str) -> dict[str, Any]:
    """Read the raw text of a call's arguments.

    Empty text and `null` are `{}`, so that validation names what is missing. Text that holds the
    object as a JSON string (encoded twice) is decoded once more.

    Raises:
        ArgumentsError: One sentence that says where the text broke.
    """
    if not raw.strip():
        return {}
    try:
        value = loads(raw)
        if isinstance(value, str) and value.lstrip()[:1] == "{":
            value = loads(value)
    except ArgumentsError as exc:
        raise ArgumentsError(f"the text of the arguments {exc}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        kind = {list: "an array", str: "a string", bool: "a boolean"}.get(type(value), "a number")
        raise ArgumentsError(f"the arguments must be one JSON object, got {kind}")
    return clean(value)
