"""Request bytes of the Chat Completions API, identical to the stock client's, made from parts.

The stock client converts, walks and encodes every message of every request again, which grows with
the square of a conversation. Here the stock pipeline runs once for each set of parameters, around a
mark, and once for each message; a request is then those bytes, joined.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from graphs.models.reply_text import clean_data

MARK = "\x00messages\x00"
_SPECIAL = frozenset({"name", "tool_calls", "function_call", "audio"})
_MAX_BYTES = 16_000_000
_MAX_TEMPLATES = 64

Convert = Callable[[BaseMessage], dict[str, Any]]
"""A message as the stock client's dict."""

Template = tuple[bytes, bytes]
"""What stands before and behind the messages."""


def encode(value: Any) -> bytes:
    """Encode as the `openai` client does; a lone surrogate, which no server takes, is replaced."""
    try:
        return _dumps(value).encode()
    except UnicodeEncodeError:
        return _dumps(clean_data(value)).encode()


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def parameters_key(*parameters: Any) -> bytes | None:
    """Make a key that tells `1`, `1.0` and `True` apart; None for what is not plain data."""
    try:
        return marshal.dumps(parameters, 0)
    except ValueError:
        return None


def split_at_the_mark(body: bytes) -> Template | None:
    """Cut a captured body around its only message; None when the mark is not found just once."""
    mark = json.dumps(MARK).encode()
    head, found, tail = body.partition(mark)
    opening, closing = head.rfind(b"["), tail.find(b"]")
    if not found or mark in tail or opening < 0 or closing < 0:
        return None
    return head[: opening + 1], tail[closing:]


def _key(message: BaseMessage) -> tuple[Any, ...] | None:
    """Return all that a message's bytes depend on; None for a message of an uncommon kind.

    The key is the content itself, not the object, so that no mutation can make it stale. A text's
    hash is kept by the text, so that a long one costs nothing again.
    """
    kind = type(message)
    content = message.content
    extra = message.additional_kwargs
    key: tuple[Any, ...] | None = None
    if type(content) is not str or (extra and not _SPECIAL.isdisjoint(extra)):
        pass
    elif kind is ToolMessage:
        key = (ToolMessage, content, message.tool_call_id)  # type: ignore[attr-defined]
    elif kind is AIMessage:
        good, bad = message.tool_calls, message.invalid_tool_calls  # type: ignore[attr-defined]
        calls = parameters_key(good, bad) if good or bad else b""
        key = None if calls is None else (AIMessage, content, message.name, calls)
    elif kind is HumanMessage:
        key = (HumanMessage, content, message.name)
    elif kind is SystemMessage:
        key = (SystemMessage, content, message.name, extra.get("__openai_role__"))
    return key


class Encoded:
    """The JSON bytes of messages already sent, by their content, bounded in bytes."""

    def __init__(self, max_bytes: int = _MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._size = 0
        self._bytes: dict[Any, bytes] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._bytes)

    def join(self, messages: Sequence[BaseMessage], convert: Convert, namespace: str) -> bytes:
        """Return the messages as JSON, separated by commas; `namespace` is part of every key."""
        known = self._bytes
        parts = []
        for message in messages:
            key = _key(message)
            if key is None:
                parts.append(encode(convert(message)))
                continue
            key = (namespace, key)
            part = known.get(key)
            if part is None:
                part = self._keep(key, encode(convert(message)))
            parts.append(part)
        return b",".join(parts)

    def _keep(self, key: Any, part: bytes) -> bytes:
        if 2 * len(part) <= self._max_bytes:
            with self._lock:
                if key not in self._bytes:
                    self._bytes[key] = part
                    self._size += len(part)
                while self._size > self._max_bytes:
                    self._size -= len(self._bytes.pop(next(iter(self._bytes))))
        return part


class Templates:
    """The bytes around the messages, by parameters."""

    def __init__(self) -> None:
        self._known: dict[bytes, Template | None] = {}
        self._lock = Lock()

    def get(self, key: bytes, make: Callable[[], Template | None]) -> Template | None:
        """Return the template of these parameters; None when they need the stock path."""
        if key not in self._known:
            template = make()
            with self._lock:
                if len(self._known) >= _MAX_TEMPLATES:
                    self._known.clear()
                self._known[key] = template
            return template
        return self._known.get(key)


def moved_aside(payload: dict[str, Any]) -> dict[str, Any]:
    """Hand messages and tools of a request over in `extra_body`, which the client does not walk.

    An empty list keeps each one's place in the body. With a `response_format`, the client parses
    the reply by the tools, so they stay.
    """
    extra = payload.get("extra_body") or {}
    if "messages" not in payload or "messages" in extra or "tools" in extra:
        return payload
    moved = {"messages": payload["messages"]}
    if "tools" in payload and "response_format" not in payload:
        moved["tools"] = payload["tools"]
    return {**payload, **{key: [] for key in moved}, "extra_body": {**extra, **moved}}


class _Seen(Exception):  # noqa: N818 - it carries the request out, it is no error
    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.body = body


class _Tap:
    """A transport that takes the request and sends nothing."""

    def handle_request(self, request: Any) -> Any:
        raise _Seen(request.read())

    def close(self) -> None:
        """Hold nothing open."""


def stock_body(payload: Mapping[str, Any]) -> bytes:
    """Return the body that the `openai` client makes of the arguments of `create`."""
    import openai

    http = openai.DefaultHttpxClient(transport=_Tap())  # type: ignore[arg-type] # all it calls
    with openai.OpenAI(
        api_key="none", base_url="http://127.0.0.1", http_client=http, max_retries=0
    ) as client:
        try:
            client.chat.completions.create(**payload)
        except _Seen as seen:
            return seen.body
    raise RuntimeError("the openai client sent nothing")
