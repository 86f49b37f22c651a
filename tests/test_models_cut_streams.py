"""A streamed reply is judged as a whole one: errors, cuts and pages are told, and asked again."""

from __future__ import annotations

import asyncio
import functools
import json
from typing import Any

import openai
import pytest
import tenacity
from langchain_core.messages import AIMessage, AIMessageChunk

from graphs.models import ModelReplyError, retry
from graphs.models.openai import RungsChatOpenAI
from graphs.models.retry import async_retrying, describe, is_transient, retrying
from tests.stub_server import (
    USAGE,
    Recorded,
    Reply,
    Script,
    StubServer,
    call,
    completion,
    delta,
    serving,
    stream,
)
from tests.support import compiled

KEY = "plain-key-0123456789"
CUT = "the stream ended early: the model server closed it before the reply was whole"
OVERLOADED = {"error": {"message": "overloaded"}}
TEXT = [delta(role="assistant", content="The answer"), delta(content=" is")]
PAY = {"index": 0, **call("pay", '{"amount": 5}')}
GOOD = stream(delta(content="All"), delta(content=" good."), delta("stop"))
MODES = ("stream", "astream", "invoke", "ainvoke")


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "_BACKOFF", tenacity.wait_none())


@functools.cache
def _made(base_url: str, more: tuple[tuple[str, Any], ...]) -> RungsChatOpenAI:
    key: Any = KEY
    return RungsChatOpenAI(model="m", base_url=base_url, api_key=key, **dict(more))


def streaming(server: StubServer, **more: Any) -> RungsChatOpenAI:
    return _made(server.base_url, (("streaming", True), *more.items()))


async def asked(model: Any, mode: str) -> AIMessage:
    """Ask through one entry point; a stream's chunks are added up."""
    if mode in {"invoke", "ainvoke"}:
        return model.invoke("q") if mode == "invoke" else await model.ainvoke("q")  # type: ignore[no-any-return]
    total: Any = None
    pieces = list(model.stream("q")) if mode == "stream" else [c async for c in model.astream("q")]
    for piece in pieces:
        total = piece if total is None else total + piece
    return total  # type: ignore[no-any-return]


async def failures(reply: Any, **more: Any) -> list[BaseException]:
    """Get what each entry point raises for a reply, which must be one and the same."""
    raised: list[BaseException] = []
    with serving([reply]) as server:
        for mode in MODES:
            with pytest.raises((ModelReplyError, openai.APIError)) as error:
                await asked(streaming(server, **more), mode)
            raised.append(error.value)
        assert len(server.requests) == len(MODES)
    assert len({describe(error) for error in raised}) == 1
    return raised


STREAMED_ERRORS: dict[str, Any] = {
    "alone": Reply(events=[OVERLOADED]),
    "after text": Reply(events=[*TEXT, OVERLOADED]),
    "after a whole call": Reply(events=[delta(tool_calls=[PAY]), OVERLOADED]),
    "after a finish reason": stream(delta("stop", content="a"), OVERLOADED),
    "as text": Reply(events=[{"error": "overloaded"}]),
    "marked as an object": stream(*TEXT, {"object": "error", "message": "overloaded"}),
    "whole": OVERLOADED,
    "with a code": Reply(events=[{"error": {"message": "overloaded", "code": 502}}]),
}


@pytest.mark.parametrize("name", STREAMED_ERRORS)
async def test_an_error_told_in_a_stream_is_named_and_worth_a_retry(name: str) -> None:
    for error in await failures(STREAMED_ERRORS[name]):
        assert describe(error) == "the model server sent an error: overloaded"
        assert is_transient(error)


async def test_a_quota_used_up_is_not_waited_for_in_a_stream_either() -> None:
    told = {"error": {"message": "no credit", "code": "insufficient_quota"}}
    for error in await failures(Reply(events=[told])):
        assert not is_transient(error)


async def test_a_prompt_too_long_told_in_a_stream_is_not_sent_again() -> None:
    told = {"error": {"message": "Your input exceeds the context window of this model."}}
    for error in await failures(Reply(events=[told])):
        assert retry.is_context_overflow(error) or not is_transient(error)


async def test_the_key_is_not_told_by_an_error_in_a_stream() -> None:
    for reply in (
        Reply(events=[{"error": {"message": f"bad key {KEY}"}}]),
        Reply(events=[{"error": f"bad key {KEY}"}]),
        {"error": {"message": f"bad key {KEY}"}},
        Reply(f"<html>{KEY}</html>"),
    ):
        for error in await failures(reply):
            assert KEY not in f"{error} {describe(error)}"
            assert "[redacted]" in describe(error)


