"""The failing situations of kind stream-log: what is streamed and logged, token by token."""

import asyncio
import dataclasses
import json
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.graph.state import CompiledStateGraph
from pydantic import PrivateAttr

from graphs.context import Context
from graphs.model_source import ModelSource
from graphs.models import ModelReplyError, ScriptedModel
from graphs.models.guard import GuardedModel
from tests.support import ALL_MODES, Mode, compiled, run
from tools import contract
from tools.redaction_policy import RedactionPolicy

Graph = CompiledStateGraph[Any, Any, Any, Any]
ASKED: Any = {"messages": [("user", "Tell me.")]}
STREAMS: tuple[Any, ...] = ("messages", "updates", "values", "custom", "debug", "tasks")
POLICY = RedactionPolicy(
    patterns=(("ssn", r"\b\d{3}-\d{2}-\d{4}\b"), ("domain", r"\bacme\.example\b"))
)


def look_up(name: str) -> str:
    """Look a customer up."""
    return f"{name} is known"


def graph_of(model: BaseChatModel, name: str = "tools_in_context") -> Graph:
    tool = dataclasses.replace(contract(look_up, effect="read_only"), redaction=POLICY)
    return compiled(model, [tool], name)


def streamed(graph: Graph, mode: str, stream_mode: Any, **config: Any) -> list[Any]:
    if mode == "stream":
        return list(graph.stream(ASKED, config or None, stream_mode=stream_mode))  # type: ignore[arg-type]

    async def all_parts() -> list[Any]:
        parts = graph.astream(ASKED, config or None, stream_mode=stream_mode)  # type: ignore[arg-type]
        return [part async for part in parts]

    return asyncio.run(all_parts())


def events(graph: Graph) -> list[Any]:
    async def all_events() -> list[Any]:
        return [event async for event in graph.astream_events(ASKED, version="v2")]

    return asyncio.run(all_events())


def texts(parts: list[Any]) -> list[str]:
    """Return the pieces of text, in order, of what `stream_mode="messages"` yields."""
    return [str(message.text) for message, _ in parts if isinstance(message, AIMessageChunk)]


