"""Replies over HTTP: the stock model's results, read strictly, and errors that tell no key."""

from __future__ import annotations

import asyncio
import functools
import json
import threading
from typing import Any

import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models.base import OpenAIAuthenticationError

from graphs.models import ModelReplyError
from graphs.models.chat_result import chat_result
from graphs.models.openai import RungsChatOpenAI
from graphs.models.quirks import RawCalls, answer_text, normalize_reply
from graphs.models.retry import describe, is_context_overflow, is_transient
from tests.stub_server import USAGE, Reply, StubServer, call, completion, delta, serving, stream

KEY = "sk-live-0123456789abcdef"


@functools.cache
def _made(kind: type[ChatOpenAI], base_url: str, given_to: tuple[tuple[str, Any], ...]) -> Any:
    return kind(base_url=base_url, max_retries=0, **dict(given_to))


def ours(server: StubServer, **changed: Any) -> RungsChatOpenAI:
    given_to = {"model": "m", "api_key": KEY, **changed}
    made: RungsChatOpenAI = _made(RungsChatOpenAI, server.base_url, tuple(given_to.items()))
    return made


def stock(server: StubServer, **changed: Any) -> ChatOpenAI:
    given_to = {"model": "m", "api_key": KEY, "stream_usage": False, **changed}
    made: ChatOpenAI = _made(ChatOpenAI, server.base_url, tuple(given_to.items()))
    return made


def told(message: AIMessage) -> dict[str, Any]:
    return message.model_dump(exclude={"id"})


async def both(model: Runnable[Any, AIMessage], question: Any = "q") -> AIMessage:
    """Invoke sync and async, which must agree."""
    reply = model.invoke(question)
    again = await model.ainvoke(question)
    assert told(reply) == told(again)
    return reply


FULL_USAGE = {
    **USAGE,
    "prompt_tokens_details": {"cached_tokens": 3, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 2},
}
LOGPROBS = {"content": [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]}
BARE = "no id, no model"
GOOD: dict[str, Any] = {
    "text": completion("Hello", usage=USAGE),
    "no usage": completion("Hello"),
    "usage in full": completion("Hello", usage=FULL_USAGE, service_tier="flex"),
    "fingerprint": completion("Hello", system_fingerprint="fp_1", usage=USAGE, extra_field=1),
    "calls": completion(
        None, tool_calls=[call("f", '{"a": 1}', "c1"), call("g", "{}", "c2")], usage=USAGE
    ),
    "text and calls": completion("Let me see.", tool_calls=[call("f", '{"é": "🙂"}')]),
    "refusal": {
        **completion(),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": None, "refusal": "No."},
                "finish_reason": "stop",
            }
        ],
    },
    "logprobs": {
        **completion(),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "a"},
                "logprobs": LOGPROBS,
                "finish_reason": "length",
            }
        ],
    },
    BARE: {"choices": completion("Hello")["choices"]},
    "function call": {
        **completion(),
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": None,
                    "function_call": {"name": "f", "arguments": "{}"},
                },
                "finish_reason": "function_call",
            }
        ],
    },
}


@pytest.mark.parametrize("name", [name for name in GOOD if name != BARE])
async def test_a_good_reply_becomes_the_stock_models_message(name: str) -> None:
    with serving([GOOD[name]]) as server:
        expected = stock(server).invoke("q")
        assert told(await both(ours(server))) == told(expected)


@pytest.mark.parametrize("name", [name for name in GOOD if name != BARE])
async def test_a_result_has_the_stock_models_output_and_infos(name: str) -> None:
    with serving([GOOD[name]]) as server:
        expected = stock(server)._generate([HumanMessage("q")])
        result = ours(server)._generate([HumanMessage("q")])
    assert result.llm_output == expected.llm_output
    assert result.generations[0].generation_info == expected.generations[0].generation_info


async def test_a_reply_that_names_no_model_is_the_asked_ones() -> None:
    with serving([GOOD[BARE]]) as server:
        reply = await both(ours(server))
    assert reply.content == "Hello"
    assert reply.response_metadata["model_name"] == "m"


