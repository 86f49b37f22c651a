"""What a presented tool returned, as a graph of another's making may keep it and show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from langgraph.types import Command
from langchain_core.messages import ToolMessage

from tools.hidden import without
from tools.limits import limit
from tools.redact import redact_data, redact_result
from tools.rendering import as_text, plain
from tools.results import render

MOST: Final = 1_000_000
"""Characters of one result that are kept (SPEC section 10)."""

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def kept(value: Any, hidden: Mapping[str, str] = NOTHING) -> Any:
    """Return a result without secrets, and no longer than may be kept.

    Text and plain data stay text and data, unless they are too long: then the head and the tail
    of their text. What a tool says in messages, its own or a command's, is treated likewise; any
    other object becomes the text that graphs of ours make of it.

    Args:
        value: What a tool returned.
        hidden: The secrets that it was called with, and what stands for each.
    """
    if isinstance(value, ToolMessage):
        return value.model_copy(update={"content": kept(value.content, hidden)})
    if isinstance(value, Command):
        return _command(value, hidden)
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict | list):
        clean = redact_data(_data_without(plain(value), hidden))
        text = as_text(clean)
        return clean if len(text) <= MOST else limit(text, MOST)
    return limit(redact_result(without(render(value), hidden)), MOST)


def _data_without(value: Any, hidden: Mapping[str, str]) -> Any:
    if not hidden:
        return value
    if isinstance(value, dict):
        return {without(key, hidden): _data_without(one, hidden) for key, one in value.items()}
    if isinstance(value, list):
        return [_data_without(one, hidden) for one in value]
    return without(value, hidden) if isinstance(value, str) else value


def _command(command: Command[Any], hidden: Mapping[str, str]) -> Command[Any]:
    update = command.update
    if not isinstance(update, dict):
        return command
    cleaned = {key: _messages(value, hidden) for key, value in update.items()}
    return replace(command, update=cleaned)


def _messages(value: Any, hidden: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_messages(one, hidden) for one in value]
    return kept(value, hidden) if isinstance(value, ToolMessage) else value