class Hearing(BaseCallbackHandler):
    """Hears every token, as a caller's own handler does."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.ended: list[str] = []

    def on_llm_new_token(self, token: Any, **_: Any) -> None:
        self.tokens.append(str(token))

    def on_llm_end(self, response: Any, **_: Any) -> None:
        self.ended.append(repr(response))


def chunks(*pieces: str) -> dict[str, Any]:
    return {"stream_chunks": [{"text": piece} for piece in pieces]}


@pytest.mark.parametrize("mode", ["stream", "astream"])
@pytest.mark.parametrize("stream_mode", STREAMS)
def test_str_01_raw_tokens_reach_no_stream(mode: str, stream_mode: Any) -> None:
    reply = chunks("key is ", "sk-li", "ve-9", "9 end")
    parts = streamed(graph_of(ScriptedModel(replies=[reply])), mode, stream_mode)
    assert "sk-li" not in repr(parts)
    assert "ve-9" not in repr(parts)
    if stream_mode == "messages":
        assert "".join(texts(parts)) == "key is [redacted] end"
        assert len([text for text in texts(parts) if text]) > 1
    if stream_mode == "values":
        assert parts[-1]["answer"] == "key is [redacted] end"


def test_str_01_raw_tokens_reach_no_event() -> None:
    reply = chunks("key is ", "sk-li", "ve-9", "9 end")
    happened = events(graph_of(ScriptedModel(replies=[reply])))
    assert "sk-li" not in repr(happened)
    told = [e["data"]["chunk"].text for e in happened if e["event"] == "on_chat_model_stream"]
    assert "".join(told) == "key is [redacted] end"
    (end,) = [e for e in happened if e["event"] == "on_chat_model_end"]
    assert "key is [redacted] end" in repr(end["data"]["output"])


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
async def test_str_01_raw_tokens_reach_no_event_of_the_newest_protocol() -> None:
    graph = graph_of(ScriptedModel(replies=[chunks("key is ", "sk-li", "ve-9", "9 end")]))
    stream: Any = await graph.astream_events(ASKED, version="v3")
    happened = repr([event async for event in stream])
    assert "sk-li" not in happened
    assert "key is [redacted] end" in happened


@pytest.mark.parametrize("mode", ALL_MODES)
def test_str_01_a_callers_handler_hears_no_raw_token(mode: Mode) -> None:
    hearing = Hearing()
    model = ScriptedModel(replies=[chunks("key is ", "sk-li", "ve-9", "9 end")])
    ended = run(mode, graph_of(model), "Tell me.", config={"callbacks": [hearing]})
    assert ended["answer"] == "key is [redacted] end"
    assert "sk-li" not in repr((hearing.tokens, hearing.ended))
    assert "key is [redacted] end" in hearing.ended[0]


@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_str_03_no_prefix_of_a_match_is_emitted_and_overlaps_are_one(mode: str) -> None:
    reply = chunks("SSN 123-45-", "6789 mail bob@", "acme.example now")
    parts = streamed(graph_of(ScriptedModel(replies=[reply])), mode, "messages")
    told = "SSN [redacted] mail [redacted] now"
    assert "".join(texts(parts)) == told
    gone = ""
    for text in texts(parts):
        gone += text
        assert told.startswith(gone)


@pytest.mark.parametrize("mode", ALL_MODES)
def test_str_03_a_callers_handler_hears_no_prefix_of_a_match(mode: Mode) -> None:
    hearing = Hearing()
    model = ScriptedModel(replies=[chunks("SSN 123-45-", "6789 mail bob@", "acme.example now")])
    ended = run(mode, graph_of(model), "Tell me.", config={"callbacks": [hearing]})
    told = "SSN [redacted] mail [redacted] now"
    assert ended["answer"] == told
    assert told.startswith("".join(hearing.tokens))
    assert "123-45" not in repr((hearing.tokens, hearing.ended))
    assert "bob@" not in repr((hearing.tokens, hearing.ended))


@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_str_03_clean_text_is_streamed_as_it_came(mode: str) -> None:
    pieces = ["The ", "order ", "of 2026-01-02 ", "came to $250", ".\n\n", "Thanks: ", "done", "!"]
    parts = streamed(graph_of(ScriptedModel(replies=[chunks(*pieces)])), mode, "messages")
    assert "".join(texts(parts)) == "".join(pieces)
    assert texts(parts)[:3] == ["The ", "order ", "of 2026-01-02 "]


@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_arguments_are_streamed_whole_and_redacted(mode: str) -> None:
    raw = json.dumps({"name": "use sk-live-99 here"})
    calls = [
        {"tool_calls": [{"index": 0, "id": "c1", "name": "look_up", "args": raw[:18]}]},
        {"tool_calls": [{"index": 0, "args": raw[18:24]}]},
        {"tool_calls": [{"index": 0, "args": raw[24:]}]},
    ]
    model = ScriptedModel(replies=[{"stream_chunks": calls}, "done"])
    parts = streamed(graph_of(model), mode, ["messages", "values"])
    assert "sk-li" not in repr(parts)
    told = [part[0] for kind, part in parts if kind == "messages"]
    pieces = [c for m in told if isinstance(m, AIMessageChunk) for c in m.tool_call_chunks]
    assert pieces[0]["name"] == "look_up"
    assert json.loads("".join(piece["args"] or "" for piece in pieces)) == {
        "name": "use [redacted] here"
    }
    final = [part for kind, part in parts if kind == "values"][-1]
    (result,) = [m for m in final["messages"] if isinstance(m, ToolMessage)]
    assert result.text == "use [redacted] here is known"


@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_blocks_and_reasoning_are_redacted_too(mode: str) -> None:
    def piece(content: Any, **extra: Any) -> AIMessageChunk:
        return AIMessageChunk(content=content, additional_kwargs=extra)

    model = Pieces(
        pieces=[
            piece([{"type": "thinking", "thinking": "use sk-li", "index": 0}]),
            piece([{"type": "thinking", "thinking": "ve-99 now", "index": 0}]),
            piece([{"type": "text", "text": "it is sk-", "index": 1}], reasoning_content="sk-"),
            piece([{"type": "text", "text": "live-99 ok", "index": 1}], reasoning_content="live-9"),
        ]
    )
    parts = streamed(graph_of(model), mode, ["messages", "values"])
    assert "sk-" not in repr(parts)
    told = [part[0] for kind, part in parts if kind == "messages"]
    assert "".join(str(m.text) for m in told) == "it is [redacted] ok"
    final = [part for kind, part in parts if kind == "values"][-1]
    assert final["answer"] == "it is [redacted] ok"
    assert final["messages"][-1].additional_kwargs["reasoning_content"] == "[redacted]"


# STR-05, one test a channel, is tests/test_redaction_channels.py.


@pytest.mark.parametrize("mode", ALL_MODES)
def test_str_07_missing_usage_is_unknown_and_never_zero(mode: Mode) -> None:
    call = {"tool_calls": [{"id": "c1", "name": "look_up", "args": {"name": "a"}}]}
    known = {"text": "done", "usage": {"input_tokens": 5, "output_tokens": 2}}
    ended = run(mode, graph_of(ScriptedModel(replies=[call, known])), "Tell me.")
    assert ended["usage"]["input_tokens"] is None
    assert ended["usage"]["output_tokens"] is None
    assert ended["usage"]["model_calls"] == 2
    ended = run(mode, graph_of(ScriptedModel(replies=[known])), "Tell me.")
    assert ended["usage"]["input_tokens"] == 5


@pytest.mark.parametrize("name", ["tools_in_context", "tool_calling", "react_transcript"])
@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_str_09_the_final_text_is_delivered_once(mode: str, name: str) -> None:
    said = "Final Answer: all is well" if name.startswith("react") else "all is well"
    parts = streamed(graph_of(ScriptedModel(replies=[said]), name), mode, ["messages", "values"])
    told = [part[0] for kind, part in parts if kind == "messages"]
    assert "".join(str(m.text) for m in told) == said
    final = [part for kind, part in parts if kind == "values"][-1]
    assert final["answer"] == "all is well"
    assert {m.id for m in told} == {final["messages"][-1].id}
    assert all(isinstance(m, AIMessageChunk) for m in told)


@pytest.mark.parametrize("mode", ALL_MODES)
def test_str_09_a_callers_handler_and_the_transcript_have_the_final_text_once(mode: Mode) -> None:
    hearing = Hearing()
    model = ScriptedModel(replies=[chunks("all ", "is ", "well")])
    ended = run(mode, graph_of(model), "Tell me.", config={"callbacks": [hearing]})
    assert [m.text for m in ended["messages"] if m.type == "ai"] == ["all is well"]
    assert "".join(hearing.tokens) in {"", "all is well"}
    assert len(hearing.ended) == 1


class Raising(BaseCallbackHandler):
    """A logger that is broken."""

    def on_llm_new_token(self, token: Any, **_: Any) -> None:
        raise ValueError("the logger is broken")

    def on_tool_start(self, *_: Any, **__: Any) -> None:
        raise ValueError("the logger is broken")


@pytest.mark.parametrize("mode", ALL_MODES)
def test_str_11_a_handler_that_raises_is_logged_and_changes_nothing(
    mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    call = {"tool_calls": [{"id": "c1", "name": "look_up", "args": {"name": "a"}}]}
    model = Pieces(
        pieces=[AIMessageChunk(content="all "), AIMessageChunk(content="is well")], streaming=True
    )
    with caplog.at_level(logging.WARNING):
        ended = run(mode, graph_of(model), "Tell me.", config={"callbacks": [Raising()]})
        tooled = ScriptedModel(replies=[call, "done"])
        other = run(mode, graph_of(tooled), "Tell me.", config={"callbacks": [Raising()]})
    assert ended["answer"] == "all is well"
    assert ended["status"] == "answered"
    assert other["answer"] == "done"
    assert "the logger is broken" in caplog.text


class Pieces(BaseChatModel):
    """Streams pieces, and breaks off with an error where one is among them."""

    pieces: list[Any]
    streaming: bool = False
    _calls: int = PrivateAttr(default=0)

    @property
    def _llm_type(self) -> str:
        return "pieces"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=list(tools), **kwargs)

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        whole: Any = None
        for chunk in self._stream(messages):
            whole = chunk if whole is None else whole + chunk
        message = AIMessage(
            content=whole.message.content, additional_kwargs=whole.message.additional_kwargs
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> Iterator[ChatGenerationChunk]:
        self._calls += 1
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield ChatGenerationChunk(message=piece.model_copy())

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages):
            yield chunk


@pytest.mark.parametrize("mode", ["stream", "astream"])
@pytest.mark.parametrize(
    "error", [ModelReplyError("the stream ended early"), RuntimeError("it broke: sk-live-99")]
)
def test_str_11_an_error_amid_a_stream_is_no_normal_end(
    mode: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphs.models.retry._wait", lambda _: 0.0)
    model = Pieces(pieces=[AIMessageChunk(content="The answer is "), error])
    parts = streamed(graph_of(model), mode, ["messages", "values"])
    final = [part for kind, part in parts if kind == "values"][-1]
    assert final["status"] == "no_answer"
    assert final["answer"] is None
    assert "the model failed" in final["stop_reason"]
    assert "sk-live" not in repr(parts)
    told = [part[0] for kind, part in parts if kind == "messages"]
    attempts = 3 if isinstance(error, ModelReplyError) else 1
    assert len({message.id for message in told}) == attempts


@pytest.mark.parametrize("mode", ALL_MODES)
def test_str_11_an_error_of_the_model_is_no_normal_end(mode: Mode) -> None:
    model = Pieces(pieces=[AIMessageChunk(content="It is "), RuntimeError("broke: sk-live-99")])
    ended = run(mode, graph_of(model), "Tell me.")
    assert (ended["status"], ended["answer"]) == ("no_answer", None)
    assert "the model failed" in ended["stop_reason"]
    assert "sk-live" not in repr(ended)


def test_a_guarded_model_is_told_apart_by_nothing_but_its_redaction() -> None:
    inner = ScriptedModel(replies=["a"], tags=["mine"], metadata={"k": "v"})
    guarded = GuardedModel.of(inner)
    assert guarded.get_name() == inner.get_name()
    assert guarded._llm_type == "scripted"
    assert guarded.tags == ["mine"]
    assert guarded._get_ls_params() == inner._get_ls_params()


@pytest.mark.parametrize(
    "name",
    ["tools_in_context", "tool_calling", "one_call", "full_agent", "react_transcript"],
)
def test_a_variant_streams_nothing_raw_whatever_its_reply_comes_to(name: str) -> None:
    said = "Final Answer: it is sk-live-99" if name.startswith("react") else "it is sk-live-99"
    parts = streamed(
        graph_of(ScriptedModel(replies=[said] * 6), name), "stream", ["messages", "values"]
    )
    assert "it is [redacted]" in repr(parts)
    assert "sk-live" not in repr(parts)


def test_a_model_that_the_context_names_is_made_ready_once() -> None:
    source, context = ModelSource(None, []), Context(model="offline")
    assert not source.is_ready(context)
    source.prepare(context).sync()
    assert source.is_ready(context)
    assert isinstance(source.guarded(context, ()), GuardedModel)
