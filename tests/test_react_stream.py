"""What is told of a ReAct reply while it comes: no more than what is recorded of it."""

import asyncio
import itertools
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk

from graphs.cli.receipt import costs
from graphs.models import ScriptedModel
from graphs.models.openai import RungsChatOpenAI
from graphs.react.parser import parse
from graphs.react.said import Said
from tests.reacting import Log, acting
from tests.stub_server import USAGE, Reply, completion, delta, serving, stream
from tests.support import MODES, Mode, compiled, run
from tests.test_react_parser import HEADS, HOSTILE, TEXTS

FORGED = "Thought: a\nAction: f[1]\nObservation: 9\nThought: b\nAction: g[2]\nFinal Answer: 3"
SAID = "Thought: a\nAction: f[1]"
LATE = "x\nObservation: 9\n</think>\nThought: look\nAction: f[1]"
"""Thinking that a template opened, with an Observation in it."""


def let_go(text: str, sizes: Iterator[int]) -> tuple[str, str]:
    """Return what is let go of a text that comes in pieces, and how much of it was read."""
    said, told, place = Said(), "", 0
    while place < len(text) and not said.ended:
        end = place + next(sizes)
        told += said.push(text[place:end])
        place = end
    return told + said.flush(), text[:place]


@settings(deadline=None)
@given(TEXTS, st.lists(st.sampled_from([1, 2, 3, 5, 8, 100]), min_size=1, max_size=5))
@example(FORGED, [1])
@example("```json\nThought: a\nFinal Answer: 3\n```\n", [1])
@example('Action: f[{"a": "]"}] and more', [1])
@example('Action: f["a" ] b] and more', [1])
@example(LATE, [1])
@example(f"{LATE}\n{LATE}", [100])
@example("Action: f[1]\nObservation: 9\n</think>\nAction: g[2]", [3])
@example("**Action:**\nf[1] and more\n\u200fObservation: 2", [1])
def test_however_a_reply_is_cut_the_pieces_make_up_what_is_recorded(
    text: str, sizes: list[int]
) -> None:
    told, read = let_go(text, itertools.cycle(sizes))
    said = parse(text).said.strip()
    assert parse(read) == parse(text)
    tag = re.search(r"<(/?)(?:think|thinking|thought|reasoning)>", text, re.IGNORECASE)
    if tag and tag.group(1):  # the end of a thinking whose beginning was not marked
        assert told.strip().endswith(said)
        return
    assert told.strip() == said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (FORGED, SAID),
        (f"{SAID} and so on\nFinal Answer: 3", SAID),
        ("<think>maybe\nAction: wipe[all]</think>\nAction: f[1]", "Action: f[1]"),
        ("well, well\n</think>\nAction: f[1]", "Action: f[1]"),
        (LATE, "x"),
        ("```\nAction: f[1]\n```", "Action: f[1]"),
        ("Final Answer: see\n```\ncode\n```", "Final Answer: see\n```\ncode\n```"),
        ("It is 7.", "It is 7."),
    ],
)
def test_only_what_counts_of_a_reply_is_let_go(text: str, told: str) -> None:
    """Cases REA-15 and REA-19."""
    assert let_go(text, iter([1] * len(text)))[0] == told


