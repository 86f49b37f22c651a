"""Tools in context, requirement by requirement (seed "Augmented LLM")."""

import json
import logging
import time
from typing import Any

import pytest
from langchain_core.messages import SystemMessage
from langgraph.store.memory import InMemoryStore

import prompts
from graphs import GRAPHS
from graphs.models import ScriptedModel
from graphs.tools_in_context import build
from graphs.tools_in_context import graph as exported
from tests.support import ALL_MODES, MODES, Mode, compiled, result_for, results, run
from tools import load_tools
from tools.notes import read_notes

CALCULATE = {
    "tool_calls": [{"id": "c1", "name": "calculator", "args": {"expression": "240*29/30"}}]
}


def look(query: str) -> str:
    """Look something up."""
    return f"found {query}"


def looks(count: int) -> list[dict[str, Any]]:
    """Script replies that call `look`, one a reply."""
    return [
        {"tool_calls": [{"id": f"c{n}", "name": "look", "args": {"query": f"q{n}"}}]}
        for n in range(count)
    ]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_the_calculator_runs_once_its_232_is_in_the_second_call_and_the_text_is_returned(
    mode: Mode,
) -> None:
    """The seed's own test."""
    model = ScriptedModel(replies=[CALCULATE, "The refund is $232."])
    output = run(mode, compiled(model), "What is 240*29/30?")

    assert len(model.requests) == 2
    assert [r.content for r in results(output["messages"])] == ["232"]
    assert [r.content for r in results(model.requests[1].messages)] == ["232"]
    assert output["answer"] == "The refund is $232."
    assert output["status"] == "answered"
    assert output["usage"]["model_calls"] == 2
    assert output["usage"]["tool_calls"] == 1


def test_the_first_call_is_sent_the_system_prompt_the_tools_and_the_question() -> None:
    model = ScriptedModel(replies=["Hello."])
    run("invoke", compiled(model), "Hi", context={"company": "Fjord Tea"})

    (request,) = model.requests
    system, question = request.messages
    template = prompts.load("system_prompt_with_tools", names={"company", "memory_notes"})
    expected = template.render(company="Fjord Tea", memory_notes="(none)")
    assert isinstance(system, SystemMessage)
    assert system.content == expected
    assert question.content == "Hi"
    assert request.tools == ["search_docs", "calculator", "save_note"]


@pytest.mark.parametrize("mode", MODES)
def test_notes_saved_in_one_conversation_are_in_the_prompt_of_a_later_one(mode: Mode) -> None:
    store = InMemoryStore()
    save = {"tool_calls": [{"id": "n", "name": "save_note", "args": {"text": "Prefers e-mail."}}]}
    model = ScriptedModel(replies=[save, "Noted.", "You prefer e-mail.", "I do not know you."])
    graph = compiled(model, store=store)
    run(mode, graph, "Remember that I prefer e-mail.", context={"user_id": "ann"})
    run(mode, graph, "How do I like to be reached?", context={"user_id": "ann"})
    run(mode, graph, "And I?", context={"user_id": "bob"})

    assert [note.text for note in read_notes(store, "ann")] == ["Prefers e-mail."]
    assert '- "Prefers e-mail."' in str(model.requests[2].messages[0].content)
    assert "e-mail" not in str(model.requests[3].messages[0].content)


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_fails_answers_its_call_with_the_error_and_the_run_goes_on(mode: Mode) -> None:
    def look(query: str) -> str:
        """Look something up."""
        raise LookupError(f"nothing on {query}")

    model = ScriptedModel(replies=[*looks(1), "There is nothing."])
    output = run(mode, compiled(model, [look]), "?")
    sent = result_for(model.requests[1].messages, "c0")
    assert sent.status == "error"
    assert "nothing on q0" in sent.text
    assert output["answer"] == "There is nothing."


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_tool_over_its_timeout_answers_its_call_with_an_error(mode: Mode, kind: str) -> None:
    import asyncio

    def look(query: str) -> str:
        """Look something up."""
        time.sleep(5)
        return query

    async def alook(query: str) -> str:
        """Look something up."""
        await asyncio.sleep(5)
        return query

    alook.__name__ = "look"
    model = ScriptedModel(replies=[*looks(1), "Too slow."])
    graph = compiled(model, [look if kind == "sync" else alook])
    output = run(mode, graph, "?", context={"tool_timeout": 0.05})
    sent = result_for(model.requests[1].messages, "c0")
    assert sent.status == "error"
    assert "0.05 s" in sent.text
    assert output["answer"] == "Too slow."


@pytest.mark.parametrize("mode", MODES)
def test_bad_arguments_answer_their_call_with_what_is_wrong_and_the_tool_does_not_run(
    mode: Mode,
) -> None:
    ran = []

    def look(query: str) -> str:
        """Look something up."""
        ran.append(query)
        return query

    bad = {"tool_calls": [{"id": "c1", "name": "look", "args": {"text": "x"}}]}
    model = ScriptedModel(replies=[bad, "Sorry."])
    run(mode, compiled(model, [look]), "?")
    sent = result_for(model.requests[1].messages, "c1")
    assert sent.status == "error"
    assert "query" in sent.text
    assert "text" in sent.text
    assert ran == []


