"""Faults of arguments in words that a model can act on and a person can read.

Each names the field by its path, what was expected and what came (at most 80 characters of it);
for a name that is not known the nearest one, and those that are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from jsonschema_rs import ValidationError, Validator

from tools.redact import hides
from tools.references import kind_of
from tools.text import clean_text, nearest, one_line, shorten
from tools.validator import compiled

MAX_PROBLEMS = 5
MAX_NAMES = 30
NOT_BLANK = r"\S"
"""The pattern of text that says something."""

DATE = "a date as YYYY-MM-DD"
_VALUE_CHARACTERS = 80

_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "text of at least {} characters",
    "maxLength": "text of at most {} characters",
    "minItems": "an array of at least {} items",
    "maxItems": "an array of at most {} items",
    "minProperties": "an object of at least {} fields",
    "maxProperties": "an object of at most {} fields",
    "pattern": "text that matches the pattern {}",
    "format": "text in the format {}",
    "const": "{}",
}


def validate(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return the faults of arguments by a schema, none when they are valid."""
    return problems(compiled("tool", schema), schema, arguments)


def problems(
    validator: Validator,
    schema: Mapping[str, Any],
    arguments: Mapping[str, Any],
    most: int = MAX_PROBLEMS,
) -> list[str]:
    """Return at most five faults, or so many, and how many more there are.

    Each follows the tool's name.
    """
    errors = validator.iter_errors(dict(arguments))
    found = list(islice(_unique(_told(errors, schema)), most + 100))
    if len(found) > most:
        found[most:] = [f"and {len(found) - most} more faults"]
    return found


def names(known: Sequence[str]) -> str:
    """List names, at most thirty."""
    more = f" and {len(known) - MAX_NAMES} more" if len(known) > MAX_NAMES else ""
    return ", ".join(known[:MAX_NAMES]) + more


def _unique(lines: Iterable[str]) -> Iterator[str]:
    return iter(dict.fromkeys(lines))


def _told(errors: Iterable[ValidationError], schema: Mapping[str, Any]) -> Iterator[str]:
    ordered = sorted(errors, key=lambda error: error.kind.name != "required")
    for error in ordered:
        yield from _tell(error, schema)


def _tell(error: ValidationError, schema: Mapping[str, Any]) -> Iterator[str]:
    kind, details = error.kind.name, error.kind.as_dict()
    path = _path(error.instance_path)
    if kind == "required":
        name = _name(details["property"])
        yield (
            f"argument '{path}' is missing required field '{name}'"
            if path
            else f"is missing required argument '{name}'"
        )
    elif kind in {"additionalProperties", "unevaluatedProperties"}:
        yield from _unknown(error, details["unexpected"], schema)
    elif kind in {"anyOf", "oneOf"} and "context" in details:
        yield from _union(error, schema)
    else:
        yield _must(path, _expected(kind, details, _beside(error, schema)), _came(error))


def _beside(error: ValidationError, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of the schema whose keyword refused the value, as it is written."""
    part: Any = schema
    for step in error.schema_path[:-1]:
        try:
            part = part[step]
        except (LookupError, TypeError):
            return {}
    return part if isinstance(part, Mapping) else {}


def _expected(kind: str, details: Mapping[str, Any], part: Mapping[str, Any]) -> str:
    if kind == "type":
        return _types(details["types"], part)
    if kind == "enum":
        options = details["options"]
        more = f" or one of {len(options) - MAX_NAMES} more" if len(options) > MAX_NAMES else ""
        return "one of " + ", ".join(_quoted(option) for option in options[:MAX_NAMES]) + more
    if kind == "uniqueItems":
        return "an array without repetitions"
    if kind == "falseSchema":
        return "left out"
    if kind in _BOUNDS:
        return _bound(kind, part.get(kind, next(iter(details.values()))))
    return f"valid by '{kind}' of its schema"


def _bound(kind: str, value: Any) -> str:
    if value == NOT_BLANK:
        return "text that is not blank"
    if kind != "format":
        return _BOUNDS[kind].format(_quoted(value))
    return DATE if value == "date" else _BOUNDS[kind].format(value)


def _types(named: Iterable[str], part: Mapping[str, Any]) -> str:
    """Name types, text by its form where the schema wants a date."""
    branches = [part, *part.get("anyOf", ()), *part.get("oneOf", ())]
    dates = any(isinstance(b, Mapping) and b.get("format") == "date" for b in branches)
    told = [DATE if dates and name == "string" else name for name in named]
    return " or ".join(sorted(dict.fromkeys(told), key="null".__eq__))


def _must(path: str, expected: str, came: str) -> str:
    return f"argument '{path}' must be {expected}, got {came}" if path else f"must be {expected}"


def _union(error: ValidationError, schema: Mapping[str, Any]) -> Iterator[str]:
    """Tell of the one branch whose type came, or of all the types that could have come."""
    depth = len(error.instance_path)
    branches = error.kind.as_dict()["context"]
    types: list[str] = []
    close: list[list[ValidationError]] = []
    for branch in branches:
        wrong = [e for e in branch if e.kind.name == "type" and len(e.instance_path) == depth]
        if wrong:
            types.extend(wrong[0].kind.as_dict()["types"])
        elif branch:
            close.append(branch)
    if len(close) == 1:
        yield from _told(close[0], schema)
    else:
        several = "one of the forms that its schema allows"
        expected = several if close or not types else _types(types, _beside(error, schema))
        yield _must(_path(error.instance_path), expected, _came(error))


def _unknown(
    error: ValidationError, unexpected: Sequence[str], schema: Mapping[str, Any]
) -> Iterator[str]:
    path = _path(error.instance_path)
    known = _allowed(error, schema)
    word, owner = ("field", f"argument '{path}' ") if path else ("argument", "")
    if misfits := [name for name in unexpected if name in known]:
        said = ", ".join(f"'{_name(name)}'" for name in misfits[:MAX_PROBLEMS])
        yield f"{owner}takes {word} {said} in another form"
    unexpected = [name for name in unexpected if name not in known]
    if not unexpected:
        return
    told = []
    for name in unexpected[:MAX_PROBLEMS]:
        near = nearest(name, known)
        told.append(f"'{_name(name)}'" + (f" (did you mean '{near}'?)" if near else ""))
    more = len(unexpected) - len(told)
    told += [f"{more} more"] if more else []
    taken = f"it takes: {names(known)}" if known else f"it takes no {word}s"
    yield f"{owner}does not take {word} {', '.join(told)}; {taken}"


def _allowed(error: ValidationError, schema: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields beside the keyword that refused one."""
    part = _beside(error, schema)
    named = list(part.get("properties", {}))
    if error.kind.name == "unevaluatedProperties":
        for branch in (*part.get("allOf", ()), *part.get("anyOf", ()), *part.get("oneOf", ())):
            named += branch.get("properties", {}) if isinstance(branch, Mapping) else {}
    return list(dict.fromkeys(named))


def _path(steps: Sequence[str | int]) -> str:
    path = ""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{_name(step)}"
    return shorten(path.lstrip("."), 200)


def _name(name: str) -> str:
    return shorten(one_line(name), 80)


def _came(error: ValidationError) -> str:
    kind = kind_of(error.instance)
    named = [step for step in error.instance_path if isinstance(step, str)]
    if kind == "null" or (named and hides(named[-1])):
        return kind
    return f"{kind} {_quoted(error.instance)}"


def _quoted(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return shorten(one_line(clean_text(text)), _VALUE_CHARACTERS)
