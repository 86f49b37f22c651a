"""Fields that say null for "not known", taken out of a record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from tools.references import References
from tools.shape import Shape


class Leaver:
    """Takes out the fields of one schema that are null and might have been left out.

    Null stays where the field is required, or where it is a value of its own: the schema allows it
    and has another default.

    Args:
        schema: A part of the schema that records are checked by.
        references: The document that it is a part of.
        made: What was made of other parts of it, by their identity.
    """

    __slots__ = ("_made", "_references", "_schema", "_shape")

    def __init__(self, schema: Any, references: References, made: dict[int, Leaver]) -> None:
        self._schema, self._references, self._made = schema, references, made
        self._shape: Shape[Leaver] | None = None

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> Self:
        """Make it of a whole schema."""
        return cls(schema, References(schema), {})

    @property
    def shape(self) -> Shape[Leaver]:
        """What the schema's objects and arrays hold, worked out on first use."""
        if self._shape is None:
            self._shape = Shape(self._schema, self._references, self._part)
        return self._shape

    def object(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object in the schema's order, without the fields that are not known."""
        shape = self.shape
        fields = shape.fields(value)
        result = {}
        for name in dict.fromkeys([*(n for n in fields.properties if n in value), *value]):
            item = value[name]
            part = fields.properties.get(name)
            if part is None:
                result[name] = shape.others.value(item) if shape.others else item
            elif item is not None or name in fields.required or part.means_null():
                result[name] = part.value(item)
        return result

    def value(self, value: Any) -> Any:
        """Return any value likewise."""
        if isinstance(value, dict):
            return self.object(value)
        if not isinstance(value, list):
            return value
        shape = self.shape
        parts = [*shape.prefix, *[shape.items] * max(0, len(value) - len(shape.prefix))]
        return [
            part.value(item) if part else item for part, item in zip(parts, value, strict=False)
        ]

    def means_null(self) -> bool:
        """Tell whether null is a value of its own here: leaving the field out says another."""
        schema = self._schema
        return isinstance(schema, Mapping) and schema.get("default") is not None

    def _part(self, schema: Any) -> Leaver:
        if id(schema) not in self._made:
            self._made[id(schema)] = Leaver(schema, self._references, self._made)
        return self._made[id(schema)]
