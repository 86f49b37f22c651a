"""Forced output, requirement by requirement (seed "Augmented LLM", Forced output tool)."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel, Field

from graphs import UsageError, open_graph
from graphs.forced_output import build
from graphs.forced_output import graph as exported
from graphs.models import ScriptedModel
from graphs.support_request import SupportRequest
from tests.records import GOOD, Deal, called, fill, rejection
from tests.support import ALL_MODES, MODES, Mode, compiled, results, run
from tools import ContractError

REQUEST = {
    "customer": "Ann Lee",
    "category": "refund",
    "urgency": "normal",
    "summary": "She wants her money back.",
}


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_price_as_the_text_240_dollars_is_a_rejection_that_names_it_after_one_model_call(
    mode: Mode,
) -> None:
    """The seed's own test."""
    model = ScriptedModel(replies=[called({**REQUEST, "plan_price": "$240"})])
    output = run(mode, build(model=model).compile(), "I paid $240 for my plan.")

    assert output["status"] == "rejected"
    assert output["record"] is None
    assert any("plan_price" in error for error in output["rejection"]["errors"])
    assert "plan_price" in output["stop_reason"]
    assert len(model.requests) == 1
    assert output["usage"]["model_calls"] == 1


@pytest.mark.parametrize("mode", ALL_MODES)
def test_valid_arguments_are_the_record_as_they_came(mode: Mode) -> None:
    given = {**REQUEST, "plan_price": 240, "plan_start": "2026-03-03"}
    output, model = fill(mode, called(given), SupportRequest)
    assert output["record"] == given
    assert output["rejection"] is None
    assert output["status"] == "record"
    assert json.loads(output["answer"]) == given
    assert len(model.requests) == 1


def test_the_model_is_sent_the_seeds_prompt_the_text_and_the_one_tool_with_its_choice_forced() -> (
    None
):
    _, model = fill("invoke", called(GOOD), text="A deal.")
    (request,) = model.requests
    system, text = request.messages
    assert isinstance(system, SystemMessage)
    assert system.text.startswith("You are a support assistant for Globex.")
    assert "- record_request(name, status, amount, due, tags): Record a deal." in system.text
    assert "search_docs(" not in system.text
    assert text.text == "A deal."
    assert request.tools == ["record_request"]
    assert request.tool_choice == "record_request"


def test_the_tool_has_the_records_names_types_allowed_values_and_descriptions() -> None:
    _, model = fill("invoke", called(GOOD))
    (tool,) = model.requests[0].tool_schemas
    fields = tool["function"]["parameters"]["properties"]
    assert list(fields) == list(Deal.model_fields)
    for name, field in fields.items():
        assert field["description"] == Deal.model_fields[name].description
    assert fields["amount"]["type"] == "number"
    assert fields["status"]["enum"] == ["open", "closed"]
    assert fields["due"]["anyOf"][0] == {"type": "string", "format": "date"}
    assert tool["function"]["parameters"]["additionalProperties"] is False


@pytest.mark.parametrize("mode", MODES)
def test_the_tool_is_never_executed_and_its_call_is_answered_so_that_the_thread_can_go_on(
    mode: Mode,
) -> None:
    model = ScriptedModel(replies=[called(GOOD), called({"name": 1})])
    graph = build(model=model, schema=Deal).compile(checkpointer=InMemorySaver())
    first = run(mode, graph, "One deal.")
    (answer,) = results(first["messages"])
    assert (answer.text, answer.tool_call_id) == ("recorded", "a")
    assert first["usage"]["tool_calls"] == 0

    second = run(mode, graph, "Another deal.")
    assert second["record"] is None
    assert second["rejection"]["raw_arguments"] == {"name": 1}
    assert results(second["messages"])[-1].status == "error"
    # What was said before is the text of another record.
    assert [m.text for m in model.requests[1].messages[1:]] == ["Another deal."]


@pytest.mark.parametrize("mode", MODES)
def test_a_rejection_holds_every_error_and_the_raw_arguments(mode: Mode) -> None:
    given = {"name": 1, "status": "lost", "amount": "3", "colour": "red"}
    found = rejection(mode, called(given))
    assert found["reason"] == "the arguments do not match the schema"
    assert found["kind"] == "schema"
    assert found["raw_arguments"] == given
    for name in given:
        assert any(f"'{name}'" in error for error in found["errors"]), name