async def test_response_headers_are_kept_when_asked_for() -> None:
    with serving([Reply(completion("a"), headers={"X-Request-Id": "r1"})]) as server:
        reply = await both(ours(server, include_response_headers=True))
    assert reply.response_metadata["headers"]["x-request-id"] == "r1"


async def test_several_choices_are_several_generations() -> None:
    body = completion("a")
    body["choices"].append({**body["choices"][0], "index": 1})
    with serving([body]) as server:
        result = ours(server, n=2)._generate([HumanMessage("q")])
    assert len(result.generations) == 2


RAW: dict[str, tuple[Any, Any]] = {
    "an object (case ARG-07)": ({"city": "Oslo"}, {"city": "Oslo"}),
    "nothing (case ARG-09)": ("", {}),
    "null": (None, {}),
    "an object in a string": ('"{\\"city\\": \\"Oslo\\"}"', {"city": "Oslo"}),
    "cut off (case ARG-01)": ('{"city": "Par', None),
    "a list": ("[1, 2]", None),
    "a number": ("4", None),
    "a list, not as text": ([1, 2], None),
    "two objects": ('{"p": "a"}{"p": "b"}', None),
    "duplicate keys": ('{"a": 1, "a": 2}', None),
    "NaN": ('{"a": NaN}', None),
}


def calls_of(message: AIMessage) -> Any:
    """Return the arguments of the only call, None when it is invalid with a reason."""
    if message.tool_calls:
        assert not message.invalid_tool_calls
        return message.tool_calls[0]["args"]
    (invalid,) = message.invalid_tool_calls
    assert (invalid["id"], invalid["name"]) == ("c1", "get_weather")
    assert invalid["error"]
    return None


@pytest.mark.parametrize("name", RAW)
async def test_arguments_are_parsed_strictly_and_never_raise(name: str) -> None:
    raw, expected = RAW[name]
    body = completion(tool_calls=[call("get_weather", raw)], usage=USAGE)
    with serving([body]) as server:
        reply = await both(ours(server))
    assert calls_of(reply) == expected
    assert calls_of(normalize_reply(reply)) == expected


@pytest.mark.parametrize("name", RAW)
async def test_streamed_arguments_are_parsed_as_strictly(name: str) -> None:
    raw, expected = RAW[name]
    first = {"index": 0, **call("get_weather", raw)}
    with serving([stream(delta(tool_calls=[first]), delta("tool_calls"))]) as server:
        model = ours(server, streaming=True)
        for reply in [await invoked(model, "sync"), await invoked(model, "async")]:
            assert calls_of(reply) == expected


async def invoked(model: Runnable[Any, AIMessage], mode: str) -> AIMessage:
    raw = RawCalls()
    config = raw.watching({})
    reply = model.invoke("q", config) if mode == "sync" else await model.ainvoke("q", config)
    return normalize_reply(reply, (), raw)


