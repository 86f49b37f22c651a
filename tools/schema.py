"""Closed, self-contained JSON schemas: what a model is shown and what its calls are checked by."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tools.errors import ContractError
from tools.references import References
from tools.schema_loops import check_loops
from tools.text import one_line
from tools.validator import compiled

MAX_CHARACTERS = 100_000
"""A schema travels in every request; a longer one would crowd out the conversation."""

MAX_DEPTH = 100
"""Levels of nesting of the schema's own text."""

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = (
    *("items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems"),
    *("contains", "propertyNames", "additionalItems", "not", "if", "then", "else"),
)
_COMPOSED = ("allOf", "anyOf", "oneOf", "if", "dependentSchemas", "$ref")


def closed(tool: str, schema: Any, *, generated: bool) -> dict[str, Any]:
    """Return the schema as it is shown and checked.

    A missing schema, or `{}`, takes no arguments. One that says nothing of additional properties
    takes none at its top level; a tool opts in by `additionalProperties`. Arrays get their
    `items`. Schemas generated from Python are closed at every level and lose their titles.

    Raises:
        ContractError: It is no schema of an object, is ill-formed, refers to something it does
            not contain, or is longer or deeper than the limits above.
    """
    schema = {} if schema is None else schema
    if not isinstance(schema, Mapping):
        raise ContractError(tool, f"its schema must be a JSON object, not {_name(schema)}")
    check_size(tool, schema)
    compiled(tool, schema)
    check_loops(tool, schema)
    shown: dict[str, Any] = _top(tool, schema)
    if generated:
        shown = rewritten(shown, _close, conjunct=False)
    shown = rewritten(shown, _complete, conjunct=False)
    if "additionalProperties" not in shown and "unevaluatedProperties" not in shown:
        composed = any(word in shown for word in _COMPOSED) and _names_elsewhere(shown)
        shown["unevaluatedProperties" if composed else "additionalProperties"] = False
    return shown


def _top(tool: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the top level as an object with properties; a mere reference is replaced."""
    references = References(schema)
    top = dict(schema)
    for _ in range(len(schema) + 8):
        if not isinstance(top.get("$ref"), str):
            break
        rest = {key: value for key, value in top.items() if key != "$ref"}
        top = {**references.target(top["$ref"]), **rest}
    kinds = references.kinds(top)
    if "object" not in kinds:
        raise ContractError(tool, "its schema must describe an object of named arguments")
    top["type"] = "object"
    top.setdefault("properties", {})
    return {"type": "object", "properties": top["properties"], **top}


def rewritten(
    schema: Any, change: Callable[[dict[str, Any], bool], None], *, conjunct: bool = False
) -> Any:
    """Copy a schema, applying a change to each subschema but not to the data it holds."""
    if not isinstance(schema, Mapping):
        return schema
    copy: dict[str, Any] = dict(schema)
    for word in _MAPS:
        if isinstance(copy.get(word), Mapping):
            copy[word] = {
                name: rewritten(part, change, conjunct=False) for name, part in copy[word].items()
            }
    for word in (*_LISTS, "items"):
        if isinstance(copy.get(word), list):
            inner = word == "allOf"
            copy[word] = [rewritten(part, change, conjunct=inner) for part in copy[word]]
    for word in _SINGLE:
        if isinstance(copy.get(word), Mapping):
            copy[word] = rewritten(
                copy[word], change, conjunct=word in {"not", "if", "then", "else"}
            )
    change(copy, conjunct)
    return copy


def _close(schema: dict[str, Any], conjunct: bool) -> None:  # noqa: FBT001
    """Close an object that names its properties, unless others are named beside it."""
    if isinstance(schema.get("title"), str):
        del schema["title"]
    composed = conjunct or any(word in schema for word in _COMPOSED)
    if "properties" in schema and not composed:
        schema.setdefault("additionalProperties", False)


def _complete(schema: dict[str, Any], _conjunct: bool) -> None:  # noqa: FBT001
    """Say that an array's items may be anything, where it is left open: providers insist."""
    kinds = schema.get("type")
    if kinds == "array" or (isinstance(kinds, list) and "array" in kinds):
        schema.setdefault("items", {})


def _names_elsewhere(schema: Mapping[str, Any]) -> bool:
    """Whether parts other than the top level itself name properties."""
    references = References(schema)
    waiting: list[Any] = [schema]
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Mapping) or id(part) in seen:
            continue
        seen.add(id(part))
        if part is not schema and part.get("properties"):
            return True
        waiting.extend(references.in_place(part))
    return False


def check_size(tool: str, schema: Mapping[str, Any]) -> None:
    """Refuse a schema that is longer or deeper than the limits above.

    Raises:
        ContractError: It is, or it is no JSON.
    """
    # What is neither dict nor list is a leaf, or no JSON, which is seen below. Asking each leaf
    # whether it is a `Mapping` would walk through every subclass that was ever imported.
    level: list[Any] = list(schema.values())
    for _ in range(MAX_DEPTH):
        level = [
            child
            for part in level
            if isinstance(part, dict | list)
            for child in (part.values() if isinstance(part, dict) else part)
        ]
        if not level:
            break
    else:
        raise ContractError(tool, f"its schema is nested deeper than {MAX_DEPTH} levels")
    try:
        size = len(json.dumps(schema, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError) as exc:
        raise ContractError(tool, f"its schema is not JSON: {one_line(str(exc))}") from None
    if size > MAX_CHARACTERS:
        raise ContractError(
            tool, f"its schema has {size:,} characters, more than {MAX_CHARACTERS:,}"
        )


def _name(value: object) -> str:
    return "a boolean" if isinstance(value, bool) else f"a {type(value).__name__}"
