"""Coercions that lose nothing, read off the schema once, and the schema's defaults.

The rules, in the order in which they are applied to a value:

* Text is decoded as JSON, once, where the schema allows no text and allows what it decodes to:
  `"4"` for an integer, `"[1]"` for an array, `"false"` (also `"False"`) for a boolean. Never
  where text is allowed, and never `"4.5"` for an integer: what does not fit is left for validation.
* Blank text is an empty object where the schema allows nothing but an object, as it is for the
  arguments as a whole.
* A number without a fraction becomes an integer where the schema allows only integers.
* null for a field that is neither required nor nullable counts as the field left out.
* A field left out gets its default, also in nested objects that were sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tools.errors import ArgumentsError
from tools.plain import clean_value, copied
from tools.references import References, kind_of
from tools.shape import Shape
from tools.strict_json import loads

_PYTHON_BOOLEANS = {"True": True, "False": False}
_EXACT = 2**53
"""Up to here every integer has a float of its own."""


class Plans:
    """The plans of one schema document, each made once."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.references = References(root)
        self._made: dict[int, Plan] = {}

    def __call__(self, schema: Any) -> Plan:
        """Return the plan of a part of the document."""
        plan = self._made.get(id(schema))
        if plan is None:
            plan = self._made[id(schema)] = Plan(schema, self)
        return plan


class Plan:
    """What one schema lets be coerced; its parts are worked out on first use."""

    __slots__ = ("_plans", "_shape", "kinds", "schema")

    def __init__(self, schema: Any, plans: Plans) -> None:
        self.schema = schema
        self.kinds = plans.references.kinds(schema)
        self._plans = plans
        self._shape: Shape[Plan] | None = None

    @property
    def shape(self) -> Shape[Plan]:
        """What the schema's objects and arrays hold."""
        if self._shape is None:
            self._shape = Shape(self.schema, self._plans.references, self._plans)
        return self._shape

    def object(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object with its fields coerced and completed."""
        shape = self.shape
        fields = shape.fields(value)
        result = {}
        for name, item in value.items():
            plan = fields.properties.get(name)
            if plan is None:
                result[name] = shape.others.value(item) if shape.others else item
            elif item is not None or "null" in plan.kinds or name in fields.required:
                result[name] = plan.value(item)
        for name, default in fields.defaults.items():
            if name not in result:
                result[name] = fields.properties[name].value(copied(default))
        return result

    def value(self, value: Any) -> Any:
        """Return any value coerced, and what it holds."""
        if isinstance(value, str):
            if "string" in self.kinds:
                return value
            value = self._decoded(value)
        if isinstance(value, float):
            only_integers = "integer" in self.kinds and "number" not in self.kinds
            return int(value) if only_integers and _whole(value) else value
        if isinstance(value, dict):
            return self.object(value)
        return self._array(value) if isinstance(value, list) else value

    def _array(self, value: list[Any]) -> list[Any]:
        shape = self.shape
        result = []
        for index, item in enumerate(value):
            plan = shape.prefix[index] if index < len(shape.prefix) else shape.items
            result.append(plan.value(item) if plan else item)
        return result

    def _decoded(self, text: str) -> Any:
        """Decode text where text is not allowed; text that loses or does not fit stays text."""
        if self.kinds == {"object"} and not text.strip():
            return {}
        if text in _PYTHON_BOOLEANS and "boolean" in self.kinds:
            return _PYTHON_BOOLEANS[text]
        try:
            value = clean_value(loads(text))
        except ArgumentsError:
            return text
        if isinstance(value, float):
            if Decimal(text.strip()) != Decimal(repr(value)):
                return text
            if _whole(value) and "integer" in self.kinds:
                return value
        return value if kind_of(value) in self.kinds else text


def normalize(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Coerce and complete arguments by a schema; a contract keeps the plan instead."""
    return Plans(schema)(schema).object(arguments)


def _whole(value: float) -> bool:
    return value.is_integer() and abs(value) <= _EXACT
