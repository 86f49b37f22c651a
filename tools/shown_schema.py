"""A record's schema as a model is shown it: a form that strict servers and small ones both take.

OpenAI's strict mode wants every field required, no default, closed objects, and knows few keywords;
llama.cpp turns patterns into grammars and refuses most of them. What they would refuse is said in
the description instead, and stays a rule of the check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tools.record_schema import subschemas
from tools.schema import rewritten
from tools.validation import NOT_BLANK

FORMATS = frozenset(
    ("date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
)
"""The formats that OpenAI's strict mode knows."""

_DROPPED = (
    *("title", "default", "examples", "deprecated", "readOnly", "writeOnly", "discriminator"),
    *("$schema", "$id", "$comment", "contentMediaType", "contentEncoding"),
)
_SAID = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "uniqueItems": "no item twice",
    "minProperties": "at least {} fields",
    "maxProperties": "at most {} fields",
    "contains": "an item that fits {}",
    "minContains": "at least {} of them",
    "maxContains": "at most {} of them",
    "propertyNames": "names that fit {}",
}
_KNOWN = frozenset(
    (
        *("type", "properties", "required", "additionalProperties", "description", "items"),
        *("enum", "const", "anyOf", "$ref", "$defs", "definitions", "pattern", "format"),
        *("minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        "multipleOf",
    )
)
_PLAIN_PATTERN = re.compile(r"\^[A-Za-z0-9 _.,:;#\[\]{}()|?*+-]*\$")
"""Anchored, and without escapes or lookarounds."""


def shown_schema(schema: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return what a model is shown of a record's schema, and whether strict mode would take it."""
    shown: dict[str, Any] = rewritten(schema, _show)
    shown.pop("description", None)  # the tool has it
    return shown, all(map(_is_strict, (part for _, part in subschemas(shown))))


def _show(part: dict[str, Any], _conjunct: bool) -> None:  # noqa: FBT001 - as `rewritten` calls it
    for word in _DROPPED:
        part.pop(word, None)
    if "oneOf" in part and "anyOf" not in part:
        part["anyOf"] = part.pop("oneOf")
    if part.get("properties"):
        part["required"] = list(part["properties"])
    said = []
    if (pattern := part.get("pattern")) and not _PLAIN_PATTERN.fullmatch(pattern):
        del part["pattern"]
        said.append("not blank" if pattern == NOT_BLANK else f"matches the pattern {pattern}")
    if (named := part.get("format")) and named not in FORMATS:
        del part["format"]
        said.append(f"format {named}")
    for word, sentence in _SAID.items():
        if word in part:
            value = part.pop(word)
            said.append(sentence.format(value if isinstance(value, int) else json.dumps(value)))
    if "$ref" in part and len(part) > 1:
        part["anyOf"] = [{"$ref": part.pop("$ref")}]
    if said and said != ["not blank"]:
        description = part.get("description", "")
        part["description"] = f"{description} ({'; '.join(said)})".strip()


def _is_strict(part: Mapping[str, Any]) -> bool:
    if not part.keys() <= _KNOWN or not part.keys() & {"type", "anyOf", "$ref", "enum", "const"}:
        return False
    is_object = part.get("type") == "object"
    if is_object and (part.get("additionalProperties") is not False or "properties" not in part):
        return False
    return part.get("type") != "array" or "items" in part
