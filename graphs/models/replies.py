"""Scripted replies, turned into the messages and the streamed chunks a provider's client makes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import ToolCallChunk, tool_call_chunk

from graphs.models.raw_calls import LOOSE, RawCall, are_loose, assemble, parse_calls

_WORDS = re.compile(r"\s*\S+\s*\Z|\s*\S+")


@dataclass(frozen=True, slots=True)
class Request:
    """What the model was sent in one call."""

    messages: list[BaseMessage]
    tool_schemas: list[dict[str, Any]]
    tool_choice: Any = None
    stop: list[str] | None = None
    response_format: Any = None

    @property
    def tools(self) -> list[str]:
        """Return the names of the tools that were sent."""
        return [schema["function"]["name"] for schema in self.tool_schemas]


def message_of(reply: Any) -> AIMessage:
    """Return the message of a reply that came whole."""
    if isinstance(reply, AIMessage):
        return reply.model_copy()
    reply = _mapping(reply)
    if pieces := reply.get("stream_chunks"):
        calls = assemble(call for piece in pieces for call in _piece_calls(piece))
        text = "".join(piece.get("text") or "" for piece in pieces)
        ends = [piece["finish"] for piece in pieces if piece.get("finish")]
        reply = {"finish": ends[-1] if ends else None, **reply, "text": text}
    else:
        calls = [
            RawCall(call.get("id"), call.get("name") or "", _raw(call))
            for call in reply.get("tool_calls") or ()
        ]
    good, bad = parse_calls(calls)
    return AIMessage(
        content=reply.get("text") or "",
        additional_kwargs={LOOSE: True} if are_loose(calls) else {},
        tool_calls=good,
        invalid_tool_calls=bad,
        usage_metadata=_usage(reply.get("usage")),
        response_metadata=_metadata(reply, has_calls=bool(calls)),
    )


def chunks_of(reply: Any) -> list[AIMessageChunk]:
    """Return the same reply in pieces: the text by words, each call's raw arguments in two."""
    if isinstance(reply, AIMessage):
        reply = {
            "text": reply.content,
            "tool_calls": [
                *reply.tool_calls,
                *({**call, "args_raw": call["args"]} for call in reply.invalid_tool_calls),
            ],
            "usage": reply.usage_metadata,
            "metadata": reply.response_metadata,
            "additional_kwargs": reply.additional_kwargs,
        }
    reply = _mapping(reply)
    if "stream_chunks" in reply:
        pieces = list(reply["stream_chunks"])
    else:
        pieces = [*_text_pieces(reply.get("text") or ""), *_call_pieces(reply)]
    chunks = [
        AIMessageChunk(
            content=piece.get("text") or "",
            tool_call_chunks=_piece_calls(piece),
            response_metadata={"finish_reason": piece["finish"]} if piece.get("finish") else {},
        )
        for piece in pieces
    ]
    metadata: dict[str, Any] = {}
    if not any("finish_reason" in chunk.response_metadata for chunk in chunks):
        metadata = _metadata(reply, has_calls=any(chunk.tool_call_chunks for chunk in chunks))
    usage = _usage(reply.get("usage"))
    last = AIMessageChunk(
        content="",
        usage_metadata=usage,
        response_metadata=metadata,
        additional_kwargs=reply.get("additional_kwargs") or {},
    )
    return [*chunks, last]


def _mapping(reply: Any) -> Mapping[str, Any]:
    if isinstance(reply, str):
        return {"text": reply}
    if isinstance(reply, Mapping):
        return reply
    raise TypeError(f"a scripted reply can't be a {type(reply).__name__}")


def _raw(call: Mapping[str, Any]) -> str:
    if "args_raw" in call:
        return str(call["args_raw"] or "")
    return json.dumps(call.get("args") or {}, ensure_ascii=False)


def _text_pieces(text: Any) -> list[dict[str, Any]]:
    if not isinstance(text, str):  # blocks go as they are
        return [{"text": text}]
    return [{"text": word} for word in _WORDS.findall(text)] if text.strip() else [{"text": text}]


def _call_pieces(reply: Mapping[str, Any]) -> list[dict[str, Any]]:
    pieces = []
    for index, call in enumerate(reply.get("tool_calls") or ()):
        raw = _raw(call)
        half = len(raw) // 2
        first = {"index": index, "id": call.get("id"), "name": call.get("name")}
        pieces.append({"tool_calls": [{**first, "args": raw[:half]}]})
        pieces.append({"tool_calls": [{"index": index, "args": raw[half:]}]})
    return pieces


def _piece_calls(piece: Mapping[str, Any]) -> list[ToolCallChunk]:
    return [
        tool_call_chunk(
            name=call.get("name"),
            args=call.get("args"),
            id=call.get("id"),
            index=call.get("index"),
        )
        for call in piece.get("tool_calls") or ()
    ]


def _metadata(reply: Mapping[str, Any], *, has_calls: bool) -> dict[str, Any]:
    finish = reply.get("finish") or ("tool_calls" if has_calls else "stop")
    return {"model_name": "scripted", "finish_reason": finish, **(reply.get("metadata") or {})}


def _usage(usage: Any) -> UsageMetadata | None:
    if not usage:
        return None
    taken, given = usage.get("input_tokens", 0), usage.get("output_tokens", 0)
    return UsageMetadata(input_tokens=taken, output_tokens=given, total_tokens=taken + given)
