"""The same call again and again (seed "AI Tool Calling"): warned of, then ended."""

import logging
from typing import Any

import pytest

from graphs.models import ScriptedModel
from tests.support import ALL_MODES, Mode, compiled, results, run
from tools import contract

pytestmark = pytest.mark.parametrize("mode", ALL_MODES)


def polling(*ids: str) -> list[dict[str, Any]]:
    return [{"tool_calls": [{"id": i, "name": "status", "args": {}}]} for i in ids]


def graph_of(told: list[str], *replies: Any) -> tuple[Any, ScriptedModel, list[int]]:
    ran: list[int] = []

    def status() -> str:
        """Tell how far it is."""
        ran.append(1)
        return told[min(len(ran), len(told)) - 1]

    model = ScriptedModel(replies=list(replies))
    tool = contract(status, effect="read_only")
    return compiled(model, [tool], name="tool_calling"), model, ran


def test_a_third_equal_call_with_an_equal_result_is_warned_of_and_does_not_run(mode: Mode) -> None:
    graph, _, ran = graph_of(["10%"], *polling("a", "b", "c"), "It stands at 10%.")
    output = run(mode, graph, "?")
    assert len(ran) == 2
    assert "twice in a row" in results(output["messages"])[2].text
    assert output["status"] == "answered"


def test_a_fourth_ends_the_tools_with_a_last_answer_and_names_the_tool_in_the_log(
    mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    graph, model, ran = graph_of(["10%"], *polling("a", "b", "c", "d"), "It stands at 10%.")
    with caplog.at_level(logging.WARNING, logger="rungs"):
        output = run(mode, graph, "?")
    assert len(ran) == 2
    assert output["status"] == "stuck"
    assert output["answer"] == "It stands at 10%."
    assert "four times in a row" in output["stop_reason"]
    assert model.requests[-1].tools == []
    (warning,) = [record.getMessage() for record in caplog.records if record.name == "rungs"]
    assert "was stuck on status (thread t): does its description say when to call it" in warning


def test_polling_with_progress_goes_on(mode: Mode) -> None:
    """Case CAP-09."""
    graph, _, ran = graph_of(
        ["10%", "40%", "90%", "done"], *polling("a", "b", "c", "d"), "It is done."
    )
    output = run(mode, graph, "?")
    assert len(ran) == 4
    assert output["status"] == "answered"


def test_another_call_between_them_starts_the_count_anew(mode: Mode) -> None:
    def look(n: int) -> str:
        """Look."""
        return "same"

    numbers = [1, 1, 2, 1, 1]
    calls = [
        {"tool_calls": [{"id": f"c{place}", "name": "look", "args": {"n": n}}]}
        for place, n in enumerate(numbers)
    ]
    model = ScriptedModel(replies=[*calls, "ok"])
    output = run(
        mode, compiled(model, [contract(look, effect="read_only")], name="tool_calling"), "?"
    )
    assert [r.status for r in results(output["messages"])] == ["success"] * 5
