"""Every stream mode tells which tool runs, with what, how far it is, and how it ended."""

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.config import get_stream_writer

from graphs.models import ScriptedModel
from tests.support import compiled
from tools import Contract, Progress, StoppedError, contract
from tools.progress import CHARACTERS, SECONDS_APART

Way = Literal["stream", "astream"]
WAYS: tuple[Way, ...] = ("stream", "astream")
SECRET = "sk-live-4242424242424242"

pytestmark = pytest.mark.parametrize("way", WAYS)


def streamed(way: Way, graph: Any, modes: Sequence[str]) -> list[tuple[str, Any]]:
    """Run a graph and return what each stream mode told, in order."""
    given = {"messages": [("user", "?")]}

    async def collected() -> list[tuple[str, Any]]:
        return [part async for part in graph.astream(given, stream_mode=modes)]

    if way == "astream":
        return asyncio.run(collected())
    return list(graph.stream(given, stream_mode=modes))


def events(way: Way, tools: list[Contract], *calls: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one reply's calls and return what `custom` told."""
    model = ScriptedModel(replies=[{"tool_calls": list(calls)}, "Done."])
    return [told for _, told in streamed(way, compiled(model, tools), ["custom"])]


def call(call_id: str, name: str, **args: Any) -> dict[str, Any]:
    return {"id": call_id, "name": name, "args": args}


def look(key: str) -> str:
    """Look."""
    return f"found {SECRET}"


async def fetch(key: str) -> str:
    """Fetch."""
    await asyncio.sleep(0)
    raise ValueError("no such key")


LOOKS = [contract(look, effect="read_only"), contract(fetch, effect="read_only")]


def test_updates_messages_and_custom_each_tell_what_runs_and_how_it_ended(way: Way) -> None:
    calls = [call("a", "look", key="k"), call("b", "fetch", key="k"), call("c", "look", kye="k")]
    model = ScriptedModel(replies=[{"tool_calls": calls}, "Done."])
    parts = streamed(way, compiled(model, LOOKS), ["updates", "messages", "custom"])
    assert SECRET not in str(parts)
    custom = [told for mode, told in parts if mode == "custom"]
    told = {(t["call_id"], t["state"]): t for t in custom}
    assert set(told) == {(i, s) for i in "ab" for s in ("started", "ended")} | {("c", "ended")}
    assert told["a", "started"]["arguments"] == {"key": "k"}
    assert told["a", "ended"]["status"] == "success"
    assert told["a", "ended"]["result"] == "found [redacted]"
    assert told["b", "ended"]["code"] == "failed"
    assert "no such key" in told["b", "ended"]["result"]
    assert told["c", "ended"]["code"] == "invalid_arguments"
    assert "seconds" not in told["c", "ended"]

    written = [m for mode, t in parts if mode == "updates" for m in _messages(t)]
    streamed_messages = [t[0] for mode, t in parts if mode == "messages"]
    for messages in (written, streamed_messages):
        asked = [c["name"] for m in messages if isinstance(m, AIMessage) for c in m.tool_calls]
        assert asked == ["look", "fetch", "look"]
        ended = {m.tool_call_id: m.status for m in messages if isinstance(m, ToolMessage)}
        assert ended == {"a": "success", "b": "error", "c": "error"}


def _messages(update: Any) -> list[Any]:
    return [m for written in update.values() for m in (written or {}).get("messages", [])]


def test_a_quick_call_is_told_as_ended_while_a_slow_one_runs(way: Way) -> None:
    def quick() -> str:
        """Be quick."""
        return "quick"

    def slow() -> str:
        """Be slow."""
        time.sleep(0.2)
        return "slow"

    tools = [contract(slow, effect="read_only"), contract(quick, effect="read_only")]
    told = events(way, tools, call("a", "slow"), call("b", "quick"))
    assert [t["tool"] for t in told if t["state"] == "ended"] == ["quick", "slow"]


def export(rows: int, progress: Progress) -> str:
    """Export rows.

    Args:
        rows: How many.
        progress: Filled in.
    """
    for row in range(rows):
        progress(f"row {row} with {SECRET}\n" + "x" * 1000, done=row + 1, total=rows)
    return "exported"


async def aexport(rows: int, progress: Progress) -> str:
    """Export rows.

    Args:
        rows: How many.
        progress: Filled in.
    """
    for row in range(rows):
        progress(f"row {row} with {SECRET}\n" + "x" * 1000, done=row + 1, total=rows)
        await asyncio.sleep(0)
    return "exported"


@pytest.mark.parametrize("function", [export, aexport])
def test_a_long_tool_tells_its_progress_now_and_then_on_one_short_line(
    way: Way, function: Any
) -> None:
    tool = contract(function, effect="read_only", name="export")
    assert list(tool.parameters["properties"]) == ["rows"]
    started = time.monotonic()
    told = events(way, [tool], call("a", "export", rows=500))
    most = 2 + (time.monotonic() - started) / SECONDS_APART
    assert [told[0]["state"], told[-1]["state"]] == ["started", "ended"]
    progress = told[1:-1]
    assert {t["state"] for t in progress} == {"progress"}
    assert 2 <= len(progress) <= most
    assert (progress[0]["done"], progress[-1]["done"], progress[-1]["total"]) == (1, 500, 500)
    assert all(len(t["text"]) <= CHARACTERS and "\n" not in t["text"] for t in progress)
    assert SECRET not in json.dumps(told)
    assert progress[0]["tool"], progress[0]["call_id"] == ("export", "a")


def test_what_is_no_number_is_not_told_and_progress_without_a_listener_is_no_error(
    way: Way,
) -> None:
    def step(progress: Progress) -> str:
        """Step."""
        progress("half", done=float("nan"), total=float("inf"))
        return str(progress.stopped)

    told = events(way, [contract(step, effect="read_only")], call("a", "step"))
    assert told[1]["text"] == "half"
    assert not {"done", "total"} & told[1].keys()
    assert told[2]["result"] == "False"
    Progress()("nobody listens")


def test_a_tool_whose_time_is_up_is_stopped_at_its_next_word(way: Way) -> None:
    stopped: list[str] = []

    def endless(progress: Progress) -> str:
        """Go on for ever."""
        try:
            while True:
                progress("on and on")
                time.sleep(0.005)
        except StoppedError:
            stopped.append("stopped")
            raise

    told = events(way, [contract(endless, effect="read_only", timeout=0.1)], call("a", "endless"))
    assert told[-1]["code"] == "timeout"
    end = time.monotonic() + 10
    while not stopped and time.monotonic() < end:
        time.sleep(0.01)
    assert stopped == ["stopped"]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_langgraphs_own_stream_writer_works_in_a_tool_too(way: Way, kind: str) -> None:
    def write() -> str:
        """Write."""
        get_stream_writer()({"mine": 1})
        return "written"

    async def awrite() -> str:
        """Write."""
        get_stream_writer()({"mine": 1})
        return "written"

    tool = contract(write if kind == "sync" else awrite, effect="read_only", name="write")
    told = events(way, [tool], call("a", "write"))
    assert {"mine": 1} in told
