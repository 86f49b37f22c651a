"""Arguments' schemas as providers take them: one flat object, whatever they are checked by.

OpenAI and Anthropic refuse a whole request for one tool whose schema has `anyOf`, `oneOf`, `allOf`,
`enum` or `not` at its top, or subschemas that are booleans or of another draft. So the properties
of all branches are shown side by side, and a description says which belong together. It is what a
model is shown; calls are checked by the schema itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.errors import ContractError
from tools.merged_schema import BRANCHES, CLOSING, Merger
from tools.references import References
from tools.schema import rewritten
from tools.text import one_line, shorten

_REFUSED = (*BRANCHES, "allOf", "enum", "const", "not", "if", "then", "else", "dependentSchemas")
_LIMITS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_SAID_CHARACTERS = 1000


def flat_schema(tool: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the form of a closed schema that a model is shown; one that can be sent as it is.

    Args:
        tool: What to call it in an error.
        schema: What calls are checked by, as `tools.schema.closed` returns it.

    Raises:
        ContractError: It can't be put so: it refers into branches, or has too many of them.
    """
    shown: dict[str, Any] = rewritten(schema, _plain)
    if "2020-12" not in str(shown.get("$schema", "2020-12")):
        del shown["$schema"]
    if any(word in shown for word in (*_REFUSED, "$ref")):
        shown = _flattened(tool, shown)
    return schema if shown == schema else shown


def _plain(part: dict[str, Any], _conjunct: bool) -> None:  # noqa: FBT001 - as `rewritten` calls it
    """Put booleans that stand for schemas, and words of older drafts, as providers know them."""
    for word in ("properties", "patternProperties"):
        if isinstance(fields := part.get(word), Mapping):
            part[word] = {
                name: {} if inner is True else inner
                for name, inner in fields.items()
                if inner is not False
            }
    for word, limit in _LIMITS.items():
        if isinstance(part.get(word), bool) and part.pop(word) and limit in part:
            part[word] = part.pop(limit)
    if isinstance(part.get("items"), list):  # places of a tuple, until draft 2019-09
        part["items"] = {"anyOf": part["items"]} if part["items"] else {}
    elif isinstance(part.get("items"), bool):
        part["items"] = {}


def _flattened(tool: str, schema: dict[str, Any]) -> dict[str, Any]:
    merged = Merger(tool, schema).merged(schema, ())
    flat = {key: value for key, value in schema.items() if key not in (*_REFUSED, "$ref")}
    closing = [flat.pop(word) for word in CLOSING if word in flat]
    flat["properties"] = merged.fields
    flat.pop("required", None)
    if required := [name for name in merged.required if name in merged.fields]:
        flat["required"] = required
    if not merged.is_open and any(word is False for word in closing):
        flat["additionalProperties"] = False
    elif others := [word for word in closing if isinstance(word, Mapping)]:
        flat["additionalProperties"] = others[0]
    said = " ".join([str(schema.get("description") or ""), *dict.fromkeys(merged.said)])
    if said.strip():
        flat["description"] = shorten(one_line(said), _SAID_CHARACTERS)
    _check_references(tool, schema, flat)
    return flat


def _check_references(tool: str, schema: dict[str, Any], flat: dict[str, Any]) -> None:
    """Refuse a schema parts of which refer to what is no longer there.

    Raises:
        ContractError: One does.
    """
    targets: dict[str, None] = {}

    def collect(part: dict[str, Any], _conjunct: bool) -> None:  # noqa: FBT001
        if isinstance(target := part.get("$ref"), str):
            targets[target] = None

    rewritten(flat, collect)
    before, after = References(schema), References(flat)
    for target in targets:
        if target != "#" and before.target(target) != after.target(target):
            raise ContractError(tool, f"its schema refers to {target!r}, inside of a branch")
