"""Python values as data that every JSON parser reads, and as notes where they are no data."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import functools
import json
import math
import sys
import uuid
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from typing import Any

from tools.text import clean_text

MAX_DEPTH = 50
_DIGITS = 4000
"""Integers of more digits are described: Python itself refuses to print them."""

_SIGNATURES = {
    b"\x89PNG": "PNG image",
    b"\xff\xd8\xff": "JPEG image",
    b"GIF8": "GIF image",
    b"%PDF": "PDF",
    b"PK\x03\x04": "ZIP archive",
    b"\x1f\x8b": "gzip data",
    b"SQLite format 3\0": "SQLite database",
}


def as_json(data: Any) -> str:
    """Write plain data as compact JSON."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def as_text(value: Any) -> str:
    """Write any value: what is data as compact JSON, the rest as the text it has become."""
    if isinstance(value, dict | list | tuple):
        try:
            written = _FAST.encode(value)
        except (TypeError, ValueError, RecursionError):
            pass  # NaN, long integers, unusual keys, loops: piece by piece
        else:
            if "\\u0000" not in written:
                return written
    data = plain(value)
    return data if isinstance(data, str) else as_json(data)


def plain(value: Any) -> Any:
    """Turn any value into plain data: text, numbers, booleans, None, lists, dicts."""
    return _plain(value, 0)


@functools.singledispatch
def _plain(value: Any, depth: int) -> Any:
    """Turn one value into data; what is no data says what it is."""
    if (fields := dumped(value)) is not value:
        return _inner(fields, depth)
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        return _inner(value.tolist(), depth)
    return _described(value)


def _inner(value: Any, depth: int) -> Any:
    return "[nested too deeply, not shown]" if depth >= MAX_DEPTH else _plain(value, depth + 1)


@_plain.register(type(None))
@_plain.register(bool)
def _as_it_is(value: bool | None, _depth: int) -> Any:  # noqa: FBT001
    return value


@_plain.register
def _text(value: str, _depth: int) -> Any:
    return clean_text(str.__str__(value))


@_plain.register
def _integer(value: int, _depth: int) -> Any:
    digits = int(value.bit_length() * math.log10(2)) + 1
    return int(value) if digits <= _DIGITS else f"[integer of about {digits:,} digits, not shown]"


@_plain.register
def _float(value: float, _depth: int) -> Any:
    if math.isfinite(value):
        return float(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


@_plain.register
def _decimal(value: Decimal, depth: int) -> Any:
    if value.is_finite():
        return str(value)
    return "NaN" if value.is_nan() else _float(float(value), depth)


@_plain.register(Fraction)
@_plain.register(dt.timedelta)
@_plain.register(uuid.UUID)
@_plain.register(PurePath)
def _said(value: Any, _depth: int) -> Any:
    return clean_text(str(value))


@_plain.register(dt.date)
@_plain.register(dt.time)
def _moment(value: dt.date | dt.time, _depth: int) -> Any:
    return value.isoformat()


@_plain.register
def _enum(value: enum.Enum, depth: int) -> Any:
    return _inner(value.value, depth)


@_plain.register(bytes)
@_plain.register(bytearray)
@_plain.register(memoryview)
def _binary(value: Any, _depth: int) -> Any:
    return binary_note(bytes(value))


@_plain.register(Mapping)
def _mapping(value: Mapping[Any, Any], depth: int) -> Any:
    return {_key(key): _inner(item, depth) for key, item in value.items()}


@_plain.register(list)
@_plain.register(tuple)
@_plain.register(collections.deque)
def _sequence(value: Any, depth: int) -> Any:
    return [_inner(item, depth) for item in value]


@_plain.register(set)
@_plain.register(frozenset)
def _set(value: Any, depth: int) -> Any:
    items = [_inner(item, depth) for item in value]
    return sorted(items, key=lambda item: (type(item).__name__, as_json(item)))


_FAST = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=plain)


def binary_note(data: bytes) -> str:
    """Describe bytes by type and size."""
    kind = next((name for start, name in _SIGNATURES.items() if data.startswith(start)), None)
    return f"[binary result, {f'{kind}, ' if kind else ''}{len(data):,} bytes, not shown]"


def dumped(value: Any) -> Any:
    """Return the fields of a Pydantic model or a dataclass, any other value as it is."""
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and isinstance(value, pydantic.BaseModel):
        return value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    return value


def _described(value: Any) -> str:
    """Return what a value says of itself; Python's own `<… at 0x…>` says nothing."""
    note = f"[{type(value).__name__}, not shown]"
    try:
        text = clean_text(str(value))
    except Exception:  # noqa: BLE001 - a foreign __str__ may fail in any way
        return note
    return note if " at 0x" in text else text


def _key(key: Any) -> str:
    value = plain(key)
    return value if isinstance(value, str) else as_json(value)
