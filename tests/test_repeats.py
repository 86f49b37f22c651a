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


def refunds(*replies: Any, name: str = "tool_calling") -> tuple[Any, ScriptedModel, list[int]]:
    made: list[int] = []

    def refund(amount: int) -> str:
        """Refund an amount."""
        made.append(amount)
        return f"refund R-{len(made)} of {amount} made"

    model = ScriptedModel(replies=list(replies))
    tool = contract(refund, requires_confirmation=False)
    return compiled(model, [tool], name=name), model, made


def refunding(*ids: str, amount: int = 5) -> dict[str, Any]:
    return {"tool_calls": [{"id": i, "name": "refund", "args": {"amount": amount}} for i in ids]}


@pytest.mark.parametrize("name", ["tool_calling", "tools_in_context", "full_agent"])
def test_a_result_with_a_number_of_its_own_is_no_progress_of_what_changes_state(
    mode: Mode, name: str
) -> None:
    replies = [refunding(f"c{place}") for place in range(4)]
    graph, model, made = refunds(*replies, "Refunded.", name=name)
    output = run(mode, graph, "?")
    assert made == [5, 5]
    assert output["status"] == "stuck"
    told = [result.text for result in results(output["messages"])]
    assert told[:2] == ["refund R-1 of 5 made", "refund R-2 of 5 made"]
    assert "came twice in a row before" in told[2]
    assert "for the fourth time in a row" in told[3]
    assert model.requests[-1].tools == []


def test_a_call_through_a_wrapper_counts_as_the_tool_that_it_names(mode: Mode) -> None:
    arguments = {"name": "refund", "input": {"amount": 5}}
    calls = [
        {"tool_calls": [{"id": f"c{place}", "name": "tool_call", "args": arguments}]}
        for place in range(4)
    ]
    graph, _, made = refunds(*calls, "Refunded.", name="tool_search_toolkit")
    output = run(mode, graph, "?")
    assert (made, output["status"]) == ([5, 5], "stuck")


def test_a_react_action_that_changes_state_counts_whatever_its_observations_say(mode: Mode) -> None:
    graph, _, made = refunds(*["Action: refund[5]"] * 4, name="react_transcript")
    output = run(mode, graph, "?")
    assert (made, output["status"]) == ([5, 5], "stuck")


def test_equal_calls_of_one_reply_come_in_a_row_and_a_fourth_ends_the_tools_after_it(
    mode: Mode,
) -> None:
    graph, model, made = refunds(refunding(*"abcdef"), "Refunded twice.")
    output = run(mode, graph, "?")
    assert made == [5, 5]
    a, b, c, *more = results(
        sorted(output["messages"], key=lambda m: getattr(m, "tool_call_id", ""))
    )
    assert (a.status, b.status) == ("success", "success")
    assert "came twice in a row before" in c.text
    assert all("for the fourth time in a row" in result.text for result in more)
    assert output["status"] == "stuck"
    assert model.requests[-1].tools == []


def test_calls_of_the_reply_before_count_with_those_of_the_next(mode: Mode) -> None:
    graph, _, made = refunds(refunding("a", "b"), refunding("c"), "Refunded twice.")
    output = run(mode, graph, "?")
    assert made == [5, 5]
    assert "came twice in a row before" in results(output["messages"])[2].text
    assert output["status"] == "answered"


def test_two_polls_at_once_after_news_are_no_repeat(mode: Mode) -> None:
    twice: dict[str, Any] = {
        "tool_calls": [{"id": i, "name": "status", "args": {}} for i in ("c", "d")]
    }
    told = ["10%", "40%", "90%", "done"]
    graph, _, ran = graph_of(told, *polling("a", "b"), twice, "It is done.")
    output = run(mode, graph, "?")
    assert len(ran) == 4
    assert output["status"] == "answered"


def test_a_sibling_of_the_fourth_call_is_told_what_ended_the_tools(mode: Mode) -> None:
    last = {
        "tool_calls": [
            *refunding("d")["tool_calls"],
            *refunding("e", amount=7)["tool_calls"],
        ]
    }
    graph, _, made = refunds(*[refunding(i) for i in "abc"], last, "Refunded.")
    output = run(mode, graph, "?")
    assert made == [5, 5]
    sibling = results(output["messages"])[-1]
    assert sibling.text == (
        "not executed: the tools were ended by refund, which came for the fourth time in a row"
    )


def test_the_log_says_that_a_tool_a_run_was_stuck_on_does_not_exist(
    mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    calls = [{"tool_calls": [{"id": i, "name": "nope", "args": {}}]} for i in "abcd"]
    graph, _, _ = refunds(*calls, "I can't.")
    with caplog.at_level(logging.WARNING, logger="rungs"):
        assert run(mode, graph, "?")["status"] == "stuck"
    (warning,) = [record.getMessage() for record in caplog.records if record.name == "rungs"]
    assert "was stuck on nope (thread t): no such tool exists" in warning
    assert "description say" not in warning
