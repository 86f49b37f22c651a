"""A record's tool and its validator, both made from one schema."""

import json
from datetime import datetime
from typing import Any, Literal

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]
from pydantic import BaseModel, Field, field_validator, model_validator

from tools.record import RecordTool, record_tool
from tools.record_schema import record_schema


def made(schema: Any) -> RecordTool:
    return record_tool(schema, name="record_request", description="Record it.")


# ---- for any schema and any arguments


NAMES = st.sampled_from(["name", "amount", "due", "tags", "kind", "inner"])
TEXT = st.text("ab \n0", max_size=4)


def typed(words: dict[str, Any]) -> Any:
    return st.just({**words, "description": "What to write."})


LEAVES = st.one_of(
    typed({"type": "string"}),
    typed({"type": "string", "minLength": 2}),
    typed({"type": "string", "format": "date"}),
    typed({"type": "integer", "minimum": 0}),
    typed({"type": "number", "maximum": 10}),
    typed({"type": "boolean"}),
    typed({"enum": ["a", "b", 0]}),
    typed({"type": ["integer", "null"], "default": 7}),
    typed({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}),
    typed({"type": "array", "items": {"type": "string"}, "default": []}),
)


def objects(fields: Any) -> Any:
    def described(drawn: dict[str, Any]) -> Any:
        required = st.sets(st.sampled_from(sorted(drawn))).map(sorted)
        return required.map(
            lambda names: {
                "type": "object",
                "properties": drawn,
                "required": names,
                "description": "What to write.",
            }
        )

    return st.dictionaries(NAMES, fields, min_size=1, max_size=4).flatmap(described)


SCHEMAS = objects(st.recursive(LEAVES, objects, max_leaves=6))
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 12),
        st.just(2.5),
        st.just(3.0),
        TEXT,
        st.sampled_from(["a", "b", "2025-12-31", "2025-02-30", "31/12/2025", "$240", "4"]),
    ),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def arguments(schema: dict[str, Any]) -> Any:
    """Draw arguments that are near the schema: its names, values of its types or of any."""
    parts = {name: near(field) for name, field in schema["properties"].items()}
    return st.fixed_dictionaries({}, optional={**parts, "extra": VALUES}) | st.fixed_dictionaries(
        parts
    )


