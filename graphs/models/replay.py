"""What servers refuse of a transcript in a request, put right in one place."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import tool_call

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def replayable(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages as any server takes them back; an unremarkable one is the same object.

    * A call that did not parse is replayed with the arguments `{}`: servers refuse broken JSON, and
      its tool result says what was wrong with it.
    * A call's name is one that the protocol allows.
    * A tool result is text.
    """
    return [_replayable(message) for message in messages]


def _replayable(message: BaseMessage) -> BaseMessage:
    if isinstance(message, ToolMessage):
        return message if isinstance(message.content, str) else _as_text(message)
    if isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls):
        good = message.tool_calls
        if message.invalid_tool_calls or any(_NOT_IN_A_NAME.search(c["name"]) for c in good):
            calls: list[Any] = [*good, *({**c, "args": {}} for c in message.invalid_tool_calls)]
            named = [tool_call(name=_name(c["name"]), args=c["args"], id=c["id"]) for c in calls]
            return message.model_copy(update={"tool_calls": named, "invalid_tool_calls": []})
    return message


def _name(name: str | None) -> str:
    return _NOT_IN_A_NAME.sub("_", name or "")[:64] or "unknown"


def _as_text(message: ToolMessage) -> ToolMessage:
    text = str(message.text) or json.dumps(message.content, ensure_ascii=False, default=str)
    return message.model_copy(update={"content": text})
