"""What a schema's objects and arrays hold, with `$ref`, `allOf` and unions taken together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from tools.references import NOTHING, References

T = TypeVar("T")

_MAX_UNIONS = 4
"""Levels of unions within unions; deeper ones are left uncoerced."""


class Fields(Generic[T]):
    """The named fields of one object schema: what is known of each, which are required."""

    __slots__ = ("constants", "defaults", "properties", "required")

    def __init__(self) -> None:
        self.properties: dict[str, T] = {}
        self.required: frozenset[str] = frozenset()
        self.defaults: dict[str, Any] = {}
        self.constants: dict[str, list[Any]] = {}

    def add(
        self, schema: Mapping[str, Any], references: References, make: Callable[[Any], T]
    ) -> None:
        """Take in the fields of one part of the schema.

        A required field has no default here: what must be sent is not made up.
        """
        self.required |= frozenset(schema.get("required", ()))
        for name, field in schema.get("properties", {}).items():
            self.properties[name] = make(field)
            default = references.default(field)
            if default is not NOTHING:
                self.defaults[name] = default
            if isinstance(field, Mapping) and "const" in field:
                self.constants[name] = [field["const"]]
            elif isinstance(field, Mapping) and "enum" in field:
                self.constants[name] = field["enum"]
        for name in self.required:
            self.defaults.pop(name, None)

    def joined(self, other: Fields[T]) -> Fields[T]:
        """Return the fields of both."""
        both: Fields[T] = Fields()
        both.properties = self.properties | other.properties
        both.required = self.required | other.required
        both.defaults = {
            name: default
            for name, default in (self.defaults | other.defaults).items()
            if name not in both.required
        }
        return both

    def fit(self, value: Mapping[str, Any]) -> bool:
        """Whether an object has the constants (the discriminators) of this schema."""
        return bool(self.constants) and all(
            any(value.get(name, NOTHING) == allowed for allowed in constants)
            for name, constants in self.constants.items()
        )


class Shape(Generic[T]):
    """The parts of one schema, each turned into a `T`.

    Attributes:
        others: For properties that are not named, or None.
        items: For the items of arrays after `prefix`, or None.
        prefix: For the first items of arrays, one each.
    """

    __slots__ = ("_make", "_own", "_references", "_unions", "items", "others", "prefix")

    def __init__(self, schema: Any, references: References, make: Callable[[Any], T]) -> None:
        self._references = references
        self._make = make
        self._own: Fields[T] = Fields()
        self._unions: list[list[Fields[T]]] = []
        self.others: T | None = None
        self.items: T | None = None
        self.prefix: list[T] = []
        for part in references.conjuncts(schema):
            self._own.add(part, references, make)
            if isinstance(part.get("additionalProperties"), Mapping):
                self.others = make(part["additionalProperties"])
            self._add_items(part)
            for word in ("anyOf", "oneOf"):
                self._add_union(part.get(word, ()))

    def fields(self, value: Mapping[str, Any]) -> Fields[T]:
        """Return the fields that hold for this very object.

        Of a union's branches the only one is taken, or the only one whose constants the object
        has; where several could be meant, none is.
        """
        fields = self._own
        for branches in self._unions:
            fitting = branches if len(branches) == 1 else [b for b in branches if b.fit(value)]
            if len(fitting) == 1:
                fields = fields.joined(fitting[0])
        return fields

    def _add_items(self, part: Mapping[str, Any]) -> None:
        prefix, items = part.get("prefixItems", []), part.get("items", True)
        if isinstance(items, list):  # tuples, as drafts before 2020-12 write them
            prefix, items = items, part.get("additionalItems", True)
        if prefix:
            self.prefix = [self._make(item) for item in prefix]
        if isinstance(items, Mapping):
            self.items = self._make(items)

    def _add_union(self, branches: Any) -> None:
        kinds = self._references.kinds
        leaves = list(self._leaves(branches, 0))
        objects = [branch for branch in leaves if "object" in kinds(branch)]
        arrays = [branch for branch in leaves if "array" in kinds(branch)]
        if objects:
            self._unions.append([self._fields_of(branch) for branch in objects])
        if len(arrays) == 1:
            for part in self._references.conjuncts(arrays[0]):
                self._add_items(part)

    def _leaves(self, branches: Any, depth: int) -> Iterator[Any]:
        """Open unions within unions, as an optional union is written."""
        for branch in branches:
            inner = [
                leaf
                for part in self._references.conjuncts(branch)
                for word in ("anyOf", "oneOf")
                for leaf in part.get(word, ())
            ]
            if inner and depth < _MAX_UNIONS:
                yield from self._leaves(inner, depth + 1)
            else:
                yield branch

    def _fields_of(self, branch: Any) -> Fields[T]:
        fields: Fields[T] = Fields()
        for part in self._references.conjuncts(branch):
            fields.add(part, self._references, self._make)
        return fields
