"""What the branches of a schema say of one object, put together."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.errors import ContractError
from tools.references import References

BRANCHES = {"anyOf": "at least one", "oneOf": "exactly one"}
CLOSING = ("additionalProperties", "unevaluatedProperties")
_MOST_BRANCHES = 1000


@dataclass(slots=True)
class Merged:
    """What parts of a schema say of one object, together.

    Attributes:
        fields: The schemas of each property.
        required: The properties that every part asks for, in order.
        fixed: The one value of each property that has one.
        said: Sentences on what belongs together.
        is_open: Whether other properties may be given, as a part says.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    is_open: bool = False


class Merger:
    """Puts together what applies to the same object.

    Args:
        tool: What to call it in an error.
        root: The whole schema.
    """

    def __init__(self, tool: str, root: Mapping[str, Any]) -> None:
        self._tool = tool
        self._references = References(root)
        self._left = _MOST_BRANCHES

    def merged(self, part: Mapping[str, Any], above: tuple[str, ...]) -> Merged:
        """Merge a part with all that is in it; `above`: the references it is reached by."""
        self._left -= 1
        if self._left < 0:
            raise ContractError(self._tool, f"its schema has more than {_MOST_BRANCHES} branches")
        found = Merged()
        for name, inner in (part.get("properties") or {}).items():
            if inner is not False:
                found.fields[name] = inner
                if (value := _only(inner)) is not None:
                    found.fixed[name] = value
        found.required = dict.fromkeys(part.get("required") or ())
        closing = [part[word] for word in CLOSING if word in part]
        found.is_open = bool(part.get("patternProperties")) or any(c is not False for c in closing)
        target = part.get("$ref")
        if isinstance(target, str) and target not in above:
            self._conjoin(found, self._references.target(target), (*above, target))
        for inner in part.get("allOf") or ():
            self._conjoin(found, inner, above)
        for word, many in BRANCHES.items():
            if word in part:
                self._branch(found, part[word], many, above)
        self._add_conditions(found, part, above)
        return found

    def _add_conditions(
        self, found: Merged, part: Mapping[str, Any], above: tuple[str, ...]
    ) -> None:
        """Add what holds under a condition, which is told as it is."""
        for word in ("then", "else"):
            self._add(found, part.get(word), above)
        for inner in (part.get("dependentSchemas") or {}).values():
            self._add(found, inner, above)
        for word in ("if", "not", "then", "else", "dependentSchemas"):
            if word in part:
                found.said.append(f"{word}: {json.dumps(part[word], ensure_ascii=False)}.")

    def _conjoin(self, found: Merged, part: Any, above: tuple[str, ...]) -> None:
        """Add what holds as well."""
        inner = self._add(found, part, above)
        if inner is not None:
            found.required |= inner.required
            found.fixed |= inner.fixed

    def _add(self, found: Merged, part: Any, above: tuple[str, ...]) -> Merged | None:
        """Add the properties of what may hold."""
        if not isinstance(part, Mapping):
            return None
        inner = self.merged(part, above)
        for name, schema in inner.fields.items():
            found.fields[name] = _narrowed(found.fields.get(name, {}), schema)
        found.said += inner.said
        found.is_open = found.is_open or inner.is_open
        return inner

    def _branch(self, found: Merged, parts: Any, many: str, above: tuple[str, ...]) -> None:
        """Add what branches say, one of which holds."""
        branches = [self.merged(part, above) for part in self._of_objects(parts)]
        fields: dict[str, list[Any]] = {}
        for branch in branches:
            for name, schema in branch.fields.items():
                fields.setdefault(name, []).append(schema)
            found.is_open = found.is_open or branch.is_open
        for name, schemas in fields.items():
            found.fields[name] = _narrowed(found.fields.get(name, {}), _either(schemas))
        if branches:
            shared = [n for n in branches[0].required if all(n in b.required for b in branches)]
            found.required |= dict.fromkeys(shared)
        told = list(dict.fromkeys(filter(None, map(_described, branches))))
        if len(told) > 1:
            found.said.append(f"Give {many} of: {'; or '.join(told)}.")
        for branch in branches:
            found.said += branch.said

    def _of_objects(self, parts: Any) -> Iterator[Mapping[str, Any]]:
        for part in parts:
            if part is True:
                yield {}
            elif isinstance(part, Mapping) and "object" in self._references.kinds(part):
                yield part


def _described(branch: Merged) -> str:
    """Name what a branch takes: `kind "card" with number and, if need be, note`."""
    fixed = [
        f"{name} {json.dumps(v, ensure_ascii=False)}"
        for name, v in branch.fixed.items()
        if name in branch.required or name in branch.fields
    ]
    needed = [name for name in branch.required if name not in branch.fixed]
    more = [n for n in branch.fields if n not in branch.required and n not in branch.fixed]
    said = " with ".join(filter(None, (", ".join(fixed), ", ".join(needed))))
    if not more:
        return said
    return f"{said} (optional: {', '.join(more)})" if said else f"any of {', '.join(more)}"


def _only(schema: Any) -> Any:
    """Return the one value that a property may have, or None."""
    if not isinstance(schema, Mapping):
        return None
    allowed = schema.get("enum")
    one = isinstance(allowed, list) and len(allowed) == 1
    return schema.get("const", allowed[0] if one and allowed else None)


def _narrowed(wide: Any, narrow: Any) -> Any:
    """Return the schema of a property of which both hold; where both say a word, the second's."""
    if not (isinstance(wide, Mapping) and isinstance(narrow, Mapping)):
        return wide or narrow
    both = {**wide, **narrow}
    if all(isinstance(one.get("properties"), Mapping) for one in (wide, narrow)):
        fields = {**wide["properties"]}
        for name, inner in narrow["properties"].items():
            fields[name] = _narrowed(fields.get(name, {}), inner)
        both["properties"] = fields
    return both


def _either(schemas: list[Any]) -> Any:
    """Return the schema of a property that fits one of several."""
    different = [one for n, one in enumerate(schemas) if one not in schemas[:n]]
    if len(different) == 1:
        return different[0]
    if {} in different or not all(isinstance(one, Mapping) for one in different):
        return {}
    values = [[one["const"]] if "const" in one else one.get("enum") for one in different]
    kinds = [one.get("type") for one in different]
    if all(values) and all(kind == kinds[0] for kind in kinds):
        allowed = [value for some in values for value in some or ()]
        listed = [value for n, value in enumerate(allowed) if value not in allowed[:n]]
        rest = {"type": kinds[0]} if kinds[0] else {}
        said = next((one["description"] for one in different if "description" in one), None)
        return {**rest, "enum": listed, **({"description": said} if said else {})}
    return {"anyOf": different}
