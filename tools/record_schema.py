"""The schema of a record, in one place: what it is made of, and what is checked by it.

A record's schema is a Pydantic model or a JSON schema. It is closed at every level, every field of
it is described, and a field that is not required may be null (seed 000, "Forced output tool"; SPEC
section 10).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tools.errors import ContractError
from tools.references import References
from tools.schema import closed, rewritten
from tools.text import one_line, shorten
from tools.validation import NOT_BLANK

_REFUSED = ("allOf", "not", "if", "then", "else", "dependentSchemas", "unevaluatedProperties")
_BOUNDS = {
    "ge": "minimum",
    "le": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
}
_RULES_OF_TEXT = ("minLength", "maxLength", "pattern", "format", "enum", "const")


def source_schema(tool: str, schema: Any) -> dict[str, Any]:
    """Return the JSON schema of a Pydantic model, or a mapping as the JSON schema that it is.

    Raises:
        ContractError: It is neither, or a field of the model has no JSON schema.
    """
    if isinstance(schema, Mapping):
        return dict(schema)
    from pydantic import BaseModel
    from pydantic.errors import PydanticUserError
    from pydantic.json_schema import GenerateJsonSchema

    class Generate(GenerateJsonSchema):
        """Writes a decimal as a number alone: a record's numbers are never text."""

        def decimal_schema(self, schema: Any) -> dict[str, Any]:
            bounds = {key: schema[key] for key in _BOUNDS if key in schema}
            return {"type": "number", **{_BOUNDS[key]: float(n) for key, n in bounds.items()}}

    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        raise ContractError(tool, f"its schema must be a Pydantic model, not {_told(schema)}")
    try:
        return schema.model_json_schema(schema_generator=Generate)
    except (PydanticUserError, TypeError, NameError) as exc:
        reason = shorten(one_line(str(exc)), 300)
        raise ContractError(tool, f"{schema.__name__} has no JSON schema: {reason}") from None


def record_schema(tool: str, source: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema that records are checked by; `source` is not changed.

    * Objects that name their fields take no others.
    * A field that is not required may be null.
    * Text must not be blank, unless its field has a rule of its own (`min_length=0` is one).

    Raises:
        ContractError: It is no schema of an object with fields, a field is not described, or it
            uses a keyword that a record's schema may not have.
    """
    schema = closed(tool, source, generated=True)
    if not schema["properties"]:
        raise ContractError(tool, "its schema has no fields")
    for path, part in subschemas(schema):
        if used := [word for word in _REFUSED if word in part]:
            where = f" at '{path}'" if path else ""
            raise ContractError(tool, f"its schema uses '{used[0]}'{where}: write it without")
        for name, field in (part.get("properties") or {}).items():
            described = isinstance(field, Mapping) and str(field.get("description") or "").strip()
            if not described:
                within = f"{path}.{name}" if path else name
                raise ContractError(
                    tool,
                    f"its field '{within}' has no description: "
                    f"say what to write there, as in {name}: ... = Field(description='...')",
                )
    references = References(schema)

    def change(part: dict[str, Any], _conjunct: bool) -> None:  # noqa: FBT001 - as `rewritten` calls
        if part.get("type") == "string" and not any(word in part for word in _RULES_OF_TEXT):
            part["pattern"] = NOT_BLANK
        if part.get("properties"):
            if not isinstance(part.get("additionalProperties"), Mapping):
                part["additionalProperties"] = False
            required = part.get("required", [])
            part["properties"] = {
                name: field if name in required else _nullable(field, references)
                for name, field in part["properties"].items()
            }

    made: dict[str, Any] = rewritten(schema, change)
    return made


def subschemas(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each subschema of a document with a path a reader can follow, the document first."""
    waiting: list[tuple[str, Any]] = [("", schema)]
    while waiting:
        path, part = waiting.pop(0)
        if not isinstance(part, Mapping):
            continue
        yield path, part
        waiting += [
            (f"{path}.{name}" if path else name, field)
            for name, field in (part.get("properties") or {}).items()
        ]
        for word in ("$defs", "definitions"):
            waiting += list((part.get(word) or {}).items())
        for word in ("anyOf", "oneOf", "prefixItems"):
            waiting += [(path, branch) for branch in part.get(word) or ()]
        waiting += [(path, part.get(word)) for word in ("items", "additionalProperties")]
        waiting += [(path, branch) for branch in (part.get("patternProperties") or {}).values()]


def _nullable(field: Any, references: References) -> Any:
    if "null" in references.kinds(field):
        return field
    # The default goes: beside it, null would count as a value of its own (`left_out`).
    inner = {key: value for key, value in field.items() if key not in {"description", "default"}}
    return {"anyOf": [inner, {"type": "null"}], "description": field["description"]}


def _told(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return f"a {type(value).__name__}"
