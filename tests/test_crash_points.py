"""Killed at each point around a tool that changes state: at most one effect, and no run is lost."""

import os
import signal
import warnings
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from graphs import open_graph
from graphs.ledger import UNKNOWN, Ledger
from graphs.models import ScriptedModel
from tests.support import MODES, Mode, result_for, run
from tools import contract

pytestmark = pytest.mark.processes

DIED: Any = {
    # where it is killed: effects before and after the run is gone on with, and the call's result
    "before the ledger": (0, 1, "done"),
    "in the ledger, before the tool": (0, 0, UNKNOWN),
    "inside the tool, before its effect": (0, 0, UNKNOWN),
    "inside the tool, after its effect": (1, 1, UNKNOWN),
    "after the tool, before the ledger knows": (1, 1, UNKNOWN),
    "in the ledger, before the checkpoint": (1, 1, "done"),
    "after the checkpoint": (1, 1, "done"),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def around(steps: Callable[..., Any], before: bool, after: bool) -> Callable[..., Any]:
    """Die before or after steps of the ledger."""

    def wrapped(*args: Any) -> Generator[Any, Any, Any]:
        if before:
            die()
        answer = yield from steps(*args)
        if after:
            die()
        return answer

    return wrapped


def go_on(folder: Path, mode: Mode, given: Any, point: str | None, *, bare: bool) -> dict[str, Any]:
    effects = folder / "effects"

    def pay() -> str:
        """Pay."""
        if point == "inside the tool, before its effect":
            die()
        with effects.open("a") as file:
            file.write("paid\n")
        if point == "inside the tool, after its effect":
            die()
        return "done"

    model = ScriptedModel(
        replies=[{"tool_calls": [{"id": "a", "name": "pay", "args": {}}]}, _after_the_call]
        if not isinstance(given, Command) and given is not None
        else [_after_the_call] * 2
    )
    name, tool = ("tools_in_context", pay) if bare else ("tool_calling", contract(pay))
    with open_graph(name, db=folder / "r.sqlite", model=model, tools=[tool]) as graph:
        return run(mode, graph, given)


def _after_the_call(messages: Any, _: Any) -> str:
    if os.environ.get("DIE_AT") == "after the checkpoint":
        die()
    return "Paid."


@pytest.mark.parametrize(
    ("mode", "bare"), [*((mode, False) for mode in MODES), *((mode, True) for mode in MODES[:1])]
)
@pytest.mark.parametrize("point", DIED)
def test_killed_at_any_point_around_a_tool_its_effect_happens_at_most_once_and_the_run_ends(
    point: str, mode: Mode, bare: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one of which nothing is known, given as a bare function, which asks nobody for a yes."""
    begin: Any = "Pay."
    if not bare:
        assert "__interrupt__" in go_on(tmp_path, mode, begin, None, bare=bare)
        begin = Command(resume={"decisions": [{"type": "approve"}]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child runs no thread of ours
        child = os.fork()
    if child == 0:
        monkeypatch.setenv("DIE_AT", point)
        enter, close = Ledger.enter, Ledger.close
        before, after = point == "before the ledger", point.endswith("before the tool")
        monkeypatch.setattr(Ledger, "enter", around(enter, before, after))
        before, after = point.endswith("ledger knows"), point.endswith("before the checkpoint")
        monkeypatch.setattr(Ledger, "close", around(close, before, after))
        try:
            go_on(tmp_path, mode, begin, point, bare=bare)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)

    effects = tmp_path / "effects"
    at_death, at_the_end, told = DIED[point]
    assert _count(effects) == at_death
    output = go_on(tmp_path, mode, None, None, bare=bare)
    assert _count(effects) == at_the_end
    assert result_for(output["messages"], "a").text == told
    assert (output["answer"], output["status"]) == ("Paid.", "answered")


def _count(effects: Path) -> int:
    return effects.read_text().count("paid") if effects.exists() else 0
