"""Caps and loops: every run ends, with what it has, and within its budget."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graphs.models import ScriptedModel
from tests.support import MODES, Mode, compiled, results, run
from tools import contract

pytestmark = pytest.mark.parametrize("mode", MODES)


def counting(ran: list[str]) -> Any:
    def find(q: str = "") -> str:
        """Find something."""
        ran.append(q)
        return f"result {len(ran)}"

    return find


def finds(*ids: str) -> list[dict[str, Any]]:
    return [{"tool_calls": [{"id": i, "name": "find", "args": {"q": i}}]} for i in ids]


def test_a_call_in_the_capped_last_reply_is_neither_run_nor_left_unanswered(mode: Mode) -> None:
    """Case CAP-01."""
    ran: list[str] = []
    last = {"text": "one more check", **finds("c")[0]}
    model = ScriptedModel(replies=[*finds("a", "b"), last, "Next answer."])
    graph = compiled(model, [counting(ran)], checkpointer=InMemorySaver())
    output = run(mode, graph, "?", context={"max_tool_rounds": 2})
    assert ran == ["a", "b"]
    assert output["status"] == "tool_limit"
    assert output["answer"] == "one more check"
    assert model.requests[2].tools == []
    assert {r.tool_call_id for r in results(output["messages"])} == {"a", "b", "c"}
    assert run(mode, graph, "And now?")["answer"] == "Next answer."


def test_a_capped_last_reply_without_text_gives_a_fixed_sentence(mode: Mode) -> None:
    """Case CAP-01."""
    model = ScriptedModel(replies=finds("a", "b", "c"))
    output = run(mode, compiled(model, [counting([])]), "?", context={"max_tool_rounds": 2})
    assert output["status"] == "tool_limit"
    assert "couldn't complete" in output["answer"]


def test_a_spent_budget_still_asks_for_the_answer_once_with_the_last_result(mode: Mode) -> None:
    """Case CAP-03."""
    model = ScriptedModel(replies=[*finds("a", "b"), "Sum is 9."])
    output = run(mode, compiled(model, [counting([])]), "?", context={"max_tool_rounds": 2})
    assert len(model.requests) == 3
    assert output["answer"] == "Sum is 9."
    assert results(model.requests[2].messages)[-1].text == "result 2"


@pytest.mark.parametrize("limit", range(3, 13))
def test_a_low_recursion_limit_ends_in_a_last_answer_and_not_in_an_exception(
    mode: Mode, limit: int
) -> None:
    """Case CAP-05."""

    def reply(_: Any, tools: Any) -> Any:
        number = str(len(model.requests))
        return finds(number)[0] if tools else "What I have."

    model = ScriptedModel(replies=[reply] * 40)
    graph = compiled(model, [counting([])], checkpointer=InMemorySaver())
    output = run(
        mode, graph, "?", context={"max_tool_rounds": 20}, config={"recursion_limit": limit}
    )
    assert output["answer"] == "What I have."
    assert output["status"] == "tool_limit"
    assert "recursion limit" in output["stop_reason"]
    assert run(mode, graph, "?", context={"max_tool_rounds": 1})["status"] == "tool_limit"


def test_a_cap_of_twenty_rounds_ends_in_the_last_answer_without_a_limit_being_set(
    mode: Mode,
) -> None:
    """Case CAP-05."""
    model = ScriptedModel(replies=[*finds(*(str(n) for n in range(20))), "Enough."])
    output = run(mode, compiled(model, [counting([])]), "?", context={"max_tool_rounds": 20})
    assert output["answer"] == "Enough."
    assert output["status"] == "tool_limit"


def test_empty_replies_among_calls_count_against_the_cap(mode: Mode) -> None:
    """Case CAP-07."""
    replies = ["", finds("x")[0]] * 20
    model = ScriptedModel(replies=replies)
    output = run(mode, compiled(model, [counting([])]), "?", context={"max_tool_rounds": 4})
    assert len(model.requests) <= 4 + 2
    assert output["status"] in {"tool_limit", "no_answer"}


def test_polling_with_progress_is_not_a_loop(mode: Mode) -> None:
    """Case CAP-09."""
    told = iter(["10%", "40%", "90%", "done"])

    def status() -> str:
        """Tell how far it is."""
        return next(told)

    poll = [{"tool_calls": [{"id": f"s{n}", "name": "status", "args": {}}]} for n in range(4)]
    tool = contract(status, effect="read_only")
    output = run(mode, compiled(ScriptedModel(replies=[*poll, "It is done."]), [tool]), "?")
    assert [r.text for r in results(output["messages"])] == ["10%", "40%", "90%", "done"]
    assert output["answer"] == "It is done."


def test_a_cycle_without_progress_is_ended_by_the_cap(mode: Mode) -> None:
    """Case CAP-11."""
    names = ["read", "edit", "test"]

    def read() -> str:
        """Read it."""
        return "text"

    def edit() -> str:
        """Edit it."""
        raise RuntimeError("locked")

    def test() -> str:
        """Test it."""
        raise RuntimeError("failed")

    def reply(_: Any, tools: Any) -> Any:
        number = len(model.requests)
        made = {"id": str(number), "name": names[number % 3], "args": {}}
        return {"tool_calls": [made]} if tools else "It does not work."

    model = ScriptedModel(replies=[reply] * 40)
    output = run(mode, compiled(model, [read, edit, test]), "?", context={"max_tool_rounds": 9})
    assert len(model.requests) == 9 + 1
    assert output["answer"] == "It does not work."


def test_the_budget_of_a_new_question_is_full_and_a_resumed_one_is_not(mode: Mode) -> None:
    model = ScriptedModel(replies=[*finds("a", "b"), "One.", *finds("c", "d"), "Two."])
    graph = compiled(model, [counting([])], checkpointer=InMemorySaver())
    context = {"max_tool_rounds": 2}
    assert run(mode, graph, "?", context=context)["answer"] == "One."
    second = run(mode, graph, "?", context=context)
    assert second["answer"] == "Two."
    assert second["usage"]["tool_calls"] == 2
