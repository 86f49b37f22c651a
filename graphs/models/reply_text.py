"""The text of a reply: cleaned, without thinking, and not a tool call in disguise."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from tools.plain import MAX_INTEGER, MIN_INTEGER

_TAGS = r"(?:think|thinking|thought|reasoning)"
_THINKING = re.compile(rf"\s*<({_TAGS})>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
# Templates that open the tag in the prompt leave only its end in the reply.
_THINKING_END = re.compile(rf"\A[^`]*?</{_TAGS}>\s*", re.IGNORECASE)
_FENCE = re.compile(r"\A```(?:json|tool_call)?\s*\n(.*)\n```\Z", re.DOTALL | re.IGNORECASE)
_TOOL_CALL_TAG = re.compile(r"\A<tool_call>\s*(.*?)\s*(?:</tool_call>)?\Z", re.DOTALL)
_DECIMAL_BITS = 10_000
_REASONS = {"max_tokens": "length", "end_turn": "stop", "tool_use": "tool_calls"}


def clean_text(text: str) -> str:
    """Drop NUL and replace lone surrogates by U+FFFD; a split pair becomes its character again."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_data(value: Any) -> Any:
    """Clean every text in nested lists and dicts; what is clean comes back as it is."""
    return _each(value, lambda leaf: clean_text(leaf) if isinstance(leaf, str) else leaf)


def storable_data(value: Any) -> Any:
    """Clean as `clean_data` does; an integer that no checkpoint can hold becomes its text."""
    return _each(value, _storable)


def _each(value: Any, clean: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        cleaned = {_each(key, clean): _each(item, clean) for key, item in value.items()}
        return value if cleaned == value else cleaned
    if isinstance(value, list | tuple):
        items = [_each(item, clean) for item in value]
        return value if items == list(value) else items
    return clean(value)


def _storable(leaf: Any) -> Any:
    if isinstance(leaf, str):
        return clean_text(leaf)
    if isinstance(leaf, int) and not MIN_INTEGER <= leaf <= MAX_INTEGER:
        # Python writes no more than some thousand decimal digits.
        return str(leaf) if leaf.bit_length() <= _DECIMAL_BITS else hex(leaf)
    return leaf


def answer_text(message: BaseMessage) -> str:
    """Return the text of a reply as its reader should see it: blocks joined, thinking left out."""
    content = message.content
    text = content if isinstance(content, str) else str(message.text)
    if "<" in text:
        start = 0
        while found := _THINKING.match(text, start):
            start = found.end()
        text = _THINKING_END.sub("", text[start:], count=1)
    return text.strip()


def is_written_tool_call(text: str, names: Collection[str]) -> bool:
    """Say whether the whole text is one JSON tool call (or a list of them) to a tool of `names`.

    An answer that merely contains such JSON in prose is left alone.
    """
    text = text.strip()
    for wrapping in (_FENCE, _TOOL_CALL_TAG):
        if found := wrapping.match(text):
            text = found.group(1).strip()
    if not text.startswith(("{", "[")):
        return False
    try:
        value = json.loads(text)
    except ValueError:
        return False
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(_is_call(item, names) for item in items)


def _is_call(item: Any, names: Collection[str]) -> bool:
    if not isinstance(item, dict):
        return False
    if isinstance(function := item.get("function"), dict):
        item = function
    name = item.get("name") or item.get("tool") or item.get("function")
    has_arguments = any(key in item for key in ("arguments", "parameters", "args", "input"))
    return isinstance(name, str) and name in names and has_arguments


def finish_reason(message: BaseMessage) -> str | None:
    """Return why the reply ended, in OpenAI's words; None when the server did not say."""
    metadata = message.response_metadata if isinstance(message, AIMessage) else {}
    for key in ("finish_reason", "stop_reason", "done_reason"):
        if isinstance(reason := metadata.get(key), str) and reason:
            return _REASONS.get(reason.lower(), reason.lower())
    return None
