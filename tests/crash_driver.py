"""Kill a run again and again, at random points around tools that change state, until it ends.

    python -m tests.crash_driver FOLDER KILLS SEED [GRAPH]

Each attempt is a child that is forked, goes on with its thread, and is killed after a random time;
an unfinished thread is gone on with by the next. Prints what became of the threads as JSON.
"""

import json
import os
import random
import signal
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from langgraph.types import Command

from graphs import open_graph
from graphs.models import ScriptedModel
from tests.support import results
from tools import contract

CALLS = 3
LONGEST = 0.25
"""Seconds after which a child is killed, at the most; a whole run takes about half of it."""


def act_in(folder: Path) -> Any:
    """Make a tool whose effect is counted outside the process, with time to die in around it."""

    def act(label: str) -> str:
        """Do something once."""
        time.sleep(0.002)
        with (folder / "effects").open("a") as file:
            file.write(f"{label}\n")
            file.flush()
        time.sleep(0.002)
        return f"did {label}"

    return contract(act, requires_confirmation=True)


def model_of(thread: str) -> ScriptedModel:
    """Make a model that goes by the transcript alone: three calls one after another, then text."""

    def reply(messages: Any, _: Any) -> Any:
        number = len(results(messages))
        if number == CALLS:
            return "Done."
        call = {"id": f"c{number}", "name": "act", "args": {"label": f"{thread}/{number}"}}
        return {"tool_calls": [call]}

    return ScriptedModel(replies=[reply] * 50)


def go_on(folder: Path, thread: str, name: str) -> bool:
    """Start a thread's run or go on with it, approving what waits; return whether it has ended."""
    config: Any = {"configurable": {"thread_id": thread}}
    yes = {"decisions": [{"type": "approve"}]}
    with open_graph(
        name, db=folder / "r.sqlite", model=model_of(thread), tools=[act_in(folder)]
    ) as graph:
        for _ in range(20):
            state = graph.get_state(config)
            if state.values.get("status"):
                return bool(state.values["status"] == "answered")
            given: Any = None
            if not state.values.get("messages"):
                given = {"messages": [("user", "act")]}
            elif any(task.interrupts for task in state.tasks):
                given = Command(resume=yes)
            graph.invoke(given, config)
    return False


def kill_one(folder: Path, thread: str, name: str, delay: float) -> bool:
    """Go on with a thread in a child that is killed after a time; return whether it was killed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if go_on(folder, thread, name) else 1
        finally:
            os._exit(code)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def main(folder: Path, kills: int, seed: int, name: str = "tool_calling") -> None:
    """Kill until so many children died, each thread until it has ended or was killed ten times."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    killed, threads = 0, []
    while killed < kills:
        thread = str(uuid.uuid4())
        threads.append(thread)
        for _ in range(10):
            if killed >= kills or not kill_one(folder, thread, name, chance.uniform(0.0, LONGEST)):
                break
            killed += 1
    ended = 0
    for thread in threads:
        child = os.fork()
        if child == 0:
            os._exit(0 if go_on(folder, thread, name) else 1)
        ended += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    told = {"killed": killed, "threads": len(threads), "ended": ended}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