NOT_ONE: list[tuple[Any, str, Any]] = [
    ("", "no_call", None),
    ("The name is A.", "no_call", None),
    (called(GOOD, GOOD), "several_calls", [GOOD, GOOD]),
    (called(GOOD, "{"), "several_calls", [GOOD, "{"]),
    (called(GOOD, name="record"), "wrong_tool", GOOD),
    (called(GOOD, finish="length"), "cut_off", json.dumps(GOOD)),
    (called('{"name": "A", "sta', finish="length"), "cut_off", '{"name": "A", "sta'),
    (AIMessage("", additional_kwargs={"refusal": "I can't help."}), "refusal", None),
    ({"text": "No.", "metadata": {"stop_reason": "refusal", "finish_reason": ""}}, "refusal", None),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("reply", "kind", "raw"), NOT_ONE)
def test_no_call_several_and_a_call_that_is_not_whole_are_rejected_as_no_single_tool_call(
    mode: Mode, reply: Any, kind: str, raw: Any
) -> None:
    found = rejection(mode, reply)
    assert found["reason"] == "no single tool call"
    assert found["kind"] == kind
    assert found["raw_arguments"] == raw


UNREADABLE = [
    '{"name": "A", "status": "open", "amount": 3, "amount": 4}',
    '{"name": "A", "status": "open", "amount": NaN}',
    '{"name": "A", "status": "open", "amount": 1e999}',
    '{"name": "A", "status": "open", "amount": 99999999999999999999999}',
    '{"name": "A", "status": "open"',
    '{"name": "A"} {"name": "B"}',
    "[1]",
    json.dumps(json.dumps(GOOD)),
    "null",
    "",
]


@pytest.mark.parametrize("mode", [*MODES, "messages"])
@pytest.mark.parametrize("raw", UNREADABLE)
def test_arguments_that_are_no_json_object_as_they_came_are_rejected_and_kept(
    mode: Any, raw: str
) -> None:
    if mode == "messages":  # streamed by token
        model = ScriptedModel(replies=[called(raw)])
        graph = build(model=model, schema=Deal).compile()
        given: Any = {"messages": [("user", "?")]}
        output: Any = {}
        for kind, part in graph.stream(given, stream_mode=["messages", "values"]):
            output = part if kind == "values" else output
        found = output["rejection"]
    else:
        found = rejection(mode, called(raw))
    assert found["kind"] == "unreadable"
    assert found["reason"] == "the arguments can't be read"
    assert found["raw_arguments"] in (raw, GOOD, {})


@pytest.mark.parametrize("mode", MODES)
def test_a_model_that_fails_ends_in_no_answer_with_a_rejection_that_says_why(mode: Mode) -> None:
    model = ScriptedModel(replies=[ValueError("out of order")])
    output = run(mode, build(model=model).compile(), "A text.")
    assert output["status"] == "no_answer"
    assert output["record"] is None
    assert output["rejection"]["kind"] == "model_failed"
    assert "out of order" in output["rejection"]["errors"][0]
    assert output["usage"]["model_calls"] == 1


class Inner(BaseModel):
    street: str


class Outer(BaseModel):
    address: Inner = Field(description="Where.")
    more: list[Inner] = Field(description="Other places.")


def test_a_field_without_a_description_is_refused_when_the_graph_is_built_nested_ones_too() -> None:
    class Bare(BaseModel):
        name: str = Field(description="Who.")
        amount: float = Field(description="  ")

    with pytest.raises(ContractError, match="'amount' has no description"):
        build(schema=Bare)
    with pytest.raises(ContractError, match="street' has no description"):
        build(schema=Outer)
    with pytest.raises(ContractError, match="'a' has no description"):
        build(schema={"type": "object", "properties": {"a": {"type": "string"}}})


BAD_SCHEMAS: list[tuple[Any, str]] = [
    (int, "must be a Pydantic model, not the class int"),
    (3, "must be a Pydantic model, not a int"),
    ({}, "has no fields"),
    ({"type": "array"}, "must describe an object"),
    ({"type": "objekt"}, "not valid"),
    ({"type": "object", "properties": {"a": {"description": "x", "not": {}}}}, "'not' at 'a'"),
]