async def test_a_list_cut_off_in_a_stream_is_no_call_whatever_the_finish_reason() -> None:
    """Case ARG-03: a partial parse would delete 101 and 102."""
    pieces = [
        delta(tool_calls=[{"index": 0, **call("delete_orders", '{"ids":[101,')}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": "102"}}]),
        delta("tool_calls"),
    ]
    with serving([stream(*pieces)]) as server:
        model = ours(server, streaming=True)
        for mode in ("sync", "async"):
            reply = await invoked(model, mode)
            assert not reply.tool_calls
            assert reply.invalid_tool_calls[0]["id"] == "c1"
            assert reply.invalid_tool_calls[0]["args"] == '{"ids":[101,102'


async def test_a_streamed_call_without_an_index_is_not_dropped() -> None:
    whole = call("read", '{"p": "a"}', "a")
    with serving([stream(delta(tool_calls=[whole]), delta("tool_calls"))]) as server:
        for mode in ("sync", "async"):
            reply = await invoked(ours(server, streaming=True), mode)
            assert [(c["name"], c["args"]) for c in reply.tool_calls] == [("read", {"p": "a"})]


async def test_a_stream_gives_the_stock_models_chunks_and_usage() -> None:
    pieces = [delta(role="assistant", content="Hel"), delta(content="lo"), delta("stop")]
    with serving([stream(*pieces, usage=USAGE)]) as server:
        expected = [c.model_dump(exclude={"id"}) for c in stock(server).stream("q")]
        got = [c.model_dump(exclude={"id"}) for c in ours(server).stream("q")]
        later = [c.model_dump(exclude={"id"}) async for c in ours(server).astream("q")]
    assert got == later == expected
    assert got[-2]["usage_metadata"]["input_tokens"] == 11


async def test_missing_usage_is_unknown_not_zero() -> None:
    for usage in (None, {}, {"prompt_tokens": None, "completion_tokens": None}):
        with serving([completion("a", usage=usage)]) as server:
            assert (await both(ours(server))).usage_metadata is None
    with serving([stream(delta(content="a"), delta("stop"))]) as server:
        reply = ours(server, streaming=True).invoke("q")
        assert reply.usage_metadata is None


NO_REPLY: dict[str, Any] = {
    "no choices (case SRV-01)": {**completion(), "choices": []},
    "null choices": {**completion(), "choices": None},
    "choices left out": {"id": "x"},
    "an error in a 200": {"error": {"message": f"overloaded, key {KEY}"}},
    "a page": Reply("<html>Bad gateway</html>"),
    "nothing": Reply(b""),
    "a list": [1, 2],
    "broken JSON": Reply(b'{"choices": [', headers={"Content-Type": "application/json"}),
    "content of numbers": completion([1]),
    "choices of numbers": {**completion(), "choices": [1]},
    "a function call that is none": {
        **completion(),
        "choices": [{"index": 0, "message": {"content": "a", "function_call": "f"}}],
    },
    "a choice without a message": {**completion(), "choices": [{"index": 0}]},
}


@pytest.mark.parametrize("name", NO_REPLY)
async def test_a_reply_that_is_none_is_a_model_error_worth_a_retry(name: str) -> None:
    with serving([NO_REPLY[name]]) as server:
        model = ours(server)
        with pytest.raises(ModelReplyError) as sync:
            model.invoke("q")
        with pytest.raises(ModelReplyError) as later:
            await model.ainvoke("q")
    assert str(sync.value) == str(later.value)
    assert "model server" in str(sync.value)
    assert KEY not in str(sync.value)
    assert is_transient(sync.value)


@pytest.mark.parametrize("events", [[], ["[DONE]"], ["{broken"]])
async def test_a_stream_that_is_none_is_a_model_error_worth_a_retry(events: list[str]) -> None:
    with serving([Reply(events=events)]) as server:
        model = ours(server, streaming=True)
        with pytest.raises(ModelReplyError):
            model.invoke("q")
        with pytest.raises(ModelReplyError):
            await model.ainvoke("q")


STATUSES = [400, 401, 403, 404, 408, 409, 422, 429, 500, 503]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("status", STATUSES)
async def test_an_http_error_is_the_stock_models_and_is_sent_once(
    status: int, streaming: bool
) -> None:
    body = {"error": {"message": "that went wrong", "type": "t", "code": "c", "param": None}}
    with serving([Reply(body, status=status)]) as server:
        with pytest.raises(openai.APIStatusError) as expected:
            stock(server, streaming=streaming).invoke("q")
        with pytest.raises(openai.APIStatusError) as error:
            ours(server, streaming=streaming).invoke("q")
        with pytest.raises(openai.APIStatusError) as later:
            await ours(server, streaming=streaming).ainvoke("q")
        assert len(server.requests) == 3
    assert type(error.value) is type(later.value) is type(expected.value)
    assert str(error.value) == str(later.value) == str(expected.value)
    assert error.value.body == expected.value.body
    assert error.value.status_code == status
    assert error.value.response.status_code == status


async def test_a_context_overflow_is_told_apart() -> None:
    for error in (
        {"message": "too long", "code": "context_length_exceeded"},
        {"message": "the request exceeds", "type": "exceed_context_size_error"},
    ):
        with serving([Reply({"error": error}, status=400)]) as server:
            with pytest.raises(openai.BadRequestError) as raised:
                ours(server).invoke("q")
            assert is_context_overflow(raised.value)
            assert not is_transient(raised.value)


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_401_that_echoes_the_key_does_not_tell_it(streaming: bool) -> None:
    for key in (KEY, "odd-key-of-a-local-server"):
        body = {"error": {"message": f"Incorrect API key provided: {key}.", "code": "invalid"}}
        with serving([Reply(body, status=401)]) as server:
            model = ours(server, api_key=key, streaming=streaming)
            with pytest.raises(OpenAIAuthenticationError) as sync:
                model.invoke("q")
            with pytest.raises(OpenAIAuthenticationError) as later:
                await model.ainvoke("q")
        for error in (sync.value, later.value, sync.value.__cause__):
            assert error is not None
            assert key not in str(error)
            assert key not in json.dumps(getattr(error, "body", None))
            assert key not in describe(error)
        assert "401" in describe(sync.value)


def test_two_asyncio_runs_in_one_process_each_get_a_working_client() -> None:
    with serving([completion("a"), stream(delta(content="b"), delta("stop"))] * 2) as server:
        model = ours(server)

        async def once() -> list[str]:
            reply = await model.ainvoke("q")
            return [str(reply.content), *[str(c.content) async for c in model.astream("q")]]

        assert asyncio.run(once())[:2] == ["a", "b"]
        assert asyncio.run(once())[:2] == ["a", "b"]


def test_loops_of_several_threads_do_not_share_connections() -> None:
    with serving([completion("a")]) as server:
        model = ours(server)
        replies: list[Any] = []

        async def several() -> list[AIMessage]:
            return await asyncio.gather(*(model.ainvoke("q") for _ in range(5)))

        threads = [
            threading.Thread(target=lambda: replies.extend(asyncio.run(several())))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [reply.content for reply in replies] == ["a"] * 20


async def test_callbacks_see_a_call_as_they_see_the_stock_models() -> None:
    from langchain_core.callbacks import BaseCallbackHandler

    class Trace(BaseCallbackHandler):
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
            parameters = kwargs["invocation_params"]
            self.seen.append(("start", messages, parameters, kwargs["metadata"]))

        def on_llm_end(self, response: Any, **kwargs: Any) -> None:
            output = {**response.llm_output}
            self.seen.append(("end", output, response.generations[0][0].text))

        def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
            self.seen.append(("error", type(error)))

    replies = [completion("a", usage=USAGE), Reply({}, status=500)]
    traces = []
    for make in (stock, ours):
        with serving(replies) as server:
            trace = Trace()
            model = make(server, stream_usage=False)
            model.invoke("q", {"callbacks": [trace]})
            with pytest.raises(openai.InternalServerError):
                model.invoke("q", {"callbacks": [trace]})
            traces.append(trace.seen)
    assert traces[0] == traces[1]


async def test_a_strict_server_is_sent_nothing_it_does_not_know() -> None:
    """Case SRV-05: 400 on list content in role tool, on parallel_tool_calls, strict, and others."""
    allowed = {"model", "messages", "tools", "tool_choice", "stream", "stop", "temperature"}

    def strict_server(request: Any) -> Any:
        body = request.json
        unknown = sorted(set(body) - allowed)
        tools = [set(tool["function"]) for tool in body.get("tools", [])]
        lists = [
            m for m in body["messages"] if m["role"] == "tool" and not isinstance(m["content"], str)
        ]
        if unknown or lists or any(f - {"name", "description", "parameters"} for f in tools):
            return Reply({"error": {"message": f"unknown: {unknown} {tools} {lists}"}}, status=400)
        if body.get("stream"):
            return stream(delta(content="ok"), delta("stop"))
        return completion("ok")

    from langchain_core.messages import ToolMessage

    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}}
    blocks: list[str | dict[Any, Any]] = [{"type": "text", "text": "r"}]
    messages = [
        HumanMessage("q"),
        AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "c1"}]),
        ToolMessage(blocks, tool_call_id="c1"),
    ]
    with serving(strict_server) as server:
        bound = ours(server, temperature=0).bind_tools(
            [tool], strict=True, parallel_tool_calls=False, tool_choice="any"
        )
        assert (await both(bound, messages)).content == "ok"
        assert [c async for c in bound.astream(messages)]
        assert list(bound.stream(messages))


