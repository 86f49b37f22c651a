"""Requests of our OpenAI model, byte for byte against the stock one's own."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import invalid_tool_call, tool_call
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

from graphs.models.capabilities import ALL
from graphs.models.loops import LoopBoundClient
from graphs.models.openai import RungsChatOpenAI
from graphs.models.replay import replayable
from graphs.models.wire import Encoded, encode, parameters_key, split_at_the_mark
from tests.stub_server import USAGE, Recorded, StubServer, call, completion, delta, serving, stream


class Weather(BaseModel):
    """Look up the weather."""

    city: str = Field(description="a city, as in “Zürich”")
    days: int = 1


class Answer(BaseModel):
    """An answer."""

    text: str


TOOL = {
    "type": "function",
    "function": {
        "name": "calculator",
        "description": "exact arithmetic",
        "parameters": {
            "type": "object",
            "properties": {"expression": {"type": "string", "default": "1"}},
            "required": ["expression"],
            "additionalProperties": False,
        },
    },
}

QUESTION: list[BaseMessage] = [
    SystemMessage("You are a support assistant."),
    HumanMessage('What is 240*29/30? Grüße 🙂 <b>&amp;</b> \u2028 \\ " \t \x07'),
]
ROUNDS: list[BaseMessage] = [
    *QUESTION,
    AIMessage(
        "Let me see.",
        tool_calls=[
            tool_call(name="calculator", args={"expression": "240*29/30", "é": [1, 1.0]}, id="c1"),
            tool_call(name="calculator", args={}, id="c2"),
        ],
        additional_kwargs={"refusal": None},
        response_metadata={"finish_reason": "tool_calls"},
        id="run-1",
    ),
    ToolMessage("232", tool_call_id="c1", name="calculator", id="t1"),
    ToolMessage("nothing given", tool_call_id="c2", status="error", artifact={"a": 1}),
    AIMessage("", tool_calls=[tool_call(name="calculator", args={"a": {"b": None}}, id="c3")]),
    ToolMessage("", tool_call_id="c3"),
    AIMessage("It is 232."),
    HumanMessage("Thank you", name="ann"),
]
UNCOMMON: list[BaseMessage] = [
    SystemMessage("Dev", additional_kwargs={"__openai_role__": "developer"}),
    HumanMessage(
        [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "image", "base64": "AAAA", "mime_type": "image/png"},
        ]
    ),
    AIMessage(
        [{"type": "text", "text": "It is ", "annotations": []}, {"type": "text", "text": "a dot."}],
        name="bot",
    ),
    ChatMessage(content="as another role", role="critic"),
    AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}}),
    AIMessageChunk(
        content="", tool_call_chunks=[{"name": "f", "args": "{}", "id": "c1", "index": 0}]
    ),
    ToolMessage("ok", tool_call_id="c1"),
    HumanMessage("x", additional_kwargs={"name": "bob"}),
]

Use = Callable[[ChatOpenAI], Any]


def ask(messages: list[BaseMessage], *, tools: bool = False, **kwargs: Any) -> Use:
    """Make a use of a model: bind, then the messages to invoke it with."""

    def use(model: ChatOpenAI) -> tuple[Any, list[BaseMessage]]:
        if tools:
            return model.bind_tools([TOOL, Weather], **kwargs), messages
        return model.bind(**kwargs), messages

    return use


def structured(method: Any, **kwargs: Any) -> Use:
    return lambda model: (
        model.with_structured_output(Answer, method=method, include_raw=True, **kwargs),
        ROUNDS,
    )


SITUATIONS: dict[str, tuple[Use, dict[str, Any]]] = {
    "plain": (ask(QUESTION), {}),
    "rounds": (ask(ROUNDS), {}),
    "uncommon messages": (ask(UNCOMMON), {}),
    "a string": (lambda model: (model, "hello"), {}),
    "tools": (ask(ROUNDS, tools=True), {}),
    "strict tools, one at a time": (
        ask(ROUNDS, tools=True, strict=True, parallel_tool_calls=False),
        {},
    ),
    "tool choice by name": (ask(ROUNDS, tools=True, tool_choice="calculator"), {}),
    "tool choice any": (ask(ROUNDS, tools=True, tool_choice="any"), {}),
    "stop": (ask(QUESTION, stop=["\nObservation:"]), {}),
    "everything set": (
        ask(ROUNDS, tools=True),
        {
            "temperature": 0.0,
            "max_tokens": 100,
            "seed": 1,
            "top_p": 1.0,
            "n": 1,
            "logprobs": True,
            "top_logprobs": 2,
            "logit_bias": {1: 2},
            "presence_penalty": 0.1,
            "stop_sequences": ["a"],
            "model_kwargs": {"user": "u", "prompt_cache_key": "k"},
            "extra_body": {"min_p": 0.1, "nested": {"a": [1, None]}},
            "service_tier": "flex",
        },
    ),
    "headers of one call": (
        ask(ROUNDS, tools=True, extra_headers={"X-A": "1"}, extra_query={"q": "1"}, timeout=9),
        {},
    ),
    "structured by function": (structured("function_calling"), {}),
    "structured by schema": (structured("json_schema"), {}),
    "structured by json mode": (structured("json_mode"), {}),
    "o-series": (ask(ROUNDS, tools=True), {"model": "o3-mini"}),
    "gpt-5": (ask(ROUNDS, tools=True), {"model": "gpt-5-mini", "reasoning_effort": "low"}),
    "gpt-6 without tools": (ask(ROUNDS), {"model": "gpt-6"}),
    "gpt-6 with tools takes the Responses API": (ask(ROUNDS, tools=True), {"model": "gpt-6"}),
    "Responses API by setting": (ask(ROUNDS), {"use_responses_api": True}),
    "Responses API by a built-in tool": (
        lambda model: (model.bind_tools([{"type": "web_search"}]), QUESTION),
        {},
    ),
}

RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "stub-1",
    "status": "completed",
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": '{"text": "ok"}', "annotations": []}],
        }
    ],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}


def answer(request: Recorded) -> Any:
    if request.path.endswith("/responses"):
        return RESPONSE
    if request.json.get("stream"):
        return stream(delta(role="assistant", content='{"text": "ok"}'), delta("stop"), usage=USAGE)
    return completion('{"text": "ok"}', usage=USAGE)


@functools.cache
def _made(kind: type[ChatOpenAI], base_url: str, situation: str) -> ChatOpenAI:
    settings = {"model": "gpt-4o-mini", **SITUATIONS[situation][1]}
    own: dict[str, Any] = {"capabilities": ALL}
    if kind is ChatOpenAI:  # its async client does not outlive the first test's loop
        own = {"stream_usage": True, "http_async_client": LoopBoundClient()}
    return kind(base_url=base_url, api_key="sk-x", max_retries=0, **settings, **own)


def models(server: StubServer, situation: str = "plain") -> list[ChatOpenAI]:
    return [_made(kind, server.base_url, situation) for kind in (ChatOpenAI, RungsChatOpenAI)]


def shown(request: Recorded) -> tuple[str, dict[str, str], bytes]:
    headers = {k.lower(): v for k, v in request.headers.items()}
    return request.path, headers, request.body


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_request_is_the_stock_clients_byte_for_byte(name: str) -> None:
    use, _ = SITUATIONS[name]
    with serving(answer) as server:
        for model in models(server, name):
            runnable, messages = use(model)
            runnable.invoke(messages)
            runnable.invoke(messages)  # from what was kept of the first
        stock, _, ours, again = [shown(request) for request in server.requests]
    assert ours == stock
    assert again == stock


@pytest.mark.parametrize("name", SITUATIONS)
async def test_an_async_request_is_the_stock_clients_byte_for_byte(name: str) -> None:
    use, _ = SITUATIONS[name]
    with serving(answer) as server:
        for model in models(server, name):
            runnable, messages = use(model)
            await runnable.ainvoke(messages)
        stock, ours = [shown(request) for request in server.requests]
    assert ours == stock


STREAMED = [name for name in SITUATIONS if "Responses" not in name]


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # the stock stream's own
@pytest.mark.parametrize("name", STREAMED)
async def test_a_streamed_request_is_the_stock_clients_byte_for_byte(name: str) -> None:
    use, _ = SITUATIONS[name]
    with serving(answer) as server:
        for model in models(server, name):
            runnable, messages = use(model)
            for _ in runnable.stream(messages):
                pass
            async for _ in runnable.astream(messages):
                pass
        sync, asynchronous, ours, ours_async = [shown(request) for request in server.requests]
    assert ours == sync
    assert ours_async == asynchronous
    assert json.loads(ours[2])["stream_options"] == {"include_usage": True}


def test_calls_that_did_not_parse_are_replayed_with_arguments_that_do() -> None:
    """Case MUL-01: next request contains parseable JSON in every replayed arguments field."""
    broken = AIMessage(
        "",
        tool_calls=[tool_call(name="add", args={"a": 1, "b": 2}, id="a")],
        invalid_tool_calls=[invalid_tool_call(name="add", args="{bad", id="b", error="no JSON")],
    )
    messages = [
        HumanMessage("add"),
        broken,
        ToolMessage("3", tool_call_id="a"),
        ToolMessage("no JSON", tool_call_id="b"),
    ]
    with serving(answer) as server:
        stock, ours = models(server)
        ours.invoke(messages)
        stock.invoke(replayable(messages))
        sent, expected = server.requests
    calls = sent.json["messages"][1]["tool_calls"]
    assert [(c["id"], json.loads(c["function"]["arguments"])) for c in calls] == [
        ("a", {"a": 1, "b": 2}),
        ("b", {}),
    ]
    assert sent.body == expected.body
    assert broken.invalid_tool_calls, "the transcript keeps what was sent"


def test_a_tool_result_is_sent_as_text_whatever_its_content() -> None:
    """Case SRV-05: some servers take no list content in a tool message."""
    blocks: list[str | dict[Any, Any]] = [
        {"type": "text", "text": "one"},
        {"type": "text", "text": " two"},
    ]
    with serving(answer) as server:
        _, ours = models(server)
        ours.invoke([HumanMessage("x"), ToolMessage(blocks, tool_call_id="c1")])
        content = server.requests[0].json["messages"][1]["content"]
    assert content == "one two"


@pytest.mark.parametrize("change", ["content", "arguments", "id", "type"])
def test_a_message_changed_by_its_owner_is_sent_as_it_is_now(change: str) -> None:
    ai = AIMessage("a", tool_calls=[tool_call(name="f", args={"n": 1}, id="c1")])
    result = ToolMessage("r", tool_call_id="c1")
    messages = [HumanMessage("q"), ai, result]
    with serving(answer) as server:
        stock, ours = models(server)
        ours.invoke(messages)
        if change == "content":
            messages[0].content = "other"
        elif change == "arguments":
            ai.tool_calls[0]["args"]["n"] = 2
        elif change == "id":
            result.tool_call_id = ai.tool_calls[0]["id"] = "c9"
        else:
            ai.tool_calls[0]["args"]["n"] = True  # equal to 1, and not the same JSON
        ours.invoke(messages)
        stock.invoke(messages)
        first, second, expected = [request.body for request in server.requests]
    assert second == expected
    assert second != first


def test_a_changed_tool_schema_is_sent_as_it_is_now() -> None:
    tool = json.loads(json.dumps(TOOL))
    with serving(answer) as server:
        _, ours = models(server)
        bound = ours.bind(tools=[tool])
        bound.invoke("q")
        tool["function"]["parameters"]["properties"]["expression"]["default"] = True
        bound.invoke("q")
        tool["function"]["parameters"]["properties"]["expression"]["default"] = 1
        bound.invoke("q")
        sent = [
            r.json["tools"][0]["function"]["parameters"]["properties"]["expression"]["default"]
            for r in server.requests
        ]
    assert sent == ["1", True, 1]
    assert isinstance(sent[2], int)
    assert not isinstance(sent[2], bool)


def test_a_lone_surrogate_in_a_message_does_not_kill_the_thread() -> None:
    """Case ARG-19: every later request of the thread would die of it."""
    with serving(answer) as server:
        _, ours = models(server)
        ours.invoke([HumanMessage("fish \ud83c end")])
        assert server.requests[0].json["messages"][0]["content"] == "fish \ufffd end"


def test_the_bytes_kept_of_messages_are_bounded() -> None:
    encoded = Encoded(max_bytes=1000)
    for number in range(100):
        encoded.join([HumanMessage(f"{number:0100}")], lambda m: {"content": m.content}, "m")
    assert 0 < len(encoded) <= 1000 // 100
    joined = encoded.join([HumanMessage("x" * 999)], lambda m: {"content": m.content}, "m")
    assert joined == encode({"content": "x" * 999})


def test_parameters_that_are_no_plain_data_have_no_key() -> None:
    assert parameters_key({"response_format": object()}) is None
    assert parameters_key({"a": 1}) != parameters_key({"a": True}) != parameters_key({"a": 1.0})


def test_a_body_that_repeats_the_mark_is_left_to_the_stock_path() -> None:
    from graphs.models.wire import MARK

    mark = json.dumps(MARK).encode()
    assert split_at_the_mark(b'{"messages":[{"content":' + mark + b'}],"user":' + mark) is None
    assert split_at_the_mark(b'{"messages":[{"content":"x"}]}') is None
    assert split_at_the_mark(b'{"messages":[{"content":' + mark + b'}],"n":1}') == (
        b'{"messages":[',
        b'],"n":1}',
    )


def test_tool_calls_of_another_provider_in_the_history_are_sent_as_the_stock_client_does() -> None:
    foreign = AIMessage(
        [
            {"type": "text", "text": "see"},
            {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
        ],
        tool_calls=[tool_call(name="f", args={"a": 1}, id="c1")],
    )
    raw = AIMessage("", additional_kwargs={"tool_calls": [{**call("f", "{}"), "index": 0}]})
    with serving(answer) as server:
        for model in models(server):
            model.invoke([HumanMessage("q"), foreign, ToolMessage("r", tool_call_id="c1"), raw])
        stock, ours = [request.body for request in server.requests]
    assert ours == stock
