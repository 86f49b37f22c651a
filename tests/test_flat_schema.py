"""Schemas that providers refuse are shown flat, and calls are still checked by what they were."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphs.models.openai import RungsChatOpenAI
from tests.calling import from_schema, refused, run
from tests.stub_server import Recorded, Reply, call, completion, serving
from tests.support import MODES, Mode, compiled, results
from tests.support import run as run_graph
from tools import ContractError, contract
from tools.record import record_tool

KEY: Any = "sk-test-key-0123456789"
TEXT = {"type": "string"}
CARD = {"properties": {"kind": {"const": "card"}, "number": TEXT}, "required": ["kind", "number"]}
BANK = {
    "properties": {"kind": {"const": "bank"}, "iban": TEXT, "bic": TEXT},
    "required": ["kind", "iban"],
}


def objects(*fields: str) -> dict[str, Any]:
    properties = {name.strip("?"): TEXT for name in fields}
    required = [name for name in fields if not name.endswith("?")]
    return {"type": "object", "properties": properties, "required": required}


def shown(schema: dict[str, Any]) -> dict[str, Any]:
    parameters = from_schema(schema).openai()["function"]["parameters"]
    assert jsonschema_rs.meta.is_valid(parameters)
    return dict(parameters)


def test_the_properties_of_all_branches_stand_side_by_side_and_it_is_said_which_belong() -> None:
    schema = {"properties": {"note": TEXT}, "oneOf": [CARD, BANK], "required": ["note"]}
    assert shown(schema) == {
        "type": "object",
        "properties": {
            "note": TEXT,
            "kind": {"enum": ["card", "bank"]},
            "number": TEXT,
            "iban": TEXT,
            "bic": TEXT,
        },
        "required": ["note", "kind"],
        "additionalProperties": False,
        "description": (
            'Give exactly one of: kind "card" with number; or kind "bank" with iban '
            "(optional: bic)."
        ),
    }
    made = from_schema(schema)
    good = {"note": "n", "kind": "bank", "iban": "x"}
    assert run(made, good) == good
    assert refused(made, {"note": "n", "kind": "card", "iban": "x"})
    assert refused(made, {"note": "n"})


@pytest.mark.parametrize(
    ("schema", "fields", "required", "said"),
    [
        ({"anyOf": [objects("a"), objects("b")]}, "ab", "", "Give at least one of: a; or b."),
        ({"allOf": [objects("a"), objects("b", "c?")]}, "abc", "ab", ""),
        (
            {"allOf": [{"$ref": "#/$defs/X"}], "$defs": {"X": objects("a")}, **objects("b?")},
            "ba",
            "a",
            "",
        ),
        ({"anyOf": [objects("a"), {"type": "null"}]}, "a", "a", ""),
        (
            {**objects("a?", "b?"), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            "ab",
            "",
            "Give at least one of: a; or b.",
        ),
        (
            {**objects("a?", "b?"), "not": {"required": ["a", "b"]}},
            "ab",
            "",
            'not: {"required": ["a", "b"]}.',
        ),
        ({**objects("a?"), "enum": [{"a": "x"}, {"a": "y"}]}, "a", "", ""),
        ({"allOf": [{"oneOf": [objects("a", "c"), objects("b", "c")]}]}, "acb", "c", None),
    ],
)
def test_branches_of_every_kind_become_one_object(
    schema: dict[str, Any], fields: str, required: str, said: str | None
) -> None:
    flat = shown({"type": "object", **schema})
    assert list(flat["properties"]) == list(fields)
    assert flat.get("required", []) == list(required)
    assert said is None or flat.get("description", "") == said
    assert not flat.keys() & {"anyOf", "oneOf", "allOf", "not", "enum", "unevaluatedProperties"}
    assert flat["additionalProperties"] is False


def test_booleans_for_schemas_and_words_of_older_drafts_are_put_as_providers_know_them() -> None:
    number = {"type": "integer", "minimum": 0, "exclusiveMinimum": True}
    number |= {"maximum": 9, "exclusiveMaximum": False}
    draft4 = "http://json-schema.org/draft-04/schema#"
    schema = {"$schema": draft4, "type": "object", "properties": {"n": number}}
    assert shown(schema) == {
        "type": "object",
        "properties": {"n": {"type": "integer", "maximum": 9, "exclusiveMinimum": 0}},
        "additionalProperties": False,
    }
    assert refused(from_schema(schema), {"n": 0})
    booleans = {"type": "object", "properties": {"a": False, "b": True}}
    assert shown(booleans)["properties"] == {"b": {}}
    assert refused(from_schema(booleans), {"a": 1})


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (
            {"anyOf": [objects("a"), {"properties": {"b": {"$ref": "#/anyOf/0"}}}]},
            "refers to '#/anyOf/0', inside of a branch",
        ),
        (
            {"$ref": "#/$defs/N", "$defs": {"N": {"anyOf": [{"$ref": "#/$defs/N"}, CARD]}}},
            "refers to itself without an end",
        ),
        (
            {"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"$ref": "#/$defs/N"}}},
            "refers to itself without an end",
        ),
    ],
)
def test_what_cannot_be_shown_or_checked_is_refused_by_the_tools_name(
    schema: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ContractError, match=f"tool 't' cannot be offered: .*{reason}"):
        from_schema({"type": "object", **schema})


def test_a_contract_of_a_contract_is_checked_by_the_same_schema() -> None:
    made = contract(from_schema({"anyOf": [objects("a"), objects("b")]}), name="u")
    assert refused(made, {})
    assert run(made, {"b": "x"}) == {"b": "x"}


FIELD = st.sampled_from([TEXT, {"type": "integer"}, {"const": "x"}, {"enum": ["x", "y"]}, {}])
PART = st.fixed_dictionaries(
    {
        "properties": st.dictionaries(st.sampled_from("abc"), FIELD, max_size=3),
        "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
    }
)


def _grown(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    words = st.sampled_from(["anyOf", "oneOf", "allOf"])
    lists = st.lists(parts, min_size=1, max_size=3)
    return st.builds(lambda part, word, inner: {**part, word: inner}, PART, words, lists)


@settings(deadline=None)
@given(
    st.recursive(PART, _grown, max_leaves=5),
    st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["x", "y", 1, "z"]), max_size=4),
)
def test_whatever_a_schema_takes_its_flat_form_takes_too(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    made = from_schema({"type": "object", **schema})
    if made.validator.is_valid(arguments):
        assert jsonschema_rs.is_valid(made.parameters, arguments)


def _as_openai(request: Recorded) -> Any:
    for tool in request.json["tools"]:
        parameters = tool["function"]["parameters"]
        refused_words = {"anyOf", "oneOf", "allOf", "enum", "not"} & parameters.keys()
        schemas = parameters.get("properties", {}).values()
        if parameters.get("type") != "object" or refused_words or not all(map(_is_object, schemas)):
            error = {"message": f"Invalid schema for function '{tool['function']['name']}'"}
            return Reply({"error": error}, status=400)
    if len(request.json["messages"]) > 2:
        return completion("done")
    return completion(tool_calls=[call("pay", '{"kind": "card", "number": "1"}')])


def _is_object(schema: Any) -> bool:
    numbers = ("exclusiveMinimum", "exclusiveMaximum")
    return isinstance(schema, dict) and not any(isinstance(schema.get(w), bool) for w in numbers)


@pytest.mark.parametrize("mode", MODES)
def test_a_server_that_refuses_branches_takes_every_request(mode: Mode) -> None:
    schemas: dict[str, Any] = {
        "pay": {"type": "object", "oneOf": [CARD, BANK]},
        "older": {"properties": {"n": {"minimum": 0, "exclusiveMinimum": True}}},
        "gone": {"type": "object", "properties": {"a": False, "b": True}},
    }
    schemas["older"]["$schema"] = "http://json-schema.org/draft-04/schema#"
    made = [
        contract(
            {
                "name": name,
                "description": f"Use {name}.",
                "parameters": schema,
                "function": lambda **given: given,
            },
            effect="read_only",
        )
        for name, schema in schemas.items()
    ]
    with serving(_as_openai) as server:
        model = RungsChatOpenAI(model="stub-1", base_url=server.base_url, api_key=KEY)
        output = run_graph(mode, compiled(model, made), "Pay it.")
    assert output["answer"] == "done"
    assert [result.text for result in results(output["messages"])] == [
        '{"kind":"card","number":"1"}'
    ]


def test_a_records_schema_is_shown_flat_too_and_checked_by_its_branches() -> None:
    field = {"type": "string", "description": "A text."}
    schema = {
        "type": "object",
        "properties": {"a": field, "b": field},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    made = record_tool(schema, name="record", description="Record it.")
    assert "anyOf" not in made.parameters
    assert made.parameters["description"] == "Give at least one of: a; or b."
    assert "anyOf" in made.schema