async def test_what_a_server_takes_can_be_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNGS_OPENAI_SENDS", "stream_options, parallel_tool_calls")
    with serving([stream(delta(content="ok"), delta("stop"), usage=USAGE)]) as server:
        model = RungsChatOpenAI(model="m", base_url=server.base_url, api_key="x", streaming=True)
        reply = model.bind(parallel_tool_calls=False).invoke("q")
        assert server.requests[0].json["stream_options"] == {"include_usage": True}
        assert server.requests[0].json["parallel_tool_calls"] is False
    assert reply.usage_metadata is not None


@pytest.mark.parametrize("model", ["o1", "o3-mini", "gpt-5", "gpt-5.2-mini", "openai/gpt-5-nano"])
async def test_stop_is_not_sent_to_models_that_refuse_it(model: str) -> None:
    with serving([completion("a")]) as server:
        await both(ours(server, model=model).bind(stop=["\nObservation:"]))
        ours(server, model=model, stop_sequences="x").invoke("q")
        assert all("stop" not in request.json for request in server.requests)
        ours(server, model="gpt-4o").invoke("q", stop=["x"])
        assert server.requests[-1].json["stop"] == ["x"]


async def test_a_field_changed_later_changes_the_request() -> None:
    with serving([completion("a")]) as server:
        model = RungsChatOpenAI(model="m", base_url=server.base_url, api_key="x")
        model.invoke("q")
        model.temperature = 0.5
        model.invoke("q")
        assert ["temperature" in r.json for r in server.requests] == [False, True]


