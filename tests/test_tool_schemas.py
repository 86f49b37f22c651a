"""Schemas: closed, self-contained, bounded, and the very ones that calls are checked by."""

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.calling import Order, calculator, from_schema, refused, run
from tools import ContractError, contract


def test_the_schema_that_is_shown_is_the_one_that_is_validated() -> None:
    made = contract(calculator)
    assert made.openai() == {
        "type": "function",
        "function": {
            "name": "calculator",
            "description": "Evaluate arithmetic; use it for every sum.",
            "parameters": {
                "type": "object",
                "properties": {
                    "expression": {"type": "string", "description": "What to work out."}
                },
                "required": ["expression"],
                "additionalProperties": False,
            },
        },
    }
    assert made.openai()["function"]["parameters"] is made.parameters


def test_a_generated_schema_is_closed_at_every_level_and_keeps_a_property_called_title() -> None:
    def place(order: Order) -> str:
        """Place an order."""
        return order.lines[0].sku

    made = contract(place)
    defs = made.parameters["$defs"]
    assert [defs[name]["additionalProperties"] for name in ("Line", "Order")] == [False, False]
    assert list(defs["Order"]["properties"]) == ["lines", "title"]
    assert "title" not in defs["Order"]
    assert "argument 'order.lines[0]' does not take field 'price'" in refused(
        made, {"order": {"lines": [{"sku": "a", "price": 1}]}}
    )


def test_references_stay_within_the_schema_and_are_followed() -> None:
    """Case SCH-01."""
    q = {"type": "object", "properties": {"team": {"type": "integer"}}, "required": ["team"]}
    made = from_schema(
        {
            "type": "object",
            "properties": {"q": {"$ref": "#/$defs/Q"}},
            "required": ["q"],
            "$defs": {"Q": q},
        }
    )
    assert made.parameters["$defs"] == {"Q": q}
    assert run(made, {"q": {"team": 3}}) == {"q": {"team": 3}}
    assert "q.team" in refused(made, {"q": {"team": "x"}})


def test_a_recursive_schema_is_checked_at_every_level() -> None:
    """Case SCH-03."""
    kids = {"type": "array", "items": {"$ref": "#/$defs/N"}}
    node = {"type": "object", "properties": {"v": {"type": "integer"}, "kids": kids}}
    made = from_schema(
        {
            "type": "object",
            "properties": {"n": {"$ref": "#/$defs/N"}},
            "$defs": {"N": node},
        }
    )
    good = {"n": {"v": 1, "kids": [{"v": 2, "kids": []}]}}
    assert run(made, good) == good
    assert "n.kids[0].v" in refused(made, {"n": {"v": 1, "kids": [{"v": "x"}]}})


@pytest.mark.parametrize("schema", [{}, None])
def test_a_tool_without_a_schema_takes_no_arguments(schema: Any) -> None:
    """Case SCH-05."""
    made = from_schema(schema)
    assert made.parameters == {"type": "object", "properties": {}, "additionalProperties": False}
    assert run(made, {}) == {}
    assert refused(made, {"a": 1}) == "t does not take argument 'a'; it takes no arguments"


def test_a_schema_without_a_type_is_one_of_an_object() -> None:
    """Case SCH-05."""
    made = from_schema({"properties": {"a": {"type": "string"}}})
    assert made.parameters["type"] == "object"
    assert run(made, {"a": "x"}) == {"a": "x"}


def test_type_arrays_and_nullable_unions_are_understood() -> None:
    """Case SCH-07."""
    b = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    made = from_schema(
        {"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": b}}
    )
    assert run(made, {"a": None, "b": None}) == {"a": None, "b": None}
    assert "must be string or null, got integer 5" in refused(made, {"a": 5})


def test_a_schema_that_breaks_the_metaschema_is_refused_by_name() -> None:
    """Case SCH-11."""
    with pytest.raises(ContractError, match=r"^tool 't' cannot be offered: its schema.*required"):
        from_schema({"type": "object", "properties": {"coin": {}, "required": ["coin"]}})