CUT_STREAMS: dict[str, Any] = {
    "after text": Reply(events=TEXT),
    "after a whole-looking call": Reply(events=[delta(tool_calls=[PAY])]),
    "after half a call": Reply(
        events=[delta(tool_calls=[{"index": 0, **call("pay", '{"amount": ')}])]
    ),
    "after the role": Reply(events=[delta(role="assistant", content="")]),
    "in its first event": Reply(
        b'data: {"choices": [{"index": 0, "delta": {"con',
        headers={"Content-Type": "text/event-stream"},
    ),
    "before its usage": Reply(events=[*TEXT, {**delta(), "choices": [], "usage": USAGE}]),
}


@pytest.mark.parametrize("more", [{}, {"include_response_headers": True}])
@pytest.mark.parametrize("name", CUT_STREAMS)
async def test_a_stream_that_just_stops_is_cut_and_worth_a_retry(
    name: str, more: dict[str, Any]
) -> None:
    for error in await failures(CUT_STREAMS[name], **more):
        assert isinstance(error, ModelReplyError)
        assert str(error) == CUT
        assert is_transient(error)


def raw_events(*events: Any, end: str) -> Reply:
    lines = "\n\n".join(f"data: {json.dumps(event)}" for event in events)
    body = f": keep-alive\n\n{lines}\n\n{end}".encode()
    return Reply(body, headers={"Content-Type": "text/event-stream"})


WHOLE_STREAMS: dict[str, Any] = {
    "no [DONE]": Reply(events=[*TEXT, delta("stop")]),
    "no [DONE], usage last": Reply(
        events=[*TEXT, delta("stop"), {**delta(), "choices": [], "usage": USAGE}]
    ),
    "no finish reason": stream(*TEXT),
    "a finish reason with the last text": Reply(events=[TEXT[0], delta("stop", content=" is")]),
    "cut at the token limit": Reply(events=[*TEXT, delta("length")]),
    "[DONE] without a blank line": raw_events(*TEXT, end="data: [DONE]"),
    "a first chunk without choices": stream({**delta(), "choices": []}, *TEXT, delta("stop")),
}


@pytest.mark.parametrize("name", WHOLE_STREAMS)
async def test_a_stream_with_a_finish_reason_or_done_is_whole(name: str) -> None:
    with serving([WHOLE_STREAMS[name]]) as server:
        for mode in MODES:
            assert (await asked(streaming(server), mode)).content == "The answer is"


NO_STREAM: dict[str, tuple[Any, str]] = {
    "no choices": ({**completion(), "choices": []}, "a reply without choices"),
    "no choices in any event": (stream({**delta(), "choices": []}), "a reply without choices"),
    "a page": (Reply("<html>Bad gateway</html>"), "HTML instead of JSON: <html>Bad gateway"),
    "text": (Reply(b"Bad gateway"), "no JSON object but: Bad gateway"),
    "broken JSON": (Reply(b'{"choices": ['), "no JSON object but: "),
    "a choice without a message": (
        {**completion(), "choices": [{"index": 0}]},
        "a choice without a message",
    ),
    "a list as event": (Reply(events=[[1]]), "a reply that can't be read"),
    "nothing": (Reply(b""), "an empty stream"),
    "[DONE] alone": (stream(), "an empty stream"),
    "comments alone": (Reply(b": keep-alive\n\n"), "an empty stream"),
}


@pytest.mark.parametrize("name", NO_STREAM)
async def test_what_is_no_stream_is_named_for_what_it_is(name: str) -> None:
    reply, said = NO_STREAM[name]
    for error in await failures(reply):
        assert describe(error).startswith(f"the model server sent {said}")
        assert is_transient(error)


@pytest.mark.parametrize("name", ["no choices", "a page", "text"])
async def test_a_whole_reply_that_is_none_is_named_as_the_streamed_one(name: str) -> None:
    (streamed, *_) = await failures(NO_STREAM[name][0])
    with serving([NO_STREAM[name][0]]) as server:
        model = streaming(server).model_copy(update={"streaming": False})
        with pytest.raises(ModelReplyError) as whole:
            await model.ainvoke("q")
    assert str(whole.value) == str(streamed)