@pytest.mark.parametrize(("schema", "why"), BAD_SCHEMAS)
def test_what_is_no_schema_of_a_record_is_refused_in_one_line(schema: Any, why: str) -> None:
    with pytest.raises(ContractError) as caught:
        build(schema=schema)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_json_schema_serves_as_well_as_a_model() -> None:
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Who."},
            "age": {"type": "integer", "minimum": 0, "description": "How old."},
        },
        "required": ["name"],
    }
    before = json.dumps(schema)
    assert fill("invoke", called({"name": "A", "age": None}), schema)[0]["record"] == {"name": "A"}
    assert "'age'" in rejection("invoke", called({"name": "A", "age": -1}), schema)["errors"][0]
    assert json.dumps(schema) == before


def test_tools_are_refused_since_the_one_tool_is_made_of_the_schema() -> None:
    with pytest.raises(UsageError, match="schema="):
        build(tools=[len])


@pytest.mark.parametrize("mode", MODES)
def test_a_new_text_in_a_thread_leaves_nothing_of_the_old_record(mode: Mode) -> None:
    model = ScriptedModel(replies=[called(GOOD), ValueError("broken")])
    graph = build(model=model, schema=Deal).compile(checkpointer=InMemorySaver())
    assert run(mode, graph, "One.")["record"] == GOOD
    again = run(mode, graph, "Two.")
    assert (again["record"], again["status"]) == (None, "no_answer")


@pytest.mark.parametrize("mode", MODES)
def test_the_call_and_its_end_are_logged_with_arguments_and_tokens(
    mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    usage = {"input_tokens": 11, "output_tokens": 3}
    with caplog.at_level(logging.INFO, logger="rungs.audit"):
        output, _ = fill(mode, called(GOOD, usage=usage))
    model, call = [json.loads(record.message) for record in caplog.records]
    assert (model["kind"], model["input_tokens"], model["offered"]) == (
        "model_call",
        11,
        ["record_request"],
    )
    assert (call["tool"], call["arguments"], call["result"]) == ("record_request", GOOD, "recorded")
    assert output["usage"]["output_tokens"] == 3


@pytest.mark.parametrize("mode", MODES)
def test_what_is_recorded_is_plain_and_read_back_from_the_memory_file(
    mode: Mode, tmp_path: Path
) -> None:
    db = tmp_path / "r.sqlite"
    model = ScriptedModel(replies=[called({**GOOD, "due": "2025-12-31", "tags": ["x"]})])
    with open_graph("forced_output", db=db, model=model, schema=Deal) as graph:
        record = run(mode, graph, "A deal.")["record"]
    with open_graph("forced_output", db=db, model=model, schema=Deal) as graph:
        values = graph.get_state({"configurable": {"thread_id": "t"}}).values
    assert values["record"] == record
    assert json.loads(json.dumps(record)) == record
    assert record["due"] == "2025-12-31"


@pytest.mark.parametrize("mode", MODES)
def test_the_users_notes_are_in_the_prompt(mode: Mode) -> None:
    store = InMemoryStore()
    save = {"tool_calls": [{"id": "n", "name": "save_note", "args": {"text": "Is in Oslo."}}]}
    saving = compiled(ScriptedModel(replies=[save, "Noted."]), store=store)
    run(mode, saving, "I am in Oslo.", context={"user_id": "ann"})
    model = ScriptedModel(replies=[called(GOOD)])
    graph = build(model=model, schema=Deal).compile(store=store)
    run(mode, graph, "A deal.", context={"user_id": "ann"})
    assert '- "Is in Oslo."' in model.requests[0].messages[0].text


def test_the_exported_graph_has_the_nodes_and_the_stop_rule_as_labelled_edges() -> None:
    drawn = exported.get_graph()
    assert set(drawn.nodes) == {"__start__", "call_model", "validate_record", "__end__"}
    edges = {(edge.source, edge.target, edge.data) for edge in drawn.edges}
    assert ("call_model", "validate_record", "reply") in edges
    assert ("call_model", "__end__", "no reply") in edges
    assert exported.checkpointer is None
    output = exported.get_output_jsonschema()["properties"]
    assert {"record", "rejection", "answer", "status", "usage"} <= set(output)
