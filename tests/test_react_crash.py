"""Killed at any turn, a ReAct run goes on from its notes or its summary, and repeats no action."""

import os
import re
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphs import open_graph
from graphs.models import ScriptedModel
from graphs.threads import get_thread
from graphs.transcript import COMPACTION
from tests.support import MODES, Mode, run
from tools import contract

TURNS = 7
QUESTION = "Act seven times."
CONTEXT: dict[str, dict[str, Any]] = {
    "react_transcript": {},
    "react_todo_notes": {"kept_turns": 2},
    "react_compaction": {"kept_turns": 1, "context_window": 1000, "compact_at": 0.5},
}
VARIANTS = sorted(CONTEXT)
MOST_STEPS = {"react_transcript": 22, "react_todo_notes": 40, "react_compaction": 32}


def acting_model() -> ScriptedModel:
    """Make a model that goes by what it is shown alone: turns, notes or a summary."""

    def reply(messages: Any, _: Any) -> str:
        text = "\n".join(str(message.text) for message in messages)
        shown = [int(n) for n in re.findall(r"(?:Action: act\[|did up to )(\d+)", text)]
        number = max(shown, default=0)
        if "compress the history" in str(messages[0].text):
            return f"did up to {number}"
        noted = [int(n) for n in re.findall(r"> did up to (\d+)", text)]
        if "update_notes[text]" in text and number > max(noted, default=0):
            return f"Thought: I note it.\nAction: update_notes[did up to {number}]"
        if number == TURNS:
            return f"Final Answer: {number}"
        return f"Thought: {'so ' * 60}\nAction: act[{number + 1}]"

    return ScriptedModel(replies=[reply] * 200)


def acts_in(folder: Path) -> Any:
    """Make a tool whose effect is counted outside the process, and that may die of it once."""

    def act(number: int) -> str:
        """Do something that is counted."""
        with (folder / "log").open("a") as file:
            file.write(f"{number}\n")
        deadly = folder / "deadly"
        if deadly.exists() and int(deadly.read_text()) == number:
            deadly.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return f"acted: {number}"

    return contract(act, effect="state_changing", requires_confirmation=False)


def counted(messages: Any) -> int:
    """Count 600 of 1,000 tokens where three turns or more are shown."""
    return 600 if sum(message.type == "ai" for message in messages) >= 3 else 100


def opened(name: str, folder: Path) -> Any:
    more = {"token_counter": counted} if name == "react_compaction" else {}
    model, tools = acting_model(), [acts_in(folder)]
    return open_graph(name, db=folder / "r.sqlite", model=model, tools=tools, **more)


def run_until(name: str, folder: Path, step: int) -> None:
    """Run, and die after the given number of steps (called in a process of its own)."""
    with opened(name, folder) as graph:
        given = {"messages": [{"role": "user", "content": QUESTION}]}
        config: Any = {"configurable": {"thread_id": "t"}}
        steps = graph.stream(given, config, context=CONTEXT[name], stream_mode="updates")
        for count, _ in enumerate(steps, start=1):
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)


def goes_on(name: str, folder: Path, mode: Mode) -> dict[str, Any]:
    """Go on in this process, and check that every action had its effect once, in order."""
    with opened(name, folder) as graph:
        assert get_thread(graph.memory, "t").status == "unfinished"
        output = run(mode, graph, None, context=CONTEXT[name])
    assert output["status"] == "answered", output["stop_reason"]
    assert output["answer"] == str(TURNS)
    effects = (folder / "log").read_text().split()
    assert effects == [str(number) for number in range(1, TURNS + 1)]
    acted = [c["args"] for m in output["messages"] for c in getattr(m, "tool_calls", ())]
    assert [int(args["number"]) for args in acted if "number" in args] == list(range(1, TURNS + 1))
    return output


def check_kept(name: str, output: dict[str, Any]) -> None:
    if name == "react_todo_notes":
        assert output["notes"] == f"did up to {TURNS}"
    if name == "react_compaction":
        records = [m for m in output["messages"] if COMPACTION in m.additional_kwargs]
        assert len(records) > 1


def sweep(name: str, mode: Mode, folder: Path, steps: range, actions: range) -> None:
    """Kill a run after each of the steps, and in the middle of each of the actions, and go on.

    Called in a process of its own, whose forks are killed: imports are paid for once.
    """
    kills = [(f"step {step}", step, 0) for step in steps]
    kills += [(f"action {number}", 0, number) for number in actions]
    killed = 0
    for label, step, deadly in kills:
        place = folder / name / label
        place.mkdir(parents=True)
        if deadly:
            (place / "deadly").write_text(str(deadly))

        def first(place: Path = place, step: int = step) -> None:
            run_until(name, place, step)

        if in_a_fork(first) != -signal.SIGKILL:
            continue
        killed += 1

        def last(place: Path = place) -> None:
            check_kept(name, goes_on(name, place, mode))

        assert in_a_fork(last) == 0, f"{name}, {mode}, killed at {label}"
    # The last steps may lie behind a run's end.
    assert killed >= max(1, len(kills) - 3), killed


def a_few(folder: Path) -> None:
    """Kill each variant once, some way into its run."""
    for name, step in zip(VARIANTS, (17, 20, 10), strict=True):
        sweep(name, "invoke", folder, range(step, step + 1), range(0))


def in_a_fork(body: Callable[[], None]) -> int:
    """Run something in a fork, and return how that ended."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            body()
            code = 0
        except BaseException:  # noqa: BLE001 - told on stderr; a fork must not go on as its parent
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_a_process(call: str) -> None:
    """Call a function of this module in a process of its own."""
    code = f"from pathlib import Path; from tests import test_react_crash; test_react_crash.{call}"
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.crash
def test_killed_between_two_steps_it_goes_on_and_repeats_no_action(tmp_path: Path) -> None:
    in_a_process(f"a_few(Path({str(tmp_path)!r}))")


@pytest.mark.crash
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", VARIANTS)
def test_killed_at_any_step_or_in_any_action_it_goes_on_and_repeats_no_action(
    mode: Mode, name: str, tmp_path: Path
) -> None:
    steps, actions = range(1, MOST_STEPS[name]), range(1, TURNS + 1)
    in_a_process(f"sweep({name!r}, {mode!r}, Path({str(tmp_path)!r}), {steps}, {actions})")