def test_nothing_is_held_back_but_what_may_begin_something() -> None:
    said = Said()
    assert said.push("Thou") == ""
    assert said.push("ght: I look") == "Thought: I look"
    assert said.push(" it up") == " it up"
    assert said.push("\nObs") == ""
    assert said.push("ess") == "\nObsess"
    assert said.push("ion\nAction: f[{") == "ion\nAction: f[{"
    assert said.push('"a": "]') == '"a": "]'
    assert said.push('"}') == ""
    assert said.push("]") == '"}]'
    assert said.push(" and\nFinal Answer: 3") == ""
    assert not said.ended
    assert said.push("\nObservation: ") == ""
    assert said.ended


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_held_back_text_is_short_or_is_not_looked_at_again(head: str, piece: str) -> None:
    """A line's undecided beginning is bounded, so that the time is linear however a text comes."""
    said, text = Said(), head + piece * (4000 // len(piece))
    for place in range(0, len(text), 4):
        said.push(text[place : place + 4])
        assert len(said._line or "") < 400
        assert len(said._thinking._held) < 12
        assert len(said._thinking._line) <= 200


# ---- whole runs


def tokens(mode: Mode, graph: Any, **more: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """Run, and return the streamed text by message id, and the run's last values."""
    given = {"messages": [{"role": "user", "content": "?"}]}
    told: dict[str, str] = {}
    last: dict[str, Any] = {}

    def note(kind: str, value: Any) -> None:
        if kind == "values":
            last.update(value)
        elif isinstance(value[0], AIMessage):
            told[value[0].id or ""] = told.get(value[0].id or "", "") + value[0].text

    async def run() -> None:
        async for kind, value in graph.astream(given, stream_mode=["messages", "values"], **more):
            note(kind, value)

    if mode == "ainvoke":
        asyncio.run(run())
    else:
        for kind, value in graph.stream(given, stream_mode=["messages", "values"], **more):
            note(kind, value)
    return told, last


def replies(messages: list[BaseMessage]) -> dict[str, str]:
    return {m.id or "": m.text for m in messages if isinstance(m, AIMessage)}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["react_transcript", "react_todo_notes", "react_compaction"])
def test_the_tokens_of_a_run_are_those_that_are_recorded(mode: Mode, name: str) -> None:
    log = Log()
    thinking = "<think>so?\nFinal Answer: 9</think>Thought: b\nAction: f[2]\nThought: then"
    model = acting(FORGED, thinking, "Final Answer: 7\nObservation: none")
    told, output = tokens(mode, compiled(model, [log.tool("f"), log.tool("g")], name))
    assert told == replies(output["messages"])
    assert list(told.values()) == [SAID, "Thought: b\nAction: f[2]", "Final Answer: 7"]
    assert log == [("f", "1"), ("f", "2")]


@pytest.mark.parametrize("mode", MODES)
def test_a_reply_is_the_same_streamed_or_whole_where_its_thinking_ends_late(mode: Mode) -> None:
    replies = [LATE, "well\n</think>\nAction: f[2]", "Final Answer: 7"]
    ran, streamed = Log(), Log()
    output = run(mode, compiled(acting(*replies), [ran.tool("f")], "react_transcript"), "?")
    graph = compiled(acting(*replies), [streamed.tool("f")], "react_transcript")
    told, last = tokens(mode, graph)
    assert ran == streamed == [("f", "2")]
    texts = [[str(m.text) for m in end["messages"] if m.type == "ai"] for end in (output, last)]
    assert texts[0] == texts[1] == list(told.values()) == ["x", "Action: f[2]", "Final Answer: 7"]


@pytest.mark.parametrize("mode", MODES)
def test_the_last_calls_tokens_are_cut_too(mode: Mode) -> None:
    model = acting("Action: f[1]", "Final Answer: 7\nObservation: 8\nFinal Answer: 9")
    graph = compiled(model, [Log().tool("f")], "react_transcript")
    told, output = tokens(mode, graph, context={"max_turns": 1})
    assert list(told.values()) == ["Action: f[1]", "Final Answer: 7"]
    assert (output["answer"], output["status"]) == ("7", "turn_limit")


class Counting(ScriptedModel):
    """Counts the pieces that are asked of it."""

    pulled: list[str]

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        for chunk in super()._stream(*args, **kwargs):
            self.pulled.append(chunk.text)
            yield chunk

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        async for chunk in super()._astream(*args, **kwargs):
            self.pulled.append(chunk.text)
            yield chunk


@pytest.mark.parametrize("mode", MODES)
def test_a_stream_is_read_no_further_than_the_models_own_observation(mode: Mode) -> None:
    usage = {"input_tokens": 11, "output_tokens": 900}
    first = {"text": FORGED + " on" * 500, "usage": usage}
    model = Counting(replies=[first, {"text": "Final Answer: 7", "usage": usage}], pulled=[])
    told, output = tokens(mode, compiled(model, [Log().tool("f")], "react_transcript"))
    assert list(told.values()) == [SAID, "Final Answer: 7"]
    assert len(model.pulled) < 30
    made = [m for m in output["messages"] if isinstance(m, AIMessage)]
    # What the reply cost is told at its end, which was not read: unknown, not 0.
    assert [m.usage_metadata and m.usage_metadata["output_tokens"] for m in made] == [None, 900]
    assert output["usage"]["output_tokens"] is None
    assert made[0].response_metadata["finish_reason"] == "stop"


def spoken(text: str, more: int = 0) -> Reply:
    pieces = [delta(content=text[place : place + 5]) for place in range(0, len(text), 5)]
    return stream(*pieces, *[delta(content="x" * 50_000)] * more, delta("stop"), usage=USAGE)


@pytest.mark.parametrize("mode", MODES)
def test_over_http_the_connection_is_closed_at_the_cut(mode: Mode) -> None:
    log = Log()
    with serving([spoken(FORGED, more=400), spoken("Final Answer: 7")]) as server:
        model = RungsChatOpenAI(model="gpt-5-mini", base_url=server.base_url, api_key="k")
        told, output = tokens(mode, compiled(model, [log.tool("f")], "react_transcript"))
        assert server.hung_up.wait(5)
        assert ["stop" in request.json for request in server.requests] == [False, False]
    assert log == [("f", "1")]
    assert told == replies(output["messages"])
    assert list(told.values()) == [SAID, "Final Answer: 7"]
    assert output["answer"] == "7"


@pytest.mark.parametrize("mode", MODES)
def test_a_reply_that_comes_whole_is_told_as_far_as_it_counts(mode: Mode) -> None:
    with serving([completion(FORGED, usage=USAGE), completion("Final Answer: 7")]) as server:
        model = RungsChatOpenAI(
            model="stub-1",
            base_url=server.base_url,
            api_key="k",
            disable_streaming=True,
        )
        told, output = tokens(mode, compiled(model, [Log().tool("f")], "react_transcript"))
    assert told == replies(output["messages"])
    first = next(m for m in output["messages"] if isinstance(m, AIMessage))
    assert first.usage_metadata
    assert first.usage_metadata["output_tokens"] == USAGE["completion_tokens"]


@pytest.mark.parametrize("mode", MODES)
def test_text_in_blocks_is_cut_as_well(mode: Mode) -> None:
    blocks = [
        {"type": "text", "text": "Thought: a\nAction: f[1]\nObser", "index": 0},
        {"type": "text", "text": "vation: 9\nFinal Answer: 3", "index": 0},
    ]
    chunks = {"stream_chunks": [{"text": [block]} for block in blocks]}
    model = acting(chunks, "Final Answer: 7")
    told, output = tokens(mode, compiled(model, [Log().tool("f")], "react_transcript"))
    assert list(told.values()) == [SAID, "Final Answer: 7"]
    assert output["answer"] == "7"
    assert AIMessageChunk not in map(type, output["messages"])


# ---- asked for whole, of a server that takes no stop sequence

REFUSED_STOP = {"message": "Unsupported parameter: 'stop' is not supported.", "param": "stop"}
REFUSED_STREAM = {
    "message": "Your organization must be verified to stream this model.",
    "param": "stream",
    "code": "unsupported_value",
}


class RefusedError(Exception):
    """What a server answers that takes no stop sequence."""

    status_code = 400


class Closing(Counting):
    """Notes too when a stream is given up."""

    closed: list[int]

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        try:
            yield from super()._stream(*args, **kwargs)
        except GeneratorExit:
            self.closed.append(len(self.requests))
            raise

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        try:
            async for chunk in super()._astream(*args, **kwargs):
                yield chunk
        except GeneratorExit:
            self.closed.append(len(self.requests))
            raise


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["react_transcript", "react_todo_notes", "react_compaction"])
def test_once_stop_was_refused_a_whole_run_waits_for_no_invented_text(
    mode: Mode, name: str
) -> None:
    log = Log()
    usage = {"input_tokens": 11, "output_tokens": 900}
    long = {"text": FORGED + " on" * 500, "usage": usage}
    replies = [RefusedError("'stop' is not supported"), long, long, {"text": "Final Answer: 7"}]
    model = Closing(replies=replies, pulled=[], closed=[])
    output = run(mode, compiled(model, [log.tool("f"), log.tool("g")], name), "?")
    assert (output["answer"], log) == ("7", [("f", "1")] * 2)
    assert [request.stop for request in model.requests] == [["Observation:"], None, None, None]
    assert model.closed == [2, 3]
    assert len(model.pulled) < 60
    assert set(replies_of(output)) == {SAID, "Final Answer: 7"}


