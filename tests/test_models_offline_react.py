"""The rule-based model in the ReAct format: real questions, one action a turn."""

from typing import Any

import pytest

from graphs.models import OfflineModel
from graphs.react.parser import Action, FinalAnswer, parse
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
