"""The tables of a tools file: the keys they may have, and what is said of one that is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tools.errors import ToolsFileError
from tools.text import nearest


class Kind(NamedTuple):
    """What a value must be: in words, and as a check."""

    told: str
    holds: Callable[[Any], bool]


TEXT = Kind("text", lambda value: isinstance(value, str))
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
NUMBER = Kind("a number", lambda value: _is_number(value, int | float))
COUNT = Kind("a number", lambda value: _is_number(value, int))
TEXTS = Kind("a list of texts", lambda value: isinstance(value, list) and _all_are(str, value))
TEXT_TABLE = Kind("a table of texts", lambda value: _is_table_of(str, value))
TABLES = Kind("a table of tables", lambda value: _is_table_of(dict, value))


def check_keys(file: Path, where: str, table: Mapping[str, Any], keys: Mapping[str, Kind]) -> None:
    """Refuse a key that is not known, and a value that is none of its kind.

    Raises:
        ToolsFileError: One line with file, table and reason.
    """
    for key, value in table.items():
        if key not in keys:
            raise ToolsFileError(file, f"unknown key {key!r}{hint(key, keys)}", where)
        if not keys[key].holds(value):
            raise ToolsFileError(file, f"{key} must be {keys[key].told}", where)


def hint(word: str, known: Iterable[str]) -> str:
    """Name the key that was probably meant."""
    near = nearest(word, known)
    return f"; did you mean {near!r}?" if near else ""


def check_seconds(file: Path, where: str, key: str, value: float | None) -> None:
    """Refuse a time that never comes, or has passed.

    Raises:
        ToolsFileError: It is not a number of seconds above 0.
    """
    if value is not None and not (math.isfinite(value) and value > 0):
        raise ToolsFileError(file, f"{key} is a number of seconds above 0, not {value!r}", where)


def _is_number(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _all_are(kind: type, values: Iterable[Any]) -> bool:
    return all(isinstance(value, kind) for value in values)


def _is_table_of(kind: type, value: Any) -> bool:
    return isinstance(value, dict) and _all_are(kind, value.values())
