"""Calls that may run as they stand go straight to the tools; all others are checked in a step."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from graphs.models import ScriptedModel
from tests.support import ALL_MODES, MODES, Mode, compiled, result_for, run
from tools import contract

VARIANTS = ("tools_in_context", "tool_calling")
THREAD: Any = {"configurable": {"thread_id": "t"}}


def look(query: str, limit: int = 3) -> str:
    """Look something up."""
    return f"{limit} of {query}"


LOOK = contract(look, effect="read_only")


def asking(*calls: dict[str, Any]) -> ScriptedModel:
    return ScriptedModel(replies=[{"tool_calls": list(calls)}, "Done."])


def call(**arguments: Any) -> dict[str, Any]:
    return {"id": "c1", "name": "look", "args": arguments}


def nodes_of(graph: Any, question: Any = "Look it up") -> list[str]:
    given = {"messages": [("user", question)]} if isinstance(question, str) else question
    return [name for update in graph.stream(given, THREAD) for name in update]


@pytest.mark.parametrize("name", VARIANTS)
def test_sound_calls_take_one_step_less(name: str) -> None:
    graph = compiled(asking(call(query="tea")), [LOOK], name, checkpointer=InMemorySaver())
    assert nodes_of(graph) == ["call_model", "run_tools", "call_model"]


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize(
    "wrong",
    [
        {"query": 5},
        {"query": "tea", "colour": "green"},
        {"limit": 3},
    ],
)
def test_one_call_that_may_not_run_sends_the_whole_reply_to_be_checked(
    name: str, wrong: dict[str, Any]
) -> None:
    model = asking(call(query="tea"), {**call(**wrong), "id": "c2"})
    graph = compiled(model, [LOOK], name, checkpointer=InMemorySaver())
    assert nodes_of(graph) == ["call_model", "validate_calls", "run_tools", "call_model"]
    sent = model.requests[1].messages
    assert result_for(sent, "c1").text == "3 of tea"
    assert result_for(sent, "c2").status == "error"


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_sound_call_runs_with_its_defaults_and_what_could_be_read_losslessly(mode: Mode) -> None:
    model = asking(call(query="tea", limit="4"))
    graph = compiled(model, [LOOK], checkpointer=InMemorySaver())
    run(mode, graph, "Look it up")
    result = result_for(model.requests[1].messages, "c1")
    assert result.text == "4 of tea"
    assert result.additional_kwargs["arguments"] == {"query": "tea", "limit": 4}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_third_equal_call_is_checked_and_warned_of(name: str) -> None:
    replies = [{"tool_calls": [{**call(query="tea"), "id": f"c{n}"}]} for n in range(3)]
    model = ScriptedModel(replies=[*replies, "Done."])
    graph = compiled(model, [LOOK], name, checkpointer=InMemorySaver())
    taken = nodes_of(graph)
    assert taken.count("run_tools") == 2
    assert taken.count("validate_calls") == 1


@pytest.mark.parametrize("name", VARIANTS)
def test_a_call_that_needs_a_yes_never_goes_straight(name: str) -> None:
    needs = contract(look, effect="state_changing", requires_confirmation=True)
    graph = compiled(asking(call(query="tea")), [needs], name, checkpointer=InMemorySaver())
    assert nodes_of(graph) == ["call_model", "validate_calls", "__interrupt__"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize(
    ("edited", "said"),
    [
        ({"query": "coffee"}, "3 of coffee"),
        ({"query": 7}, "query"),
        ({}, "query"),
    ],
)
def test_a_call_that_a_person_edits_in_the_transcript_runs_as_edited_or_says_why_not(
    mode: Mode, name: str, edited: dict[str, Any], said: str
) -> None:
    model = asking(call(query="tea"))
    graph = compiled(
        model, [LOOK], name, checkpointer=InMemorySaver(), interrupt_after=["call_model"]
    )
    run(mode, graph, "Look it up")
    (reply,) = [m for m in graph.get_state(THREAD).values["messages"] if isinstance(m, AIMessage)]
    changed = reply.model_copy(update={"tool_calls": [{**reply.tool_calls[0], "args": edited}]})
    graph.update_state(THREAD, {"messages": [changed]}, as_node="call_model")
    run(mode, graph, None)
    assert said in result_for(graph.get_state(THREAD).values["messages"], "c1").text
    assert "tea" not in result_for(graph.get_state(THREAD).values["messages"], "c1").text


@pytest.mark.parametrize("name", VARIANTS)
def test_a_call_that_a_person_takes_out_of_the_reply_does_not_run(name: str) -> None:
    ran: list[str] = []

    def note(query: str) -> str:
        """Note something."""
        ran.append(query)
        return query

    model = ScriptedModel(
        replies=[
            {"tool_calls": [{"id": f"c{n}", "name": "note", "args": {"query": n}} for n in "12"]},
            "Done.",
        ]
    )
    tools = [contract(note, effect="read_only")]
    saver = InMemorySaver()
    graph = compiled(model, tools, name, checkpointer=saver, interrupt_after=["call_model"])
    run("invoke", graph, "Note both")
    (reply,) = [m for m in graph.get_state(THREAD).values["messages"] if isinstance(m, AIMessage)]
    changed = reply.model_copy(update={"tool_calls": reply.tool_calls[1:]})
    graph.update_state(THREAD, {"messages": [changed]}, as_node="call_model")
    run("invoke", graph, None)
    run("invoke", graph, None)
    assert ran == ["2"]
    assert graph.get_state(THREAD).values["answer"] == "Done."


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("node", ["call_model", None])
def test_a_reply_that_a_person_writes_in_the_place_of_another_leaves_no_call_open(
    name: str, node: str | None
) -> None:
    model = asking(call(query="tea"))
    saver = InMemorySaver()
    graph = compiled(model, [LOOK], name, checkpointer=saver, interrupt_before=["run_tools"])
    run("invoke", graph, "Look it up")
    written = AIMessage("", tool_calls=[{**call(query="coffee"), "id": "c7"}])
    graph.update_state(THREAD, {"messages": [written]}, as_node=node)
    for _ in range(3):
        run("invoke", graph, None)
    messages = graph.get_state(THREAD).values["messages"]
    answered = [message.tool_call_id for message in messages if message.type == "tool"]
    assert answered.count("c7") == 1
    assert result_for(messages, "c7").text == "3 of coffee"


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize(
    "written",
    [
        [5],
        "x",
        [{"id": "c1"}],
        [{"name": "look", "args": {"limit": "no"}, "id": "c1", "asked": {"query": "tea"}}],
    ],
)
def test_calls_that_a_person_writes_into_the_state_end_no_run(name: str, written: Any) -> None:
    model = asking(call(query="tea"))
    saver = InMemorySaver()
    graph = compiled(model, [LOOK], name, checkpointer=saver, interrupt_before=["run_tools"])
    run("invoke", graph, "Look it up")
    graph.update_state(THREAD, {"calls": written})
    for _ in range(3):
        run("invoke", graph, None)
    result = result_for(graph.get_state(THREAD).values["messages"], "c1")
    assert result.text == "3 of tea" or result.status == "error"
    assert graph.get_state(THREAD).values["status"] == "answered"
