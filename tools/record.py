"""A tool that is called for its arguments alone: they are a record, or are told to be none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.errors import ArgumentsError, ContractError
from tools.flat_schema import flat_schema
from tools.left_out import Leaver
from tools.plain import clean
from tools.record_schema import record_schema, source_schema
from tools.redact import redact
from tools.shown_schema import shown_schema
from tools.text import one_line, shorten
from tools.validation import problems
from tools.validator import STRICT_TIMES, Validator, compiled

MAX_ERRORS = 50
"""Errors that a rejection lists; it says how many more there are."""

_ERROR_CHARACTERS = 1000
_DESCRIPTION_CHARACTERS = 1024


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found: the record, or what is wrong with the arguments."""

    record: dict[str, Any] | None
    errors: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class RecordTool:
    """The tool and the validator of a record, both made from its one schema.

    It keeps true that
    * what is checked is what was sent: nothing is coerced, completed or mended;
    * a record is what was sent, without the fields that it says are not known: null, where the
      field is not required and null means nothing else.

    Attributes:
        name: What the model calls.
        description: The first line of the schema's description.
        schema: What records are checked by.
        parameters: What the model is shown of it, every field required, unknown ones null.
        strict: Whether OpenAI's strict mode takes it.
    """

    name: str
    description: str
    schema: dict[str, Any]
    parameters: dict[str, Any]
    strict: bool
    _validator: Validator = field(repr=False)
    _leaver: Leaver = field(repr=False)
    _model: Any = field(repr=False)

    def openai(self) -> dict[str, Any]:
        """Return the tool as chat-completion APIs take it."""
        function: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        if self.strict:
            function["strict"] = True
        return {"type": "function", "function": function}

    def check(self, arguments: Mapping[str, Any]) -> Verdict:
        """Validate the arguments of a call.

        Returns:
            The record; or errors, each of which names the field, what was expected and what came.
        """
        try:
            given = clean(arguments)
        except ArgumentsError as exc:
            return Verdict(None, [str(exc)])
        if not self._validator.is_valid(given):
            found = problems(self._validator, self.schema, given, MAX_ERRORS)
            return Verdict(None, [_line(error) for error in found])
        record = self._leaver.object(given)
        if faults := self._faults(record):
            return Verdict(None, [_line(fault) for fault in faults])
        return Verdict(record, [])

    def _faults(self, record: dict[str, Any]) -> list[str]:
        """Return what the model's own validators refuse beyond its schema."""
        if self._model is None:
            return []
        from pydantic import ValidationError

        try:
            self._model.model_validate_json(json.dumps(record))
        except ValidationError as exc:
            found = exc.errors(include_url=False, include_context=False, include_input=False)
            return [
                f"argument '{'.'.join(map(str, error['loc']))}' is not valid: {error['msg']}"
                if error["loc"]
                else f"is not valid: {error['msg']}"
                for error in found[:MAX_ERRORS]
            ]
        except Exception as exc:  # noqa: BLE001 - the schema's own code: its fault is told, the run goes on
            kind = type(exc).__name__
            return [f"could not be checked: a validator of the schema raised {kind}: {exc}"]
        return []


def record_tool(schema: Any, *, name: str, description: str) -> RecordTool:
    """Make the tool of a record.

    Args:
        schema: A Pydantic model, or a JSON schema of an object, each field of it described.
        name: What the model calls.
        description: Stands in where the schema has none.

    Raises:
        ContractError: The schema can't be used; the message says why, and names the field.
    """
    source = source_schema(name, schema)
    checked = record_schema(name, source)
    shown, strict = shown_schema(checked)
    told = str(source.get("description") or "").strip().partition("\n\n")[0]
    if not isinstance(source.get("description", ""), str):
        raise ContractError(name, "its schema's description must be text")
    return RecordTool(
        name=name,
        description=shorten(one_line(told or description), _DESCRIPTION_CHARACTERS),
        schema=checked,
        parameters=flat_schema(name, shown),
        strict=strict,
        _validator=compiled(name, checked, STRICT_TIMES),
        _leaver=Leaver.of(checked),
        _model=None if isinstance(schema, Mapping) else schema,
    )


def _line(error: str) -> str:
    return shorten(redact(one_line(error)), _ERROR_CHARACTERS)
