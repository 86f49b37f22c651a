"""What holds in every variant that calls tools: approvals and an end to repeats."""

import logging
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from graphs import open_graph
from graphs.models import ScriptedModel
from tests.support import ALL_MODES, MODES, Mode, compiled, result_for, results, run
from tools import Contract, contract

pytestmark = pytest.mark.parametrize("name", ["tools_in_context", "tool_calling"])


class Till:
    """A tool that pays, and one that looks."""

    def __init__(self) -> None:
        self.paid: list[int] = []
        self.looked: list[int] = []

    def tools(self) -> list[Contract]:
        def pay(n: int) -> str:
            """Pay."""
            self.paid.append(n)
            return f"paid {n}"

        def look(n: int) -> str:
            """Look."""
            self.looked.append(n)
            return "nothing new"

        return [contract(pay, effect="state_changing"), contract(look, effect="read_only")]


def calls(*made: tuple[str, str, Any]) -> dict[str, Any]:
    return {"tool_calls": [{"id": i, "name": name, "args": {"n": n}} for i, name, n in made]}


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_call_that_needs_a_yes_waits_for_it_and_runs_once_with_its_siblings(
    name: str, mode: Mode, tmp_path: Path
) -> None:
    till = Till()
    model = ScriptedModel(replies=[calls(("a", "pay", 5), ("b", "look", 1)), "Done."])
    with open_graph(name, db=tmp_path / "r.sqlite", model=model, tools=till.tools()) as graph:
        paused = run(mode, graph, "?")
    assert (till.paid, till.looked) == ([], [])
    (request,) = paused["__interrupt__"][0].value["action_requests"]
    assert (request["name"], request["args"]) == ("pay", {"n": 5})
    yes: Any = Command(resume={"decisions": [{"type": "approve"}]})
    with open_graph(name, db=tmp_path / "r.sqlite", model=model, tools=till.tools()) as graph:
        output = run(mode, graph, yes)
    assert (till.paid, till.looked) == ([5], [1])
    assert (output["answer"], output["status"]) == ("Done.", "answered")


@pytest.mark.parametrize("mode", MODES)
def test_where_a_run_can_not_wait_the_call_is_refused_with_a_sentence(
    name: str, mode: Mode
) -> None:
    till = Till()
    model = ScriptedModel(replies=[calls(("a", "pay", 5)), "Then not."])
    output = run(mode, compiled(model, till.tools(), name=name), "?")
    assert till.paid == []
    assert "needs a person's yes, and nobody could be asked" in model.requests[1].messages[-1].text
    assert output["answer"] == "Then not."


@pytest.mark.parametrize("mode", MODES)
def test_the_third_equal_call_is_warned_of_and_the_fourth_ends_the_tools(
    name: str, mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    till = Till()
    replies = [calls((i, "look", 1)) for i in "abc"]
    fourth = calls(("d", "look", 1), ("e", "look", 2))
    model = ScriptedModel(replies=[*replies, fourth, "There is nothing."])
    with caplog.at_level(logging.WARNING, logger="rungs"):
        output = run(mode, compiled(model, till.tools(), name=name), "?")
    assert till.looked == [1, 1]
    assert "twice in a row" in result_for(output["messages"], "c").text
    assert [r.status for r in results(output["messages"])] == ["success"] * 2 + ["error"] * 3
    assert (output["status"], output["answer"]) == ("stuck", "There is nothing.")
    assert model.requests[-1].tools == []
    assert "stuck on look (" in caplog.text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("args", [{"n": "x"}, {}, '{"n": '], ids=["wrong", "missing", "cut"])
def test_a_bad_call_that_comes_again_and_again_is_ended_like_a_good_one(
    name: str, mode: Mode, args: Any
) -> None:
    till = Till()
    bad = [{"tool_calls": [{"id": i, "name": "look", "args": args}]} for i in "abcd"]
    model = ScriptedModel(replies=[*bad, "I can't."])
    output = run(mode, compiled(model, till.tools(), name=name), "?")
    assert till.looked == []
    errors = [r.text for r in results(output["messages"])]
    assert errors[0] == errors[1]
    assert errors[2].startswith(errors[0])
    assert "twice in a row" in errors[2]
    assert (output["status"], output["answer"]) == ("stuck", "I can't.")


@pytest.mark.parametrize("mode", MODES)
def test_a_rejected_call_that_comes_again_asks_the_person_twice_and_no_more(
    name: str, mode: Mode, tmp_path: Path
) -> None:
    till = Till()
    model = ScriptedModel(replies=[*(calls((i, "pay", 5)) for i in "abc"), "I may not."])
    no: Any = Command(resume={"decisions": [{"type": "reject"}]})
    with open_graph(name, db=tmp_path / "r.sqlite", model=model, tools=till.tools()) as graph:
        run(mode, graph, "?")
        assert "__interrupt__" in run(mode, graph, no)
        output = run(mode, graph, no)
    assert till.paid == []
    assert output["answer"] == "I may not."
    assert "twice in a row" in result_for(output["messages"], "c").text