async def test_nothing_of_a_stream_is_lost_when_it_is_broken_off() -> None:
    pieces = [delta(content="a"), delta(content="b"), delta("stop")]
    with serving([stream(*pieces)]) as server:
        for chunk in ours(server).stream("q"):
            assert isinstance(chunk, AIMessageChunk)
            break
        assert ours(server).invoke("q", stream=True).content == "ab"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
FIELDS = ("content", "tool_calls", "function_call", "refusal", "name", "id", "audio", "role")
CALLS = st.lists(st.fixed_dictionaries({}, optional={"id": JSON, "function": JSON, "type": JSON}))


@settings(max_examples=200, deadline=None)
@given(
    st.fixed_dictionaries({}, optional={**dict.fromkeys(FIELDS, JSON), "tool_calls": CALLS | JSON}),
    st.fixed_dictionaries({}, optional=dict.fromkeys(("prompt_tokens", "completion_tokens"), JSON)),
    JSON,
)
def test_a_reply_of_any_shape_is_a_message_or_a_model_error(
    message: Any, usage: Any, other: Any
) -> None:
    body = {
        "choices": [{"message": message, "finish_reason": other, "logprobs": other}],
        "usage": usage,
        "model": other,
        "service_tier": other,
    }
    for data in (body, {**body, "usage": other}, {**body, "choices": other}, {"choices": [other]}):
        try:
            result = chat_result(data, "m", {})
        except ModelReplyError:
            continue
        reply = result.generations[0].message
        assert isinstance(reply, AIMessage)
        normalize_reply(reply)
        answer_text(reply)


def test_an_async_call_does_not_block_the_event_loop() -> None:
    blockbuster = pytest.importorskip("blockbuster")
    with serving([completion("ok"), stream(delta(content="ok"), delta("stop"))]) as server:
        model = RungsChatOpenAI(model="m", base_url=server.base_url, api_key="x")

        async def once() -> list[Any]:
            reply = await model.ainvoke("q")
            return [reply.content, *[chunk.content async for chunk in model.astream("q")]]

        with blockbuster.blockbuster_ctx():
            assert asyncio.run(once())[:2] == ["ok", "ok"]
