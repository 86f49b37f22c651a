"""The rule-based model in the ReAct format: real questions, one action a turn."""

from typing import Any

import pytest

from graphs.models import OfflineModel
from graphs.models.offline_compare import comparison_in, expression_of, numbers_for
from graphs.react.parser import Action, FinalAnswer, parse
from graphs.transcript import COMPACTION
from tests.support import MODES, Mode, compiled, results, run
from tools import load_tools

HOPS = "What is the battery life of the earbuds made by the company that acquired Acme?"


def actions(output: dict[str, Any]) -> list[str]:
    """Return the names of the tools that ran."""
    return [str(result.name) for result in results(output["messages"])]


@pytest.mark.parametrize("mode", MODES)
def test_a_question_in_two_hops_is_answered_in_three_turns(mode: Mode) -> None:
    output = run(mode, compiled(OfflineModel(), load_tools(), "react_transcript"), HOPS)
    assert output["status"] == "answered"
    assert "8 hours" in output["answer"]
    assert actions(output) == ["search_docs", "search_docs"]
    assert "not a language model" in output["usage"]["model"]


@pytest.mark.parametrize("mode", MODES)
def test_a_formula_that_was_found_is_worked_out(mode: Mode) -> None:
    question = "How much is the prorated refund for a plan of $240 with 29 of 30 days unused?"
    output = run(mode, compiled(OfflineModel(), load_tools(), "react_transcript"), question)
    assert "232" in output["answer"]
    assert actions(output)[-1] == "calculator"


@pytest.mark.parametrize("mode", MODES)
def test_told_to_answer_now_it_answers_from_what_it_has(mode: Mode) -> None:
    graph = compiled(OfflineModel(), load_tools(), "react_transcript")
    output = run(mode, graph, f"{HOPS} And how much is 2 + 2?", context={"max_turns": 2})
    assert output["status"] == "turn_limit"
    assert "8 hours" in output["answer"]


@pytest.mark.parametrize("text", ["a ] b", "[", 'say "x" [', "plain", '"quoted"', "Observation: x"])
def test_whatever_the_input_it_is_written_so_that_it_is_read_back(text: str) -> None:
    from graphs.models.offline_react import _action

    parsed = parse(_action("so", "find", {"query": text}))
    assert isinstance(parsed, Action)
    assert parsed.name == "find"
    assert text in parsed.text.replace('\\"', '"')


def test_other_prompts_are_answered_as_before() -> None:
    reply = OfflineModel().invoke([("system", "You are ReAct."), ("user", HOPS)])
    assert not isinstance(parse(str(reply.content)), Action | FinalAnswer)


LONG = (
    "What is the battery life of the earbuds made by the company that acquired Acme? "
    "How long is the warranty of the Initech sport earbuds? "
    "How long does the battery of the portable speaker last? "
    "How much does overnight shipping cost? What does the Plus plan cost a year? "
    "How do I redeem a gift card? How can I cancel my plan? How much is 18% of a $250 order? "
    "What is error E-4042? How do I change my password?"
)
PARTS = [
    *("8 hours", "1-year limited warranty", "20 hours", "$29.95", "$240", "16-character code"),
    *("Cancel plan", "= 45", "bank did not approve", "12 characters"),
]


def asked_for(output: dict[str, Any]) -> list[str]:
    """Return each action with its input, but those that keep notes."""
    calls = [call for m in output["messages"] for call in getattr(m, "tool_calls", ())]
    return [str(call["args"]) for call in calls if call["name"] != "update_notes"]


@pytest.mark.parametrize("mode", MODES)
def test_a_long_task_is_kept_in_notes_while_its_turns_drop_out_of_the_window(mode: Mode) -> None:
    graph = compiled(OfflineModel(), load_tools(), "react_todo_notes")
    output = run(mode, graph, LONG, context={"kept_turns": 3})
    assert output["status"] == "answered"
    assert [part for part in PARTS if part not in output["answer"]] == []
    assert output["usage"]["model_calls"] > 16
    assert actions(output)[0] == "update_notes"
    assert output["notes"].count("[x]") == 9
    assert len(asked_for(output)) == len(set(asked_for(output)))


@pytest.mark.parametrize("mode", MODES)
def test_a_long_task_is_compacted_more_than_once_and_repeats_no_action(mode: Mode) -> None:
    graph = compiled(OfflineModel(), load_tools(), "react_compaction")
    output = run(mode, graph, LONG, context={"context_window": 5000})
    assert output["status"] == "answered"
    assert [part for part in PARTS if part not in output["answer"]] == []
    records = [m for m in output["messages"] if COMPACTION in m.additional_kwargs]
    assert len(records) > 1
    assert all(record.additional_kwargs[COMPACTION]["made"] for record in records)
    assert len(asked_for(output)) == len(set(asked_for(output))) > 8
    assert "Next step:" in output["summary"]


@pytest.mark.parametrize("name", ["react_transcript", "react_todo_notes", "react_compaction"])
@pytest.mark.parametrize("mode", MODES)
def test_two_hops_and_arithmetic_on_what_was_found(mode: Mode, name: str) -> None:
    question = (
        "What is the difference between the battery life of the portable speaker and the battery "
        "life of the earbuds made by the company that acquired Acme?"
    )
    output = run(mode, compiled(OfflineModel(), load_tools(), name), question)
    assert "20 - 8 = 12 hours" in output["answer"]
    assert actions(output) == ["search_docs"] * 3 + ["calculator"]


@pytest.mark.parametrize(
    ("question", "first", "second", "expected"),
    [
        (
            "How much more does the Business plan cost a year than the Plus plan?",
            "Price a month: Plus $24, Business $60. Price a year: Plus $240, Business $600.",
            "Price a month: Plus $24, Business $60. Price a year: Plus $240, Business $600.",
            "600 - 240",
        ),
        (
            "What is the difference between the date of the Tower and the date of the Bridge?",
            "The Eiffel Tower was completed in 1889.",
            "The Golden Gate Bridge was completed in 1937.",
            "1937 - 1889",
        ),
        (
            "How much do the lamp and the chair cost together?",
            "The lamp costs $1,200.50.",
            "The chair costs $80.",
            "1200.50 + 80",
        ),
        (
            "How much less does the lamp cost than the chair?",
            "The chair costs $80.",
            "The lamp costs $50.",
            "80 - 50",
        ),
        ("How much longer does a nap last than a night?", "8 hours.", "20 minutes.", None),
    ],
)
def test_a_comparison_takes_the_two_numbers_that_are_asked_for(
    question: str, first: str, second: str, expected: str | None
) -> None:
    comparison = comparison_in(question)
    assert comparison is not None
    found = numbers_for(comparison, first, second)
    assert (expression_of(comparison, *found) if found else None) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between a refund and a return?",
        "What is the difference between the Plus plan and the Business plan?",
        "How much does it cost?",
        "How many more?",
    ],
)
def test_what_asks_for_no_number_is_no_comparison(question: str) -> None:
    assert comparison_in(question) is None
