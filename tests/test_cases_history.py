"""Histories that a cancel, a crash or a caller left odd: what providers refuse is never sent."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from graphs import open_graph
from graphs.models import ScriptedModel
from tests.support import ALL_MODES, Mode, result_for, run

CONFIG: Any = {"configurable": {"thread_id": "t"}}


def ask(text: str) -> Any:
    return {"messages": [{"role": "user", "content": text}]}


@pytest.mark.parametrize("mode", ALL_MODES)
async def test_a_cancel_while_a_tool_runs_leaves_a_thread_that_answers(
    mode: Mode, tmp_path: Path
) -> None:
    """Case DNG-01."""
    started = asyncio.Event()
    later: list[str] = []

    async def slow() -> str:
        """Take long."""
        started.set()
        await asyncio.sleep(30)
        later.append("never")
        return "late"

    call = {"tool_calls": [{"id": "a", "name": "slow", "args": {}}]}
    model = ScriptedModel(replies=[call, "Q2 answered."])
    db = tmp_path / "r.sqlite"
    async with open_graph("tools_in_context", db=db, model=model, tools=[slow]) as graph:
        running = asyncio.create_task(graph.ainvoke(ask("Q1"), CONFIG))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        output = await asyncio.to_thread(run, mode, graph, "Q2")
    assert output["answer"] == "Q2 answered."
    assert output["usage"]["model_calls"] == 1
    kinds = [type(message).__name__ for message in model.requests[1].messages[1:]]
    assert kinds == ["HumanMessage", "AIMessage", "ToolMessage", "HumanMessage"]
    closed = result_for(model.requests[1].messages, "a")
    assert closed.status == "error"
    assert "whether it took effect is unknown" in closed.text
    assert later == []


@pytest.mark.parametrize("mode", ALL_MODES)
async def test_after_a_cancel_the_run_can_also_be_gone_on_with(mode: Mode, tmp_path: Path) -> None:
    """Case DNG-01, without a new question."""
    runs: list[int] = []
    started = asyncio.Event()

    async def act() -> str:
        """Act."""
        runs.append(1)
        started.set()
        await asyncio.sleep(30 if len(runs) == 1 else 0)
        return "done"

    call = {"tool_calls": [{"id": "a", "name": "act", "args": {}}]}
    model = ScriptedModel(replies=[call, "Finished."])
    db = tmp_path / "r.sqlite"
    async with open_graph("tools_in_context", db=db, model=model, tools=[act]) as graph:
        running = asyncio.create_task(graph.ainvoke(ask("Q1"), CONFIG))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        output = await asyncio.to_thread(run, mode, graph, None)
    assert output["answer"] == "Finished."


@pytest.mark.parametrize("given", ["Q2", None], ids=["a new question", "gone on with"])
@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_call_whose_process_ended_before_its_tool_is_closed_unrun_or_runs_once(
    mode: Mode, given: str | None, tmp_path: Path
) -> None:
    """Case DNG-03: what is recorded then is what a run leaves that stops before its tools."""
    runs: list[int] = []

    def act() -> str:
        """Act."""
        runs.append(1)
        return "done"

    db = tmp_path / "r.sqlite"
    call = {"tool_calls": [{"id": "a", "name": "act", "args": {}}]}
    model = ScriptedModel(replies=[call])
    with open_graph("tools_in_context", db=db, model=model, tools=[act]) as graph:
        graph.invoke(ask("Q1"), CONFIG, interrupt_before=["run_tools"])
        assert graph.get_state(CONFIG).next == ("run_tools",)
    model = ScriptedModel(replies=["Answered."])
    with open_graph("tools_in_context", db=db, model=model, tools=[act]) as graph:
        output = run(mode, graph, given)
    assert output["answer"] == "Answered."
    closed = result_for(model.requests[0].messages, "a")
    kinds = [type(message).__name__ for message in model.requests[0].messages[1:4]]
    assert kinds == ["HumanMessage", "AIMessage", "ToolMessage"]
    if given is None:
        assert (runs, closed.text, closed.status) == ([1], "done", "success")
    else:
        assert (runs, closed.status) == ([], "error")
        assert closed.text.startswith("not executed")


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_result_whose_call_is_gone_is_not_sent_and_stays_recorded(
    mode: Mode, tmp_path: Path
) -> None:
    """Case DNG-05."""
    model = ScriptedModel(replies=["Q2 answered."])
    history = [
        HumanMessage("Q1"),
        ToolMessage("orphan", tool_call_id="x"),
        AIMessage("A1"),
        HumanMessage("Q2"),
    ]
    with open_graph("tools_in_context", db=tmp_path / "r", model=model, tools=[]) as graph:
        output = run(mode, graph, {"messages": history})
    assert output["answer"] == "Q2 answered."
    sent = [message.text for message in model.requests[0].messages[1:]]
    assert sent == ["Q1", "A1", "Q2"]
    assert "orphan" in [message.text for message in output["messages"]]


@pytest.mark.parametrize("mode", ALL_MODES)
async def test_a_cancel_while_text_streams_records_nothing_of_it(
    mode: Mode, tmp_path: Path
) -> None:
    """Case DNG-07: a reply that did not come whole is not part of the history."""
    model = ScriptedModel(replies=["The answer is 4 and then some more words.", "Because."])
    db = tmp_path / "r.sqlite"
    async with open_graph("tools_in_context", db=db, model=model, tools=[]) as graph:
        stream: Any = graph.astream(ask("What?"), CONFIG, stream_mode="messages")
        async for _ in stream:
            break
        await stream.aclose()
        output = await asyncio.to_thread(run, mode, graph, "Why?")
    assert output["answer"] == "Because."
    sent = [message.text for message in model.requests[1].messages[1:]]
    assert sent == ["What?", "Why?"]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_sync_stream_that_is_broken_off_records_nothing_of_its_text(
    mode: Mode, tmp_path: Path
) -> None:
    """Case DNG-07, for a caller without a loop."""
    model = ScriptedModel(replies=["The answer is 4 and then some more words.", "Because."])
    with open_graph("tools_in_context", db=tmp_path / "r", model=model, tools=[]) as graph:
        stream: Any = graph.stream(ask("What?"), CONFIG, stream_mode="messages")
        next(stream)
        stream.close()
        output = run(mode, graph, "Why?")
    assert output["answer"] == "Because."
    questions = [m.text for m in model.requests[1].messages if m.type == "human"]
    assert questions == ["What?", "Why?"]
    assert all(m.text for m in model.requests[1].messages if m.type == "ai")


async def test_a_cancel_starts_nothing_further(tmp_path: Path) -> None:
    ran: list[str] = []

    def first() -> str:
        """Run first."""
        time.sleep(0.2)
        ran.append("first")
        return "one"

    def second() -> str:
        """Run second."""
        ran.append("second")
        return "two"

    replies: list[Any] = [
        {"tool_calls": [{"id": "a", "name": "first", "args": {}}]},
        {"tool_calls": [{"id": "b", "name": "second", "args": {}}]},
        "never",
    ]
    model = ScriptedModel(replies=replies)
    db = tmp_path / "r.sqlite"
    async with open_graph("tools_in_context", db=db, model=model, tools=[first, second]) as graph:
        running = asyncio.create_task(graph.ainvoke(ask("Q1"), CONFIG))
        await asyncio.sleep(0.1)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.sleep(0.3)
    assert "second" not in ran
    assert len(model.requests) <= 1
