"""A run that tools took to a limit is logged and counted, and often means an alert."""

import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from graphs import open_graph
from graphs.limits_hit import NAMESPACE, OFTEN, WINDOW, hits_of
from graphs.models import ScriptedModel
from tests.cli import home, rungs
from tests.support import MODES, Mode, compiled, run
from tests.wrapping import calling, wrapper
from tools import Contract, contract

__all__ = ["home"]


def tools() -> list[Contract]:
    def look(n: int) -> str:
        """Look."""
        return f"{n} again"

    def count(n: int) -> str:
        """Count."""
        return str(n)

    return [contract(look, effect="read_only"), contract(count, effect="read_only")]


def rounds(tool: str, *numbers: int) -> list[dict[str, Any]]:
    calls = [{"id": f"c{place}", "name": tool, "args": {"n": n}} for place, n in enumerate(numbers)]
    return [{"tool_calls": [call]} for call in calls]


CAP = {"max_tool_calls": 3}
AT_THE_CAP = [
    {"tool_calls": [{"id": "x", "name": "count", "args": {"n": 1}}]},
    *rounds("look", 1, 2),
    "I gave up.",
]


@pytest.mark.parametrize("mode", MODES)
def test_the_most_called_tool_of_a_capped_run_is_named_counted_and_alerted_when_often(
    mode: Mode, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    db = tmp_path / "r.sqlite"
    for place in range(OFTEN):
        model = ScriptedModel(replies=AT_THE_CAP)
        caplog.clear()
        with (
            caplog.at_level(logging.WARNING, logger="rungs"),
            open_graph("tool_calling", db=db, model=model, tools=tools()) as graph,
        ):
            output = run(mode, graph, "?", thread=f"t{place}", context=CAP)
            (hits,) = hits_of(graph.memory.store)
        assert output["status"] == "tool_limit"
        assert f"most of all with look (thread t{place})" in caplog.text
        assert (hits.tool, hits.tool_limit, hits.stuck) == ("look", place + 1, 0)
        assert ("ALERT: 5 runs in a week" in caplog.text) is (place + 1 == OFTEN)
    assert hits.often


@pytest.mark.parametrize("mode", MODES)
def test_a_stuck_run_blames_the_tool_that_repeated_and_old_runs_are_forgotten(
    mode: Mode, tmp_path: Path
) -> None:
    replies = [*rounds("look", 1, 1, 1, 1), "I gave up."]
    model = ScriptedModel(replies=replies)
    db = tmp_path / "r.sqlite"
    with open_graph("tools_in_context", db=db, model=model, tools=tools()) as graph:
        old = {"tool": "count", "limit": "stuck", "at": time.time() - WINDOW - 1}
        graph.memory.store.put(NAMESPACE, "old", old)
        assert run(mode, graph, "?")["status"] == "stuck"
        (hits,) = hits_of(graph.memory.store)
        assert (hits.tool, hits.tool_limit, hits.stuck) == ("look", 0, 1)
        assert graph.memory.store.get(NAMESPACE, "old") is None


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_behind_a_wrapper_is_blamed_by_its_own_name_and_without_a_store_too(
    mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    replies = [calling("wrapped", f"c{n}", "look", {"n": n}) for n in range(3)]
    graph = compiled(
        ScriptedModel(replies=[*replies, "I gave up."]), [wrapper(tools())], name="tool_calling"
    )
    with caplog.at_level(logging.WARNING, logger="rungs"):
        run(mode, graph, "?", context=CAP)
    assert "most of all with look (" in caplog.text


def test_the_command_line_shows_which_tools_took_runs_to_a_limit(home: Path) -> None:
    db = str(home / "r.sqlite")
    model = ScriptedModel(replies=AT_THE_CAP)
    with open_graph("tool_calling", db=db, model=model, tools=tools()) as graph:
        assert "no run" in rungs("audit", "--limits", "--db", db).out
        run("invoke", graph, "?", context=CAP)
    assert rungs("audit", "--limits", "--db", db).out.startswith("look  1 at the limit, 0 stuck")
    told = json.loads(rungs("audit", "--limits", "--db", db, "--json").out)
    assert (told["tool"], told["tool_limit"], told["often"]) == ("look", 1, False)


@pytest.mark.parametrize("arguments", [[], ["t1", "--limits"]])
def test_audit_needs_a_thread_or_limits_and_not_both(home: Path, arguments: list[str]) -> None:
    said = rungs("audit", *arguments, "--db", str(home / "r.sqlite"))
    assert said.code == 2
    assert "--limits" in said.error
