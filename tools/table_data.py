"""Tables and named values in data: which parts of them a name hides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

_HEADS = ("columns", "headers", "header", "fields", "fieldnames")
_VALUES = frozenset(
    (
        *("v", "val", "value", "values", "raw", "plain", "plaintext", "plain_text", "stringvalue"),
        *("current", "previous", "new", "old", "string", ""),
    )
)
_ROWS = ("rows", "data", "values", "records")


def columns_of(rows: Sequence[Any], hides: Callable[[str], bool]) -> dict[int, str]:
    """Return which columns of a list of lists the first one names as hidden; none: no table."""
    head = rows[0] if len(rows) > 1 else None
    if not isinstance(head, list | tuple) or not all(isinstance(name, str) for name in head):
        return {}
    if not all(_is_row(row, len(head)) for row in rows[1:]):
        return {}
    return {column: name for column, name in enumerate(head) if hides(name)}


def _is_row(row: Any, width: int) -> bool:
    return isinstance(row, list | tuple) and len(row) == width


def split_table(fields: Mapping[Any, Any], hides: Callable[[str], bool]) -> dict[str, Any]:
    """Return the columns that `{"columns": [...], "rows": [[...]]}` hides, by where its rows are.

    A column may be a name, or a mapping that has one.
    """
    heads = (fields.get(key) for key in _HEADS if key in fields)
    head = next((head for head in heads if isinstance(head, list) and head), None)
    if head is None:
        return {}
    names = [name.get("name") if isinstance(name, Mapping) else name for name in head]
    hidden = {n: name for n, name in enumerate(names) if isinstance(name, str) and hides(name)}
    if not hidden:
        return {}
    return {
        key: hidden
        for key in _ROWS
        if isinstance(rows := fields.get(key), list) and all(_is_row(r, len(head)) for r in rows)
    }


def value_keys(fields: Mapping[Any, Any]) -> list[Any]:
    """Return where `{"value": ...}`, which stands behind a name, has what the name means.

    What else stands beside it is about the value: its type, when it ends, a description.
    """
    return [key for key in fields if isinstance(key, str) and key.lower().strip("#$_") in _VALUES]


def headed(fields: Mapping[Any, Any], hides: Callable[[str], bool]) -> dict[str, str]:
    """Return by what name the value of `{"name": "password", "value": ...}` is known."""
    if "value" not in fields:
        return {}
    names = (fields.get(key) for key in ("name", "key", "field", "header"))
    return next(({"value": n} for n in names if isinstance(n, str) and hides(n)), {})
