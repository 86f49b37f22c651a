"""The pieces of a streamed reply, redacted: what text there is comes late, and clean."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import ToolCallChunk, tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from graphs.models.raw_calls import RawCalls, TextCut
from tools.held_back import HeldBack
from tools.redact import Found, redact, redact_data

_NO_TEXT = frozenset({"type", "id", "index", "name", "signature", "encrypted_content", "format"})
"""What of a block names it, and is the same in each of its pieces."""

_NAMES = frozenset({"id", "name"})
"""What of these a model made up, so that a secret may be in it."""

Message = TypeVar("Message", bound=BaseMessage)
Key = tuple[Any, ...]


class CleanChunks:
    """Makes clean pieces of those of one reply.

    Args:
        ear: Is handed the calls as they came, and what was caught.
    """

    def __init__(self, ear: RawCalls) -> None:
        self._ear = ear
        ear.begin()
        self._cut = ear.cut() if ear.cut else None
        self._cut_in: Key = ("text",)
        self._texts: dict[Key, HeldBack] = {}
        self._blocks: dict[Key, dict[str, Any]] = {}
        self._done = False

    @property
    def ended(self) -> bool:
        """Whether nothing counts that may still come."""
        return self._cut is not None and self._cut.ended and not self._done

    def take(self, chunk: ChatGenerationChunk) -> Iterator[ChatGenerationChunk]:
        """Take a piece as it came, and yield what can be told by now."""
        message = chunk.message
        if not isinstance(message, AIMessageChunk):
            yield chunk
            return
        self._ear.take(message)
        content: Any = message.content
        if isinstance(content, str):
            self._ear.said.append(content)
            content = self._said(("text",), content)
        else:
            content = [self._block(block) for block in content]
        extra = {
            key: self._push(("extra", key), value) if isinstance(value, str) else redact_data(value)
            for key, value in message.additional_kwargs.items()
            if key != "tool_calls"
        }
        told = redact_data({k: v for k, v in message.response_metadata.items() if k != "logprobs"})
        info = {k: v for k, v in (chunk.generation_info or {}).items() if k != "logprobs"}
        info = redact_data(info)
        clean = AIMessageChunk(
            content=content,
            additional_kwargs=extra,
            response_metadata=told,
            usage_metadata=message.usage_metadata,
            id=message.id and redact(message.id),
            name=message.name and redact(message.name),
        )
        if message.chunk_position == "last":
            yield from self.rest()
            clean.chunk_position = "last"
        if content or extra or told or info or message.usage_metadata:
            yield ChatGenerationChunk(message=clean, generation_info=info or None)

    def rest(self) -> Iterator[ChatGenerationChunk]:
        """Yield what was held back: the reply is whole."""
        if self._done:
            return
        self._done = True
        early = self._cut.flush() if self._cut else ""
        early = early and self._push(self._cut_in, early)
        text = ""
        blocks: dict[Key, dict[str, Any]] = {}
        extra: dict[str, str] = {}
        for key, held in self._texts.items():
            left = (early if key == self._cut_in else "") + held.flush()
            if not left:
                continue
            if key[0] == "text":
                text += left
            elif key[0] == "extra":
                extra[key[1]] = left
            else:
                blocks.setdefault(key[1:-1], dict(self._blocks[key[1:-1]]))[key[-1]] = left
        if text and blocks:
            blocks = {("text",): {"type": "text", "text": text}, **blocks}
        content: Any = list(blocks.values()) if blocks else text
        calls = self._calls()
        if content or extra or calls or not self._texts:
            message = AIMessageChunk(
                content=content, additional_kwargs=extra, tool_call_chunks=calls
            )
            yield ChatGenerationChunk(message=message)

    def stop(self) -> Iterator[ChatGenerationChunk]:
        """Yield what was held back, and say that the reply ends here, unread as the rest is."""
        self._ear.stopped = True
        yield from self.rest()
        end = {"finish_reason": "stop"}
        message = AIMessageChunk(content="", response_metadata=end, chunk_position="last")
        yield ChatGenerationChunk(message=message)

    def _said(self, key: Key, piece: str) -> str:
        """Push what counts of a piece of the reply's text."""
        self._cut_in = key
        return self._push(key, self._cut.push(piece) if self._cut else piece)

    def _push(self, key: Key, piece: str) -> str:
        held = self._texts.get(key)
        if held is None:
            held = self._texts[key] = HeldBack(self._ear.found)
        return held.push(piece)

    def _block(self, block: Any) -> Any:
        if not isinstance(block, dict):
            return self._said(("text",), block)
        kind, place = block.get("type"), block.get("index")
        self._blocks[kind, place] = {k: v for k, v in block.items() if k in {"type", "index"}}
        clean: dict[str, Any] = {}
        for name, value in block.items():
            key = ("block", kind, place, name)
            if name in _NO_TEXT:
                clean[name] = redact_data(value) if name in _NAMES else value
            elif not isinstance(value, str):
                clean[name] = redact_data(value)
            else:
                is_said = (kind, name) == ("text", "text")
                clean[name] = self._said(key, value) if is_said else self._push(key, value)
        return clean

    def _calls(self) -> list[ToolCallChunk]:
        """Make one piece of each call: its arguments are told when they are whole."""
        return [
            tool_call_chunk(
                name=redact(call.name),
                args=clean_arguments(call.arguments),
                id=call.id and redact(call.id),
                index=index,  # type: ignore[arg-type] # an int in OpenAI's protocol alone
            )
            for index, call in self._ear.indexed()
        ]


def clean_arguments(text: str) -> str:
    """Redact the arguments of a call as they are written; those that are clean stay as they are."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return redact(text)
    clean = redact_data(value)
    return text if clean == value else json.dumps(clean, ensure_ascii=False)


def clean_message(message: Message, found: Found, cut: TextCut | None = None) -> Message:
    """Redact a whole reply, as far as its text counts; what is taken out of that is counted."""
    changes: dict[str, Any] = {}
    content: Any = message.content if cut is None else _cut_content(message.content, cut)
    if (clean := redact_data(content, found)) != message.content:
        changes["content"] = clean
    if message.id and (named := redact(message.id)) != message.id:
        changes["id"] = named
    if extra := message.additional_kwargs:
        changes["additional_kwargs"] = redact_data(extra)
    if isinstance(message, AIMessage):
        changes["tool_calls"] = redact_data(message.tool_calls)
        changes["invalid_tool_calls"] = redact_data(message.invalid_tool_calls)
        told = {k: v for k, v in message.response_metadata.items() if k != "logprobs"}
        changes["response_metadata"] = redact_data(told)
    return message.model_copy(update=changes) if changes else message


def _cut_content(content: Any, cut: TextCut) -> Any:
    if isinstance(content, str):
        return cut.push(content) + cut.flush()
    texts = [
        place
        for place, block in enumerate(content)
        if isinstance(block, str) or block.get("type") == "text"
    ]
    made = list(content)
    for place in texts:
        block = content[place]
        said = cut.push(block if isinstance(block, str) else str(block.get("text") or ""))
        said += cut.flush() if place == texts[-1] else ""
        made[place] = said if isinstance(block, str) else {**block, "text": said}
    return made


@contextlib.contextmanager
def scrub() -> Iterator[None]:
    """Redact the text of a model's error before callbacks are told of it."""
    try:
        yield
    except Exception as error:
        error.args = tuple(redact(a) if isinstance(a, str) else a for a in error.args)
        raise
