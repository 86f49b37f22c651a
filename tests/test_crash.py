"""A process killed between two steps: another goes on, and nothing finished runs again."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphs import open_graph
from graphs.models import ScriptedModel
from graphs.threads import get_thread
from tests.support import MODES, Mode, results, run
from tools import contract

pytestmark = pytest.mark.processes

ROUNDS = 2
STEPS = 2 * ROUNDS + 1
QUESTION = "How many effects?"


def effect_tool(log: Path, **known: Any) -> Any:
    """Make a tool whose effect is counted outside the process."""

    def act(number: int) -> str:
        """Do something that is counted."""
        with log.open("a") as file:
            file.write(f"{number}\n")
        return f"did {number}"

    return contract(act, requires_confirmation=False, **known)


def counting_model() -> ScriptedModel:
    """Make a model that decides by the transcript alone, so that any process may go on with it."""

    def reply(messages: Any, _: Any) -> Any:
        number = len(results(messages))
        if number == ROUNDS:
            return f"There were {number}."
        return {"tool_calls": [{"id": f"c{number}", "name": "act", "args": {"number": number}}]}

    return ScriptedModel(replies=[reply] * 20)


def run_until(folder: Path, step: int, mode: str) -> None:
    """Run, and die after the given number of steps (called in a process of its own)."""
    import asyncio
    import os
    import signal

    def die_after(count: int) -> None:
        if count == step:
            os.kill(os.getpid(), signal.SIGKILL)

    with open_graph(
        "tools_in_context",
        db=folder / "r.sqlite",
        model=counting_model(),
        tools=[effect_tool(folder / "log")],
    ) as graph:
        given = {"messages": [{"role": "user", "content": QUESTION}]}
        config: Any = {"configurable": {"thread_id": "t"}}
        if mode == "invoke":
            for count, _ in enumerate(graph.stream(given, config, stream_mode="updates"), start=1):
                die_after(count)
            return

        async def arun() -> None:
            count = 0
            async for _ in graph.astream(given, config, stream_mode="updates"):
                count += 1
                die_after(count)

        asyncio.run(arun())


def die_in_a_process(folder: Path, step: int, mode: str) -> "subprocess.CompletedProcess[str]":
    call = f"run_until(Path({str(folder)!r}), {step}, {mode!r})"
    code = f"from pathlib import Path; from tests.test_crash import run_until; {call}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("step", range(1, STEPS))
def test_killed_after_any_step_a_run_ends_in_the_same_answer_and_repeats_no_finished_tool(
    mode: Mode, step: int, tmp_path: Path
) -> None:
    ended = die_in_a_process(tmp_path, step, mode)
    assert ended.returncode == -9, ended.stderr

    finished = step // 2
    log = tmp_path / "log"
    before = log.read_text().split() if log.exists() else []
    with open_graph(
        "tools_in_context",
        db=tmp_path / "r.sqlite",
        model=counting_model(),
        tools=[effect_tool(log)],
    ) as graph:
        assert get_thread(graph.memory, "t").status == "unfinished"
        output = run(mode, graph, None)
        assert get_thread(graph.memory, "t").status == "answered"
    assert output["answer"] == f"There were {ROUNDS}."
    assert output["usage"]["tool_calls"] == ROUNDS
    assert before[:finished] == [str(n) for n in range(finished)]
    assert log.read_text().split() == [str(n) for n in range(ROUNDS)]


@pytest.mark.parametrize(
    ("mode", "known", "said"),
    [
        ("invoke", {"effect": "read_only"}, "outcome is unknown"),
        ("ainvoke", {}, "not executed: superseded"),
        ("stream", {"effect": "state_changing"}, "not executed: superseded"),
        ("astream", {"effect": "state_changing"}, "not executed: superseded"),
    ],
)
def test_killed_and_asked_something_else_the_thread_answers_and_the_open_call_is_closed(
    mode: Mode, known: dict[str, Any], said: str, tmp_path: Path
) -> None:
    """What may change state begins in the ledger: what is not entered there never ran."""
    die_in_a_process(tmp_path, 1, mode.replace("stream", "invoke"))
    model = ScriptedModel(replies=["Something else."])
    tools = [effect_tool(tmp_path / "log", **known)]
    with open_graph(
        "tools_in_context", db=tmp_path / "r.sqlite", model=model, tools=tools
    ) as graph:
        output = run(mode, graph, "Another question")
    assert output["answer"] == "Something else."
    (closed,) = results(model.requests[0].messages)
    assert closed.status == "error"
    assert said in closed.text
    assert [type(m).__name__ for m in model.requests[0].messages] == [
        "SystemMessage",
        "HumanMessage",
        "AIMessage",
        "ToolMessage",
        "HumanMessage",
    ]
    assert not (tmp_path / "log").exists()