def test_an_array_of_anything_is_sent_with_its_items() -> None:
    """Case SCH-11."""
    made = from_schema({"type": "object", "properties": {"l": {"type": "array"}}})
    assert made.parameters["properties"]["l"] == {"type": "array", "items": {}}


@pytest.mark.parametrize("levels", [500, 5000])
def test_a_schema_that_is_too_deep_is_refused_by_name(levels: int) -> None:
    """Case SCH-13."""
    deep: dict[str, Any] = {}
    for _ in range(levels):
        deep = {"type": "array", "items": deep}
    with pytest.raises(ContractError, match=r"tool 't' .* deeper than 100 levels"):
        from_schema({"type": "object", "properties": {"a": deep}})


def test_a_schema_that_is_too_long_is_refused_by_name() -> None:
    """Case SCH-13."""
    wide = {f"p{i}": {"type": "string", "description": "x" * 1000} for i in range(300)}
    with pytest.raises(ContractError, match=r"tool 't' .* more than 100,000"):
        from_schema({"type": "object", "properties": wide})


def test_a_reference_to_elsewhere_is_refused_and_never_fetched() -> None:
    for reference in ("http://127.0.0.1:9/x.json", "file:///etc/passwd", "#/$defs/Missing"):
        with pytest.raises(ContractError, match="tool 't'"):
            from_schema({"type": "object", "properties": {"a": {"$ref": reference}}})


def test_a_composed_schema_is_closed_without_refusing_what_its_parts_name() -> None:
    part = {"properties": {"a": {"type": "integer"}}}
    made = from_schema({"type": "object", "allOf": [part], "properties": {"b": {}}})
    assert run(made, {"a": 1, "b": 2}) == {"a": 1, "b": 2}
    assert "does not take argument 'c'; it takes: b, a" in refused(made, {"a": 1, "c": 2})


def test_a_schema_that_is_a_mere_reference_is_opened() -> None:
    made = from_schema(
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": {}}}}}
    )
    assert made.parameters["properties"] == {"a": {}}
    assert refused(made, {"b": 1})


def test_a_tool_may_opt_in_to_additional_arguments() -> None:
    """Case ARG-15."""
    made = from_schema({"type": "object", "properties": {}, "additionalProperties": True})
    assert run(made, {"path": "intro"}) == {"path": "intro"}


@pytest.mark.parametrize("schema", [True, "x", [], {"type": "string"}, {"type": "nonsense"}, 7])
def test_what_is_no_schema_of_an_object_is_refused_by_name(schema: Any) -> None:
    with pytest.raises(ContractError, match="tool 't'"):
        from_schema(schema)


def test_the_schema_given_is_not_altered() -> None:
    given = {"type": "object", "properties": {"l": {"type": "array"}}}
    before = copy.deepcopy(given)
    from_schema(given)
    assert given == before


FIELDS: dict[str, Any] = {
    "i": {"type": "integer", "minimum": 0},
    "t": {"type": "string", "maxLength": 3, "pattern": "^a"},
    "l": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]}},
    "e": {"enum": ["a", 1, None]},
    "u": {
        "oneOf": [
            {"type": "boolean"},
            {"type": "object", "additionalProperties": {"type": "number"}},
        ]
    },
    "n": {"$ref": "#"},
}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*FIELDS, "I", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # time fails no test
@given(st.dictionaries(st.sampled_from([*FIELDS, "I", "x", "\ud83c"]), json_values, max_size=4))
def test_any_arguments_are_either_taken_or_refused_in_one_bounded_line(sent: Any) -> None:
    checked = RECURSIVE.check(sent)
    if checked.arguments is None:
        assert checked.error
        assert checked.error.startswith(("t ", "t: "))
        assert "\n" not in checked.error
        assert len(checked.error) <= 1000
    else:
        assert checked.error is None
        assert RECURSIVE.check(checked.arguments).arguments == checked.arguments


RECURSIVE = from_schema({"type": "object", "properties": FIELDS})


@pytest.mark.parametrize("sent", [[], "x", None, 3])
def test_arguments_that_are_no_object_are_refused(sent: Any) -> None:
    assert refused(RECURSIVE, sent) == "t: the arguments must be one JSON object"