def near(field: dict[str, Any]) -> Any:
    if "properties" in field:
        return arguments(field) | VALUES
    if field.get("format") == "date":
        return st.just("2025-12-31") | VALUES
    if field.get("type") == "string":
        return st.just("ab") | VALUES
    if field.get("type") == "array":
        return st.just(["a"]) | VALUES
    if field.get("type") == "boolean":
        return st.booleans() | VALUES
    return st.sampled_from([5, "a", None]) | VALUES


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Write the rules of a record down anew, for a validator of its own."""
    closed = {**schema, "additionalProperties": False}
    closed["properties"] = {}
    for name, field in schema["properties"].items():
        part = strict(field) if "properties" in field else dict(field)
        if part.get("type") == "string" and not {"minLength", "format"} & part.keys():
            part["pattern"] = r"[^ \n]"
        if part.get("type") == "array":
            part["items"] = {"type": "string", "pattern": r"[^ \n]"}
        if name not in schema["required"]:
            part = {"anyOf": [part, {"type": "null"}]}
        closed["properties"][name] = part
    return closed


def without_unknown(value: Any, schema: dict[str, Any]) -> Any:
    """Leave out the fields that say they are not known: null where that is no value of its own."""
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    return {
        name: without_unknown(item, schema["properties"][name])
        for name, item in value.items()
        if item is not None
        or name in schema["required"]
        or schema["properties"][name].get("default") == 7
    }


@given(st.data())
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_the_verdict_is_another_validator_s_and_a_record_is_what_was_sent(
    data: st.DataObject,
) -> None:
    schema = data.draw(SCHEMAS)
    sent = data.draw(arguments(schema))
    before = json.dumps([schema, sent])
    verdict = made(schema).check(sent)
    other = Draft202012Validator(strict(schema), format_checker=FormatChecker(["date"]))
    valid = other.is_valid(sent)
    assert (verdict.record is not None) == valid, verdict
    assert bool(verdict.errors) != valid
    event("valid" if valid else "not valid")
    if verdict.record is not None:
        expected = without_unknown(sent, schema)
        assert json.dumps(verdict.record, sort_keys=True) == json.dumps(expected, sort_keys=True)
    assert json.dumps([schema, sent]) == before


@given(SCHEMAS)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_what_a_model_is_shown_is_what_strict_servers_take(schema: dict[str, Any]) -> None:
    tool = made(schema)
    waiting = [tool.parameters]
    while waiting:
        part = waiting.pop()
        assert "default" not in part
        assert "minLength" not in part
        if "properties" in part:
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
            assert all(field["description"] for field in part["properties"].values())
        waiting += [*part.get("properties", {}).values(), *part.get("anyOf", ())]
    jsonschema_rs.validator_for(tool.parameters)


# ---- models


class Stay(BaseModel):
    """Record a stay.

    The rest of the text is for readers of the code.
    """

    first: int = Field(ge=1, description="The first night.")
    nights: int = Field(description="How many nights.")
    code: str = Field(default="none", max_length=4, description="Its code.")

    @field_validator("nights")
    @classmethod
    def _some(cls, nights: int) -> int:
        if nights < 1:
            raise ValueError("at least one night")
        return nights

    @model_validator(mode="after")
    def _whole(self) -> "Stay":
        if self.first == 13:
            raise ValueError("there is no night 13")
        if self.first == 14:
            raise RuntimeError("broken")
        return self


def test_the_description_is_the_first_paragraph_of_the_model_s() -> None:
    assert made(Stay).description == "Record a stay."


def test_rules_that_servers_refuse_are_said_in_the_description_and_checked() -> None:
    tool = made(Stay)
    code = tool.parameters["properties"]["code"]["anyOf"][0]
    assert "maxLength" not in code
    assert "at most 4 characters" in code["description"]
    assert "'code'" in tool.check({"first": 1, "nights": 1, "code": "12345"}).errors[0]


@pytest.mark.parametrize(
    ("given_", "why"),
    [
        ({"first": 1, "nights": 0}, "argument 'nights' is not valid: Value error, at least one"),
        ({"first": 13, "nights": 1}, "is not valid: Value error, there is no night 13"),
        ({"first": 14, "nights": 1}, "a validator of the schema raised RuntimeError: broken"),
    ],
)
def test_the_model_s_own_validators_reject_and_never_end_the_run(
    given_: dict[str, Any], why: str
) -> None:
    (error,) = made(Stay).check(given_).errors
    assert why in error


def test_a_record_has_its_fields_in_the_order_of_the_schema() -> None:
    record = made(Stay).check({"code": "a", "nights": 2, "first": 1}).record
    assert list(record or {}) == ["first", "nights", "code"]


def test_defaults_are_not_filled_in() -> None:
    assert made(Stay).check({"first": 1, "nights": 2}).record == {"first": 1, "nights": 2}


class At(BaseModel):
    at: datetime = Field(description="When.")


@pytest.mark.parametrize("text", ["2025-12-31T10:00:00Z", "2025-12-31T10:00:00.5", None])
def test_times_are_written_out(text: str | None) -> None:
    tool = made(At)
    for bad in ("2025-W01-1", "20251231T100000", "2025-12-31", "2025-12-31T10", 1735603200):
        assert tool.check({"at": bad}).record is None
    assert (tool.check({"at": text}).record is not None) == (text is not None)


class Cat(BaseModel):
    kind: Literal["cat"] = Field(description="Cat.")
    lives: int | None = Field(default=None, description="Lives left.")


class Dog(BaseModel):
    kind: Literal["dog"] = Field(description="Dog.")
    barks: bool | None = Field(default=None, description="Whether it barks.")


class Pet(BaseModel):
    pet: Cat | Dog = Field(discriminator="kind", description="The pet.")


def test_of_a_union_each_form_is_closed_shown_and_freed_of_nulls() -> None:
    tool = made(Pet)
    assert tool.strict
    assert "oneOf" not in json.dumps(tool.parameters)
    assert tool.check({"pet": {"kind": "cat", "lives": None}}).record == {"pet": {"kind": "cat"}}
    assert tool.check({"pet": {"kind": "cat", "barks": True}}).record is None


class Tree(BaseModel):
    name: str = Field(description="Its name.")
    parts: list["Tree"] = Field(default=[], description="Its parts.")


def test_a_recursive_schema_is_checked_at_every_depth() -> None:
    tool = made(Tree)
    good = {"name": "a", "parts": [{"name": "b", "parts": None}]}
    assert tool.check(good).record == {"name": "a", "parts": [{"name": "b"}]}
    bad = {"name": "a", "parts": [{"name": "b", "parts": [{"name": "", "x": 1}]}]}
    errors = tool.check(bad).errors
    assert any("parts[0].parts[0].name" in error for error in errors)
    assert any("'x'" in error for error in errors)


def test_a_rejection_lists_fifty_errors_and_counts_the_rest() -> None:
    fields = {f"f{n}": {"type": "integer", "description": "A number."} for n in range(70)}
    tool = made({"type": "object", "properties": fields})
    errors = tool.check(dict.fromkeys(fields, "x")).errors
    assert len(errors) == 51
    assert errors[-1] == "and 20 more faults"


def test_a_free_form_field_is_no_matter_for_strict_mode() -> None:
    class Free(BaseModel):
        more: dict[str, int] = Field(description="Numbers by name.")

    tool = made(Free)
    assert not tool.strict
    assert tool.check({"more": {"a": 1}}).record == {"more": {"a": 1}}
    assert tool.check({"more": {"a": "1"}}).record is None


def test_the_checked_schema_says_what_the_shown_one_says() -> None:
    schema = record_schema("record_request", Stay.model_json_schema())
    assert schema["required"] == ["first", "nights"]
    assert schema["additionalProperties"] is False