def replies_of(output: dict[str, Any]) -> list[str]:
    return list(replies(output["messages"]).values())


@pytest.mark.parametrize("mode", MODES)
def test_what_a_cut_reply_cost_is_estimated_and_said_to_be(mode: Mode) -> None:
    usage = {"input_tokens": 1_000, "output_tokens": 900}
    long = {"text": FORGED + " on" * 500, "usage": usage}
    model = acting(RefusedError("'stop' is not supported"), long, {"text": "Final Answer: 7"})
    model.replies[-1]["usage"] = usage
    output = run(mode, compiled(model, [Log().tool("f")], "react_transcript"), "?")
    cut, whole = (m for m in output["messages"] if isinstance(m, AIMessage))
    assert (cut.usage_metadata, cut.response_metadata["finish_reason"]) == (None, "stop")
    guess = cut.response_metadata["estimated_tokens"]
    asked = sum(len(str(message.text)) for message in model.requests[1].messages)
    assert asked / 4 < guess["input_tokens"] < asked / 3 + 20
    assert len(SAID) / 4 < guess["output_tokens"] < len(SAID)
    assert "estimated_tokens" not in whole.response_metadata
    told = output["usage"]
    assert (told["input_tokens"], told["output_tokens"]) == (None, None)
    assert told["estimated"] == {key: guess[key] + usage[key] for key in guess}
    assert "tokens, estimated" in costs(told)


