"""Values as JSON, checkpoints and requests can hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tools.errors import ArgumentsError
from tools.text import clean_text, shorten

MAX_DEPTH = 100
"""Levels of nesting; validators and serializers have limits not far above."""

MIN_INTEGER, MAX_INTEGER = -(2**63), 2**64 - 1
"""What a checkpoint can hold as an integer."""


def clean(arguments: Any) -> dict[str, Any]:
    """Return arguments that can be stored and sent; nothing else about them changes.

    Lone surrogates become U+FFFD and NUL characters are removed, in keys and values.

    Raises:
        ArgumentsError: A number that JSON or a checkpoint can't hold, nesting beyond 100 levels,
            or a value that is not JSON.
    """
    if not isinstance(arguments, Mapping):
        raise ArgumentsError("the arguments must be one JSON object")
    return _object(arguments, 1)


def clean_value(value: Any, depth: int = 0) -> Any:
    """Clean one value as `clean` does."""
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not MIN_INTEGER <= value <= MAX_INTEGER:
            raise ArgumentsError("the arguments hold an integer beyond 64 bits; send it as text")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ArgumentsError(f"the arguments hold {value}, which is not JSON")
        return value
    if isinstance(value, Mapping):
        return _object(value, depth + 1)
    if isinstance(value, list | tuple):
        _check_depth(depth + 1)
        return [clean_value(item, depth + 1) for item in value]
    raise ArgumentsError(f"the arguments hold a {type(value).__name__}, which is not JSON")


def copied(value: Any) -> Any:
    """Copy a JSON value deeply, so that nobody can alter what is on record."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def _object(value: Mapping[str, Any], depth: int) -> dict[str, Any]:
    _check_depth(depth)
    cleaned: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise ArgumentsError("the arguments hold a key that is no text")
        name = clean_text(key)
        if name in cleaned:
            raise ArgumentsError(f"the arguments give the key {shorten(name, 80)!r} twice")
        cleaned[name] = clean_value(item, depth)
    return cleaned


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ArgumentsError(f"the arguments are nested deeper than {MAX_DEPTH} levels")
