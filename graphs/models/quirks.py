"""What servers do to a reply, put right in one place."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Collection, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    InvalidToolCall,
    ToolCall,
    message_chunk_to_message,
)
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import invalid_tool_call, tool_call

from graphs.models.raw_calls import (
    LOOSE,
    RawCall,
    RawCalls,
    are_loose,
    from_openai,
    parse_calls,
)
from graphs.models.reply_text import (
    answer_text,
    clean_data,
    clean_text,
    finish_reason,
    is_written_tool_call,
    storable_data,
)
from tools.arguments import ArgumentsError, clean
from tools.redact import redact

__all__ = [
    "LOOSE",
    "RawCalls",
    "answer_text",
    "clean_data",
    "clean_text",
    "finish_reason",
    "is_written_tool_call",
    "known_call_ids",
    "normalize_reply",
]

CUT_OFF = "the reply was cut off at its token limit, so this call may be incomplete; make it again"
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_CALL_BLOCKS = ("tool_use", "tool_call", "function_call")


def known_call_ids(messages: Sequence[BaseMessage]) -> set[str]:
    """Collect every call id of a thread, for `normalize_reply`."""
    return {
        call["id"]
        for message in messages
        if isinstance(message, AIMessage)
        for call in (*message.tool_calls, *message.invalid_tool_calls)
        if call["id"]
    }


def normalize_reply(
    message: AIMessage, known_ids: Collection[str] = (), raw: RawCalls | None = None
) -> AIMessage:
    """Return the reply as the graph keeps it.

    * `tool_calls` holds only calls whose raw arguments parse strictly, where the raw text is known
      (streamed pieces in `raw`, or kept by the provider); the others are in `invalid_tool_calls`,
      with name, raw arguments and a sentence that says where they broke.
    * Call ids are there, no secrets, and unique in the reply and among `known_ids` (those of the
      thread).
    * The last call of a reply that was cut off (`finish_reason` length) is invalid.
    * Arguments that a client parsed itself are held to the same rules as raw ones.
    * No text holds NUL or a lone surrogate, and an integer beyond 64 bits is text. Usage that
      counts nothing, or beyond 64 bits, is unknown (None).
    * Content, metadata and message id stay; an untouched reply is returned as it came.
    """
    if isinstance(message, AIMessageChunk):
        plain = message_chunk_to_message(message)
        assert isinstance(plain, AIMessage)  # noqa: S101 - what the conversion of such a chunk is
        message = plain
    changes: dict[str, Any] = {}
    raw_calls = raw.calls() if raw else []
    if kept := message.additional_kwargs.get("tool_calls"):
        raw_calls = raw_calls or from_openai(kept)
        rest = {k: v for k, v in message.additional_kwargs.items() if k != "tool_calls"}
        changes["additional_kwargs"] = rest
    if are_loose(raw_calls):
        kept_words = changes.get("additional_kwargs", message.additional_kwargs)
        changes["additional_kwargs"] = {**kept_words, LOOSE: True}
    if raw_calls or message.tool_calls or message.invalid_tool_calls:
        good, bad = _calls(message, raw_calls)
        if finish_reason(message) == "length":
            _reject_the_last(good, bad, raw_calls)
        content = _give_ids(message.content, good, bad, known_ids)
        if content is not message.content:
            changes["content"] = content
        if good != message.tool_calls:
            changes["tool_calls"] = good
        if bad != message.invalid_tool_calls:
            changes["invalid_tool_calls"] = bad
    for field in ("content", "additional_kwargs", "response_metadata"):
        value = changes.get(field, getattr(message, field))
        if (cleaned := storable_data(value)) is not value:
            changes[field] = cleaned
    if (usage := message.usage_metadata) and not _is_usage(usage):
        changes["usage_metadata"] = None
    changed = {key: value for key, value in changes.items() if getattr(message, key) != value}
    return message.model_copy(update=changed) if changed else message


def _is_usage(usage: UsageMetadata) -> bool:
    counts = usage.get("input_tokens") or 0, usage.get("output_tokens") or 0
    return any(counts) and min(counts) >= 0 and storable_data(usage) is usage


def _calls(
    message: AIMessage, raw_calls: list[RawCall]
) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    if raw_calls:
        good, bad = parse_calls(raw_calls)
    else:
        broken = [
            RawCall(c["id"], c["name"] or "", c["args"] or "") for c in message.invalid_tool_calls
        ]
        recovered, bad = parse_calls(broken)
        parsed, refused = _checked(message.tool_calls)
        good, bad = [*parsed, *recovered], [*refused, *bad]
    good = [tool_call(name=clean_text(c["name"]), args=c["args"], id=c["id"]) for c in good]
    bad = [
        invalid_tool_call(
            name=clean_text(c["name"] or ""),
            args=clean_text(c["args"] or ""),
            id=c["id"],
            error=c["error"],
        )
        for c in bad
    ]
    return good, bad


def _checked(calls: Sequence[ToolCall]) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """Clean arguments that came parsed; those that can't be stored make their call invalid."""
    good: list[ToolCall] = []
    bad: list[InvalidToolCall] = []
    for call in calls:
        try:
            good.append(tool_call(name=call["name"], args=clean(call["args"]), id=call["id"]))
        except ArgumentsError as error:
            bad.append(
                invalid_tool_call(
                    name=call["name"],
                    args=_written(call["args"]),
                    id=call["id"],
                    error=str(error),
                )
            )
    return good, bad


def _written(arguments: Any) -> str:
    try:
        return json.dumps(arguments, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        return ""


def _reject_the_last(
    good: list[ToolCall], bad: list[InvalidToolCall], raw_calls: list[RawCall]
) -> None:
    # A broken call is the one that was cut; a good one in front of it is complete.
    if not good or (bad and not raw_calls):
        return
    last = good[-1]
    if raw_calls and (raw_calls[-1].id, raw_calls[-1].name) != (last["id"], last["name"]):
        return
    arguments = json.dumps(last["args"], ensure_ascii=False)
    bad.append(invalid_tool_call(name=last["name"], args=arguments, id=last["id"], error=CUT_OFF))
    good.pop()


def _give_ids(
    content: Any, good: list[ToolCall], bad: list[InvalidToolCall], known: Collection[str]
) -> Any:
    """Replace missing, repeated and secret ids in place; return content whose blocks follow."""
    renamed: list[tuple[Any, str]] = []
    used: set[str] = set()
    for call in (*good, *bad):
        old = call["id"]
        new = isinstance(old, str) and bool(old.strip()) and old not in used and old not in known
        if not (new and _may_stay(str(old))):
            call["id"] = f"call_{uuid.uuid4().hex[:24]}"
        renamed.append((old, str(call["id"])))
        used.add(str(call["id"]))
    if not isinstance(content, list) or all(old == new for old, new in renamed):
        return content
    blocks = []
    for block in content:
        if isinstance(block, dict) and block.get("type") in _CALL_BLOCKS:
            key = "call_id" if "call_id" in block else "id"
            match = next((pair for pair in renamed if pair[0] == block.get(key)), None)
            if match is not None:
                renamed.remove(match)
                block = {**block, key: match[1]}  # noqa: PLW2901 - the copy takes its place
        blocks.append(block)
    return blocks


def _may_stay(call_id: str) -> bool:
    return clean_text(call_id) == call_id and redact(call_id) == call_id