@pytest.mark.parametrize("mode", ALL_MODES)
def test_after_five_rounds_one_last_call_has_no_tools_and_its_answer_is_flagged(
    mode: Mode,
) -> None:
    model = ScriptedModel(replies=[*looks(5), "What I have is this."])
    output = run(mode, compiled(model, [look]), "?")

    assert [bool(request.tools) for request in model.requests] == [True] * 5 + [False]
    assert [r.content for r in results(model.requests[-1].messages)][-1] == "found q4"
    assert output["answer"] == "What I have is this."
    assert output["status"] == "tool_limit"
    assert "limit of 5 tool rounds" in output["stop_reason"]


@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_the_cap_on_tool_rounds_is_a_parameter(rounds: int) -> None:
    model = ScriptedModel(replies=[*looks(rounds), "Enough."])
    output = run("invoke", compiled(model, [look]), "?", context={"max_tool_rounds": rounds})
    assert len(results(output["messages"])) == rounds
    assert output["status"] == "tool_limit"


def test_every_shipped_tool_has_a_one_line_description_that_the_model_is_shown() -> None:
    model = ScriptedModel(replies=["Hello."])
    run("invoke", compiled(model), "Hi")
    for schema in model.requests[0].tool_schemas:
        description = schema["function"]["description"]
        assert description
        assert "\n" not in description


def test_tools_that_change_state_are_configured_apart_and_can_be_disabled() -> None:
    effects = {tool.name: tool.effect for tool in load_tools()}
    assert effects == {
        "search_docs": "read_only",
        "calculator": "read_only",
        "save_note": "state_changing",
    }
    save = {"tool_calls": [{"id": "n", "name": "save_note", "args": {"text": "x"}}]}
    model = ScriptedModel(replies=[save, "I can't."])
    store = InMemoryStore()
    run(
        "invoke",
        compiled(model, store=store),
        "Remember x.",
        context={"user_id": "ann", "read_only": True},
    )
    assert model.requests[0].tools == ["search_docs", "calculator"]
    assert "read-only" in result_for(model.requests[1].messages, "n").text
    assert read_notes(store, "ann") == []


@pytest.mark.parametrize("mode", MODES)
def test_every_model_call_and_tool_call_is_logged_with_arguments_result_and_tokens(
    mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    usage = {"input_tokens": 11, "output_tokens": 3, "total_tokens": 14}
    model = ScriptedModel(replies=[{**CALCULATE, "usage": usage}, {"text": "232.", "usage": usage}])
    with caplog.at_level(logging.INFO, logger="rungs.audit"):
        run(mode, compiled(model), "?", context={"user_id": "ann"})
    first, tool, second = [json.loads(record.message) for record in caplog.records]

    assert [first["kind"], tool["kind"], second["kind"]] == [
        "model_call",
        "tool_call",
        "model_call",
    ]
    assert (first["input_tokens"], first["output_tokens"]) == (11, 3)
    assert first["calls"] == ["calculator"]
    assert first["offered"] == ["search_docs", "calculator", "save_note"]
    assert tool["tool"] == "calculator"
    assert tool["arguments"] == {"expression": "240*29/30"}
    assert tool["result"] == "232"
    assert second["result"] == "232."
    assert {event["thread"] for event in (first, tool, second)} == {"t"}
    assert {event["user"] for event in (first, tool, second)} == {"ann"}
    assert [first["step"], tool["step"], second["step"]] == [1, 1, 2]


def test_tokens_are_added_up_and_one_unknown_count_makes_the_sum_unknown() -> None:
    usage = {"input_tokens": 11, "output_tokens": 3, "total_tokens": 14}
    known = ScriptedModel(replies=[{**CALCULATE, "usage": usage}, {"text": "232", "usage": usage}])
    unknown = ScriptedModel(replies=[{**CALCULATE, "usage": usage}, "232"])
    assert run("invoke", compiled(known), "?")["usage"]["input_tokens"] == 22
    assert run("invoke", compiled(unknown), "?")["usage"]["input_tokens"] is None


def test_the_exported_graph_has_the_nodes_and_the_stop_rules_as_labelled_edges() -> None:
    drawn = exported.get_graph()
    nodes = set(drawn.nodes) - {"__start__", "__end__"}
    assert nodes == {"call_model", "validate_calls", "approve", "run_tools", "finalize"}
    edges = {(edge.source, edge.target, edge.data) for edge in drawn.edges}
    assert ("call_model", "__end__", "answer") in edges
    assert ("call_model", "validate_calls", "tool calls") in edges
    assert ("validate_calls", "run_tools", "valid calls") in edges
    assert ("run_tools", "call_model", "next round") in edges
    assert ("run_tools", "finalize", "out of rounds") in edges
    assert exported.checkpointer is None


def test_a_prompt_lists_the_tools_that_the_graph_really_has() -> None:
    model = ScriptedModel(replies=["Hello."])
    run("invoke", compiled(model, [look]), "Hi")
    system = str(model.requests[0].messages[0].content)
    assert "- look(query): Look something up." in system
    assert "search_docs(query)" not in system


def test_build_returns_a_graph_that_is_not_compiled() -> None:
    assert hasattr(build(), "compile")


@pytest.mark.parametrize("name", list(GRAPHS))
def test_each_exported_graph_has_the_schemas_that_studio_asks_for(name: str) -> None:
    graph = GRAPHS[name].graph
    assert "messages" in graph.get_input_jsonschema()["properties"]
    assert {"answer", "status", "stop_reason", "usage"} <= set(
        graph.get_output_jsonschema()["properties"]
    )
    context = graph.get_context_jsonschema()["properties"]
    assert context["tool_timeout"]["description"]
    assert context["tool_result_limit"]["maximum"] == 1_000_000
