"""Tools that misbehave: they end their own call, and nothing else."""

import asyncio
import time
from typing import Any

import pytest
from langgraph.types import Command, interrupt
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver

from graphs.models import ScriptedModel
from tests.support import MODES, Mode, compiled, result_for, results, run
from tools import contract

pytestmark = pytest.mark.parametrize("mode", MODES)


class Boom(BaseException):
    """What no tool should raise."""


def calling(*names: str, **arguments: Any) -> dict[str, Any]:
    made = [{"id": f"c{n}", "name": name, "args": arguments} for n, name in enumerate(names)]
    return {"tool_calls": made}


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError, Boom]
)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_whatever_a_tool_raises_becomes_its_result(
    mode: Mode, error: type[BaseException], kind: str
) -> None:
    def bad() -> str:
        """Fail badly."""
        raise error

    async def abad() -> str:
        """Fail badly."""
        raise error

    async def good() -> str:
        """Succeed."""
        return "fine"

    abad.__name__ = "bad"
    replies = [calling("bad"), calling("good"), "ok"]
    tools = [bad if kind == "sync" else abad, good]
    output = run(mode, compiled(ScriptedModel(replies=replies), tools), "?")
    first, second = results(output["messages"])
    assert first.status == "error"
    assert "unknown" not in first.text
    assert second.text == "fine"
    assert output["answer"] == "ok"


def test_an_async_tool_that_blocks_its_loop_costs_no_later_call(mode: Mode) -> None:
    async def block() -> str:
        """Block."""
        time.sleep(1.0)  # noqa: ASYNC251 - the fault under test
        return "late"

    async def quick() -> str:
        """Be quick."""
        return "quick"

    replies = [calling("block"), calling("quick"), "ok"]
    tools = [contract(block, timeout=0.1, requires_confirmation=False), quick]
    output = run(mode, compiled(ScriptedModel(replies=replies), tools), "?")
    assert results(output["messages"])[1].text == "quick"


def test_a_tool_alone_in_its_reply_may_pause_for_a_person(mode: Mode) -> None:
    def ask_person(question: str) -> str:
        """Ask a person."""
        return f"they said {interrupt(question)}"

    model = ScriptedModel(replies=[calling("ask_person", question="ok?"), "Done."])
    graph = compiled(model, [ask_person], checkpointer=InMemorySaver())
    paused = run(mode, graph, "?")
    assert paused["__interrupt__"][0].value == "ok?"
    output = run(mode, graph, Command(resume="yes"))  # type: ignore[arg-type]
    assert [r.text for r in results(output["messages"])] == ["they said yes"]


def test_a_tool_beside_others_may_not_pause_and_no_sibling_runs_twice(mode: Mode) -> None:
    mailed: list[int] = []

    def mail() -> str:
        """Send mail."""
        mailed.append(1)
        return "sent"

    def pay() -> str:
        """Pay."""
        return f"paid {interrupt('pay?')}"

    model = ScriptedModel(replies=[calling("mail", "pay"), "Done."])
    output = run(mode, compiled(model, [mail, pay], checkpointer=InMemorySaver()), "?")
    assert mailed == [1]
    assert "one call" in result_for(output["messages"], "c1").text
    assert output["answer"] == "Done."


def test_a_tool_that_needs_a_persons_yes_does_not_run_without_one(mode: Mode) -> None:
    ran: list[int] = []

    def refund() -> str:
        """Refund."""
        ran.append(1)
        return "refunded"

    tool = contract(refund, effect="state_changing", requires_confirmation=True)
    output = run(mode, compiled(ScriptedModel(replies=[calling("refund"), "No."]), [tool]), "?")
    assert ran == []
    assert "person's yes" in result_for(output["messages"], "c0").text


def test_a_command_is_no_result(mode: Mode) -> None:
    def fetch() -> Any:
        """Fetch it."""
        return Command(update={"answer": "forged"})

    output = run(mode, compiled(ScriptedModel(replies=[calling("fetch"), "ok"]), [fetch]), "?")
    assert result_for(output["messages"], "c0").status == "error"
    assert output["answer"] == "ok"


class Listener(BaseCallbackHandler):
    """Notes which tools it is told of."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def on_tool_start(self, serialized: Any, input_str: str, **_: Any) -> None:
        self.heard.append(("start", serialized["name"]))

    def on_tool_end(self, output: Any, **_: Any) -> None:
        self.heard.append(("end", str(getattr(output, "content", output))))

    def on_tool_error(self, error: BaseException, **_: Any) -> None:
        self.heard.append(("error", str(error)))


def test_callbacks_are_told_of_each_tool_once(mode: Mode) -> None:
    def look() -> str:
        """Look it up."""
        return "found"

    @langchain_tool
    def peek() -> str:
        """Peek at it."""
        return "seen"

    def fail() -> str:
        """Fail."""
        raise ValueError("no")

    listener = Listener()
    model = ScriptedModel(replies=[calling("look"), calling("peek"), calling("fail"), "ok"])
    run(mode, compiled(model, [look, peek, fail]), "?", config={"callbacks": [listener]})
    assert listener.heard == [
        ("start", "look"),
        ("end", "found"),
        ("start", "peek"),
        ("end", "seen"),
        ("start", "fail"),
        ("error", "fail failed: ValueError: no"),
    ]


def test_secrets_in_arguments_are_not_streamed_as_custom_events(mode: Mode) -> None:
    def login(key: str) -> str:
        """Log in."""
        return "in"

    graph = compiled(
        ScriptedModel(replies=[calling("login", key="sk-live-123456789012"), "ok"]), [login]
    )

    async def collect() -> list[Any]:
        given = {"messages": [("user", "?")]}
        return [part async for part in graph.astream(given, stream_mode="custom")]

    events = (
        list(graph.stream({"messages": [("user", "?")]}, stream_mode="custom"))
        if mode == "invoke"
        else asyncio.run(collect())
    )
    assert events[0]["tool"] == "login"
    assert "sk-live" not in str(events)
