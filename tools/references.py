"""Looking things up in a JSON schema, through `$ref` and `allOf`, recursive schemas included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal
from urllib.parse import unquote

import jsonschema_rs

Kind = Literal["string", "integer", "number", "boolean", "null", "object", "array"]

ALL_KINDS: frozenset[Kind] = frozenset(
    ("string", "integer", "number", "boolean", "null", "object", "array")
)
NOTHING: Any = object()


def kind_of(value: Any) -> Kind:
    """Name a JSON value's type as JSON schema does; a Python `bool` is no integer."""
    if isinstance(value, bool):
        return "boolean"
    for python, kind in _KINDS.items():
        if isinstance(value, python):
            return kind
    return "null"


_KINDS: dict[type, Kind] = {
    str: "string",
    int: "integer",
    float: "number",
    dict: "object",
    list: "array",
}


class References:
    """One schema document and what its parts say."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._kinds: dict[int, frozenset[Kind]] = {}

    def target(self, reference: str) -> Any:
        """Follow a local reference; one that leads elsewhere says nothing (`{}`)."""
        if not reference.startswith("#"):
            return {}
        found: Any = self._root
        for part in reference[1:].split("/")[1:]:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            elif isinstance(found, Mapping) and name in found:
                found = found[name]
            else:
                return {}
        return found

    def conjuncts(self, schema: Any) -> Iterator[Mapping[str, Any]]:
        """Yield the schema and all that must hold with it, by `$ref` and `allOf`."""
        waiting, seen = [schema], set()
        while waiting:
            part = waiting.pop(0)
            if not isinstance(part, Mapping) or id(part) in seen:
                continue
            seen.add(id(part))
            yield part
            if isinstance(part.get("$ref"), str):
                waiting.append(self.target(part["$ref"]))
            waiting.extend(part.get("allOf", ()))

    def in_place(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the subschemas that apply to the same value."""
        for word in ("allOf", "anyOf", "oneOf"):
            if isinstance(parts := schema.get(word), list):  # and no data that is called so
                yield from parts
        for word in ("if", "then", "else"):
            yield schema.get(word)
        if isinstance(parts := schema.get("dependentSchemas"), Mapping):
            yield from parts.values()
        if isinstance(schema.get("$ref"), str):
            yield self.target(schema["$ref"])

    def kinds(self, schema: Any) -> frozenset[Kind]:
        """Say which types of JSON value a schema may accept; a recursive part counts as any."""
        if not isinstance(schema, Mapping):
            return frozenset() if schema is False else ALL_KINDS
        if id(schema) not in self._kinds:
            self._kinds[id(schema)] = ALL_KINDS
            self._kinds[id(schema)] = self._narrowed(schema)
        return self._kinds[id(schema)]

    def default(self, schema: Any) -> Any:
        """Return the default a field declares and itself accepts, else `NOTHING`."""
        for part in self.conjuncts(schema):
            if "default" in part:
                return part["default"] if self._accepts(schema, part["default"]) else NOTHING
        return NOTHING

    def _narrowed(self, schema: Mapping[str, Any]) -> frozenset[Kind]:
        kinds = ALL_KINDS
        if "type" in schema:
            named = schema["type"]
            named = {named} if isinstance(named, str) else set(named)
            kinds &= named | ({"integer"} if "number" in named else set())
        allowed = [schema["const"]] if "const" in schema else schema.get("enum")
        if allowed is not None:
            listed = {kind_of(value) for value in allowed}
            kinds &= listed | ({"number"} if "integer" in listed and "number" in kinds else set())
        for word in ("anyOf", "oneOf"):
            if word in schema:
                kinds &= frozenset().union(*(self.kinds(branch) for branch in schema[word]))
        if isinstance(schema.get("$ref"), str):
            kinds &= self.kinds(self.target(schema["$ref"]))
        for part in schema.get("allOf", ()):
            kinds &= self.kinds(part)
        return kinds

    def _accepts(self, schema: Any, value: Any) -> bool:
        shared = {k: self._root[k] for k in ("$schema", "$defs", "definitions") if k in self._root}
        try:
            return jsonschema_rs.is_valid({**shared, "allOf": [schema]}, value)
        except (jsonschema_rs.ValidationError, ValueError):  # a reference into another part
            return kind_of(value) in self.kinds(schema)
