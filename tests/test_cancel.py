"""Cancel: what can be stopped is, nothing more starts, and the thread takes the next message."""

import asyncio
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphs import open_graph
from graphs.control import controlled
from graphs.models import ScriptedModel
from tests.cli import LONGEST, finish, home, rungs, scripted, start
from tests.support import MODES, Mode, result_for, results, run
from tests.test_cli_stopping import until
from tools import Contract, Progress, StoppedError, contract

__all__ = ["home"]

CONFIG: Any = {"configurable": {"thread_id": "t"}}
QUESTION: Any = {"messages": [("user", "Q1")]}


class Tools:
    """Tools that run until they are stopped, and one that must not start."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.ended: list[str] = []

    def all(self) -> list[Contract]:
        def polite(progress: Progress) -> str:
            """Run on, and tell."""
            self.began.append("polite")
            try:
                while True:
                    progress("on and on")
                    time.sleep(0.002)
            except StoppedError:
                self.ended.append("polite")
                raise

        async def waits() -> str:
            """Wait on the loop."""
            self.began.append("waits")
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                self.ended.append("waits")
                raise
            return "waited"

        def quick() -> str:
            """Be done at once."""
            self.began.append("quick")
            self.ended.append("quick")
            return "quick"

        def later() -> str:
            """Be called later."""
            self.began.append("later")
            return "later"

        return [
            contract(tool, effect="state_changing", requires_confirmation=False)
            for tool in (polite, waits, quick, later)
        ]


def replies() -> list[Any]:
    three = [{"id": i, "name": n, "args": {}} for i, n in zip("abc", NAMES, strict=True)]
    return [{"tool_calls": three}, {"tool_calls": [{"id": "d", "name": "later", "args": {}}]}]


NAMES = ("polite", "waits", "quick")


def eventually(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


async def test_a_cancelled_task_stops_its_tools_starts_nothing_and_the_thread_goes_on(
    tmp_path: Path,
) -> None:
    tools = Tools()
    model = ScriptedModel(replies=replies())
    async with open_graph(
        "tool_calling", db=tmp_path / "r.sqlite", model=model, tools=tools.all()
    ) as graph:
        running = asyncio.create_task(graph.ainvoke(QUESTION, CONFIG))
        await asyncio.to_thread(eventually, lambda: len(tools.began) == 3)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.to_thread(eventually, lambda: sorted(tools.ended) == sorted(NAMES))
    model = ScriptedModel(replies=["On with Q2."])
    async with open_graph(
        "tool_calling", db=tmp_path / "r.sqlite", model=model, tools=tools.all()
    ) as graph:
        output = await graph.ainvoke({"messages": [("user", "Q2")]}, CONFIG)
    assert "later" not in tools.began
    assert output["answer"] == "On with Q2."
    sent = {m.tool_call_id: m for m in results(model.requests[0].messages)}
    assert {"a", "b", "c"} == set(sent)
    assert "unknown" in sent["a"].text
    assert "unknown" in sent["b"].text


def test_ctrl_c_in_a_sync_caller_stops_its_tools_and_the_thread_goes_on(tmp_path: Path) -> None:
    tools = Tools()
    db = tmp_path / "r.sqlite"

    def press() -> None:
        eventually(lambda: len(tools.began) == 3)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    model = ScriptedModel(replies=replies())
    with (
        open_graph("tool_calling", db=db, model=model, tools=tools.all()) as graph,
        pytest.raises(KeyboardInterrupt),
    ):
        graph.invoke(QUESTION, CONFIG)
    eventually(lambda: sorted(tools.ended) == sorted(NAMES))
    model = ScriptedModel(replies=["On with Q2."])
    with open_graph("tool_calling", db=db, model=model, tools=tools.all()) as graph:
        output = run("invoke", graph, "Q2")
    assert "later" not in tools.began
    assert output["answer"] == "On with Q2."
    assert "unknown" in result_for(output["messages"], "a").text


@pytest.mark.parametrize("mode", MODES)
def test_tools_that_are_asked_to_stop_answer_that_they_were_and_the_run_goes_on(
    mode: Mode, tmp_path: Path
) -> None:
    """As the first Ctrl-C of `rungs ask` does; what ran beside them is recorded."""
    tools = Tools()
    heard: list[tuple[str, str]] = []
    model = ScriptedModel(replies=[replies()[0], "Stopped."])

    def press(control: Any) -> None:
        eventually(lambda: len(tools.began) == 3 and ("quick", "ended") in heard)
        control.stop()

    with (
        open_graph(
            "tool_calling", db=tmp_path / "r.sqlite", model=model, tools=tools.all()
        ) as graph,
        controlled(lambda event: heard.append((event["tool"], event["state"]))) as control,
    ):
        threading.Thread(target=press, args=(control,), daemon=True).start()
        output = run(mode, graph, "Q1", context={"tool_timeout": 30})
    told = result_for(output["messages"], "a")
    assert told.text == "polite was stopped before it ended: whether it took effect is unknown"
    assert told.additional_kwargs["code"] == "interrupted"
    assert result_for(output["messages"], "b").text.startswith("waits was stopped")
    assert result_for(output["messages"], "c").text == "quick"
    assert ("polite", "progress") in heard


TOOLS = """
[state_changing.polite]
use = "tests.test_cancel:polite"
requires_confirmation = false
timeout = 50

[state_changing.waits]
use = "tests.test_cancel:waits"
requires_confirmation = false
timeout = 50
"""


def polite(path: str, progress: Progress) -> str:
    """Write a line and run on until it is stopped.

    Args:
        path: The file that is written.
        progress: Filled in.
    """
    Path(path).write_text("begun", encoding="utf-8")
    try:
        while True:
            progress("on and on", done=1, total=2)
            time.sleep(0.005)
    except StoppedError:
        Path(path).write_text("stopped", encoding="utf-8")
        raise


async def waits(path: str) -> str:
    """Write a line and wait until it is stopped.

    Args:
        path: The file that is written.
    """
    # Without a wait between: a cancel there would find the file, and nobody to write it anew.
    Path(path).write_text("begun", encoding="utf-8")  # noqa: ASYNC240 - it is one line
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        Path(path).write_text("stopped", encoding="utf-8")  # noqa: ASYNC240 - the last it does
        raise
    return "waited"


@pytest.mark.processes
@pytest.mark.parametrize("tool", ["polite", "waits"])
def test_ctrl_c_stops_a_tool_that_can_be_stopped_and_the_run_can_be_resumed(
    home: Path, tool: str
) -> None:
    file, db, written = home / "tools.toml", str(home / "m.sqlite"), home / "written"
    file.write_text(TOOLS, encoding="utf-8")
    call = {"id": "s1", "name": tool, "args": {"path": str(written)}}
    model = scripted(home, [{"tool_calls": [call]}, {"text": "It was stopped."}])
    process = start(
        *("ask", "Go.", "-t", "t", "--tools", str(file), "--model", model, "--db", db, "--json")
    )
    until(written.exists, process)
    process.send_signal(signal.SIGINT)
    said = finish(process)
    assert said.code == 130
    assert written.read_text(encoding="utf-8") == "stopped"
    assert f"stopping {tool}; Ctrl-C again quits at once" in said.err
    assert f"{tool} was stopped before its end" in said.json["stop_reason"]
    assert "nothing more was started" in said.json["stop_reason"]
    resumed = rungs("resume", "t", "--db", db, "--json")
    assert resumed.json["answer"] == "It was stopped."
    assert "was stopped before it ended" in rungs("audit", "t", "--db", db).out
