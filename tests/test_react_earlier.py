"""Earlier exchanges of a thread in a window of `react_compaction` that has no room for them."""

import json
import logging
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from graphs import GRAPHS, audit
from graphs.models import ScriptedModel
from graphs.models.replies import Request
from tests.reacting import Log, is_well_formed, sent
from tests.support import ALL_MODES, MODES, Mode, run

NAME = "react_compaction"
SMALL = {"context_window": 2048}
LONG = "lorem ipsum dolor " * 166
"""An answer of 3,000 characters."""


def thread_of(model: ScriptedModel, **more: Any) -> Any:
    tool = Log().tool("search", lambda text: f"about {text} " * 80)
    built = GRAPHS[NAME].build(model=model, tools=[tool], **more)
    return built.compile(name=NAME, checkpointer=InMemorySaver())


def shown(request: Request) -> list[str]:
    """Return the questions that a prompt shows, the run's own included."""
    texts = [str(message.text) for message in request.messages if message.type == "human"]
    return [text.removeprefix("Question: ") for text in texts if "Observation: " not in text]


def told(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    lines = [json.loads(one.message) for one in caplog.records if one.name == "rungs.audit"]
    return [one for one in lines if one["kind"] == "compaction"]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_thread_of_long_answers_goes_on_in_a_small_window(
    mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="rungs.audit")
    model = ScriptedModel(replies=[f"Final Answer: {n} {LONG}" for n in range(6)])
    graph = thread_of(model)
    for n in range(6):
        output = run(mode, graph, f"Question {n}?", context=SMALL)
        assert (output["status"], output["answer"][:1]) == ("answered", str(n))
        assert output["usage"]["model_calls"] == 1
    assert [shown(request) for request in model.requests] == [
        ["Question 0?"],
        ["Question 0?", "Question 1?"],
        *[[f"Question {n - 1}?", f"Question {n}?"] for n in range(2, 6)],
    ]
    assert all(is_well_formed(request) for request in model.requests)
    assert [one["left_out"] for one in told(caplog)] == [1] * 4
    assert {one["result"] for one in told(caplog)} == {"1 earlier exchange left out"}
    assert all(one["tokens_after"] < 1536 <= one["tokens_before"] for one in told(caplog))
    read = [one for one in audit.events(output["messages"]) if one.kind == "compaction"]
    assert [(one.left_out, one.status) for one in read] == [(1, "success")] * 4


@pytest.mark.parametrize("mode", MODES)
def test_the_oldest_exchanges_go_first_and_no_more_than_need_be(mode: Mode) -> None:
    model = ScriptedModel(replies=[f"Final Answer: {n}" for n in range(9)])
    graph = thread_of(model, token_counter=lambda messages: 100 * len(messages))
    for n in range(9):
        run(mode, graph, f"Question {n}?", context={"context_window": 1200})
    # The system prompt, the question, and three exchanges: 800 of a threshold of 900.
    assert shown(model.requests[-1]) == [f"Question {n}?" for n in range(5, 9)]


@pytest.mark.parametrize("mode", MODES)
def test_turns_take_the_place_of_earlier_exchanges_when_they_need_it(mode: Mode) -> None:
    turns = [f"Action: search[{n}]" for n in range(3)]
    model = ScriptedModel(replies=[f"Final Answer: 0 {LONG}", *turns, "Final Answer: 7"])
    graph = thread_of(model, token_counter=lambda sent: sum(len(str(m.text)) for m in sent))
    run(mode, graph, "First?", context={"context_window": 6000})
    output = run(mode, graph, "Second?", context={"context_window": 6000})
    assert output["answer"] == "7"
    assert [shown(request)[0] for request in model.requests[1:]] == ["First?"] * 3 + ["Second?"]
    assert sent(model.requests[-1]).count("Observation: about") == 3


@pytest.mark.parametrize("mode", MODES)
def test_a_model_that_refuses_the_request_is_sent_fewer_earlier_exchanges(mode: Mode) -> None:
    def reply(messages: list[BaseMessage], _: Any) -> Any:
        fits = len(messages) <= 4
        return "Final Answer: 7" if fits else ContextOverflowError("the prompt is too long")

    model = ScriptedModel(replies=[*["Final Answer: 1"] * 5, *[reply] * 9])
    graph = thread_of(model)
    for n in range(5):
        run(mode, graph, f"Question {n}?")
    output = run(mode, graph, "Last?")
    assert (output["status"], output["answer"]) == ("answered", "7")
    assert [len(shown(request)) for request in model.requests[5:]] == [6, 3, 2]
    assert shown(model.requests[-1]) == ["Question 4?", "Last?"]


@pytest.mark.parametrize("mode", MODES)
def test_only_where_no_exchange_is_left_does_the_run_give_up_and_says_what_is_true(
    mode: Mode,
) -> None:
    model = ScriptedModel(replies=["Final Answer: red"])
    graph = thread_of(model)
    run(mode, graph, "First?", context=SMALL)
    output = run(mode, graph, "why? " * 1400, context=SMALL)
    assert output["status"] == "context_exhausted"
    alone = run(mode, thread_of(model), "why? " * 1400, context=SMALL)
    assert output["stop_reason"] == alone["stop_reason"]
    assert output["stop_reason"].startswith("the prompt and the question alone have 2,")