async def test_a_completion_sent_whole_to_a_stream_request_is_the_reply() -> None:
    calls = [call("pay", '{"amount": 5}', "c1"), call("pay", {"amount": 6}, "c2")]
    pretty = json.dumps(completion("Let me pay.", tool_calls=calls, usage=USAGE), indent=2)
    for body in (
        completion("Let me pay.", tool_calls=calls, usage=USAGE),
        Reply(f"\n{pretty}\n\n".encode()),
    ):
        with serving([body]) as server:
            for mode in MODES:
                reply = await asked(streaming(server), mode)
                assert reply.content == "Let me pay."
                assert [(c["id"], c["args"]) for c in reply.tool_calls] == [
                    ("c1", {"amount": 5}),
                    ("c2", {"amount": 6}),
                ]
                assert reply.usage_metadata
                assert reply.usage_metadata["total_tokens"] == 18
                assert reply.response_metadata["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("name", CUT_STREAMS)
async def test_a_stream_that_the_client_parses_is_no_reply_when_cut(name: str) -> None:
    asks: Any = {"response_format": {"type": "json_object"}}
    with serving([CUT_STREAMS[name]]) as server:
        model = streaming(server)
        with pytest.raises(ModelReplyError):
            model.invoke("q", **asks)
        with pytest.raises(ModelReplyError):
            await model.ainvoke("q", **asks)
        server.play([GOOD])
        assert model.invoke("q", **asks).content == "All good."
        assert (await model.ainvoke("q", **asks)).content == "All good."


@pytest.mark.parametrize("bad", [Reply(events=[*TEXT, OVERLOADED]), Reply(events=TEXT)])
async def test_a_broken_stream_is_asked_for_again_and_given_up_after_three(bad: Reply) -> None:
    with serving([bad, bad, GOOD]) as server:
        assert retrying()(streaming(server).invoke, "q").content == "All good."
        assert len(server.requests) == 3
        server.play([bad, bad, GOOD])
        assert (await async_retrying()(streaming(server).ainvoke, "q")).content == "All good."
        assert len(server.requests) == 3
        server.play([bad])
        with pytest.raises((ModelReplyError, openai.APIError)) as error:
            retrying()(streaming(server).invoke, "q")
        assert len(server.requests) == 3
    assert describe(error.value).endswith(" (3 attempts)")


class Streamed:
    """One run of the graph, streamed as messages, with a tool that counts its runs."""

    def __init__(self, script: Script, mode: str) -> None:
        self.paid: list[int] = []

        def pay(amount: int) -> str:
            """Pay an amount."""
            self.paid.append(amount)
            return f"paid {amount}"

        with serving(script) as server:
            graph = compiled(_made(server.base_url, ()), [pay])
            given: Any = {"messages": [("user", "Pay 5.")]}
            modes: Any = {"stream_mode": ["messages", "values"]}

            async def collect() -> list[Any]:
                return [part async for part in graph.astream(given, **modes)]

            parts = (
                asyncio.run(collect()) if mode == "astream" else list(graph.stream(given, **modes))
            )
            self.requests: list[Recorded] = server.requests
        self.pieces = [part[0] for kind, part in parts if kind == "messages" and _is_piece(part[0])]
        self.output = [part for kind, part in parts if kind == "values"][-1]

    @property
    def texts(self) -> dict[str, str]:
        """Return what a client put together by message id, in order of arrival."""
        texts: dict[str, str] = {}
        for piece in self.pieces:
            texts[piece.id] = texts.get(piece.id, "") + piece.text
        return texts


def _is_piece(message: Any) -> bool:
    return isinstance(message, AIMessageChunk)


BROKEN: dict[str, Reply] = {
    "an error after text": Reply(events=[*TEXT, OVERLOADED]),
    "a cut after text": Reply(events=TEXT),
    "a cut after text, one id for all": Reply(events=[delta(id="same", content="The answer is")]),
}
SAME = stream(delta(id="same", content="All good."), delta("stop"))


@pytest.mark.parametrize("mode", ["stream", "astream"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_client_can_tell_the_pieces_of_a_retry_from_those_it_replaces(
    name: str, mode: str
) -> None:
    run = Streamed([BROKEN[name], SAME], mode)
    assert len(run.requests) == 2
    assert run.output["answer"] == "All good."
    assert run.output["status"] == "answered"
    last = run.output["messages"][-1]
    assert last.text == "All good."
    assert last.response_metadata["attempts"] == 2
    assert list(run.texts.values()) == ["The answer ", "All good."]
    assert list(run.texts)[-1] == last.id
    assert sum(message.type == "ai" for message in run.output["messages"]) == 1


BROKEN_CALLS: dict[str, Reply] = {
    "an error": Reply(events=[delta(tool_calls=[PAY]), OVERLOADED]),
    "a cut": Reply(events=[delta(content="Paying."), delta(tool_calls=[PAY])]),
}


@pytest.mark.parametrize("mode", ["stream", "astream"])
@pytest.mark.parametrize("name", BROKEN_CALLS)
def test_a_tool_runs_only_from_a_whole_streamed_reply(name: str, mode: str) -> None:
    other = {"index": 0, **call("pay", '{"amount": 7}', "c2")}
    again = stream(delta(tool_calls=[other]), delta("tool_calls"))
    run = Streamed([BROKEN_CALLS[name], again, GOOD], mode)
    assert run.paid == [7]
    assert len(run.requests) == 3
    assert run.requests[0].body == run.requests[1].body
    assert run.output["answer"] == "All good."

    given_up = Streamed([BROKEN_CALLS[name]], mode)
    assert given_up.paid == []
    assert len(given_up.requests) == retry.ATTEMPTS
    assert given_up.output["status"] == "no_answer"
    assert "(3 attempts)" in given_up.output["stop_reason"]