@pytest.mark.parametrize("mode", MODES)
def test_a_reply_that_ends_by_itself_is_read_whole_and_its_usage_is_kept(mode: Mode) -> None:
    usage = {"input_tokens": 11, "output_tokens": 5}
    first = {"text": SAID, "usage": usage}
    model = Closing(
        replies=[RefusedError("no stop"), first, {"text": "Final Answer: 7", "usage": usage}],
        pulled=[],
        closed=[],
    )
    output = run(mode, compiled(model, [Log().tool("f")], "react_transcript"), "?")
    assert (output["usage"]["input_tokens"], output["usage"]["output_tokens"]) == (22, 10)
    assert "estimated" not in output["usage"]
    assert model.closed == []
    assert model.pulled


@pytest.mark.parametrize("mode", MODES)
def test_a_server_that_takes_stop_is_not_asked_to_stream(mode: Mode) -> None:
    model = Counting(replies=[SAID, "Final Answer: 7"], pulled=[])
    run(mode, compiled(model, [Log().tool("f")], "react_transcript"), "?")
    assert [request.stop for request in model.requests] == [["Observation:"]] * 2
    assert model.pulled == []


@pytest.mark.parametrize("mode", MODES)
def test_the_last_call_is_read_no_further_than_it_counts_either(mode: Mode) -> None:
    last = "Final Answer: 7\nObservation: 8" + " on" * 500
    model = Closing(replies=[RefusedError("no stop"), SAID, last], pulled=[], closed=[])
    graph = compiled(model, [Log().tool("f")], "react_transcript")
    output = run(mode, graph, "?", context={"max_turns": 1})
    assert (output["answer"], output["status"]) == ("7", "turn_limit")
    assert model.closed == [3]


@pytest.mark.parametrize("mode", MODES)
def test_over_http_an_invoked_run_hangs_up_too_once_stop_was_refused(mode: Mode) -> None:
    log = Log()
    refused = Reply({"error": REFUSED_STOP}, status=400)
    script = [refused, spoken(FORGED, more=400), spoken("Final Answer: 7")]
    with serving(script) as server:
        model = RungsChatOpenAI(model="stub-1", base_url=server.base_url, api_key="k")
        output = run(mode, compiled(model, [log.tool("f")], "react_transcript"), "?")
        assert server.hung_up.wait(5)
        bodies = [request.json for request in server.requests]
    assert (output["answer"], log) == ("7", [("f", "1")])
    assert [body.get("stop") for body in bodies] == [["Observation:"], None, None]
    assert [bool(body.get("stream")) for body in bodies] == [False, True, True]


@pytest.mark.parametrize("mode", MODES)
def test_a_model_known_to_take_no_stop_is_streamed_from_the_first_call_on(mode: Mode) -> None:
    with serving([spoken(FORGED, more=400), spoken("Final Answer: 7")]) as server:
        model = RungsChatOpenAI(model="gpt-5-mini", base_url=server.base_url, api_key="k")
        output = run(mode, compiled(model, [Log().tool("f")], "react_transcript"), "?")
        assert server.hung_up.wait(5)
        assert all(request.json["stream"] for request in server.requests)
    assert output["answer"] == "7"


@pytest.mark.parametrize("mode", MODES)
def test_a_server_that_refuses_to_stream_too_is_asked_for_whole_replies(mode: Mode) -> None:
    """OpenAI streams some of its models to verified organizations alone."""
    script = [
        Reply({"error": REFUSED_STREAM}, status=400),
        completion(FORGED, usage=USAGE),
        completion("Final Answer: 7", usage=USAGE),
    ]
    with serving(script) as server:
        model = RungsChatOpenAI(model="o3", base_url=server.base_url, api_key="k")
        output = run(mode, compiled(model, [Log().tool("f")], "react_transcript"), "?")
        asked = [bool(request.json.get("stream")) for request in server.requests]
    assert asked == [True, False, False]
    assert (output["answer"], replies_of(output)[0]) == ("7", SAID)
    assert output["usage"]["output_tokens"] == 2 * USAGE["completion_tokens"]
