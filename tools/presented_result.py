"""What a presented tool returned, as a graph of another's making may keep it and show it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from langgraph.types import Command
from langchain_core.messages import ToolMessage

from tools.limits import limit
from tools.redact import redact_data, redact_result
from tools.rendering import as_text, plain
from tools.results import render

MOST: Final = 1_000_000
"""Characters of one result that are kept (SPEC section 10)."""


def kept(value: Any) -> Any:
    """Return a result without secrets, and no longer than may be kept.

    Text and plain data stay text and data, unless they are too long: then the head and the tail
    of their text. What a tool says in messages, its own or a command's, is treated likewise; any
    other object becomes the text that graphs of ours make of it.
    """
    if isinstance(value, ToolMessage):
        return value.model_copy(update={"content": kept(value.content)})
    if isinstance(value, Command):
        return _command(value)
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict | list):
        clean = redact_data(plain(value))
        text = as_text(clean)
        return clean if len(text) <= MOST else limit(text, MOST)
    return limit(redact_result(render(value)), MOST)


def _command(command: Command[Any]) -> Command[Any]:
    update = command.update
    if not isinstance(update, dict):
        return command
    cleaned = {key: _messages(value) for key, value in update.items()}
    return replace(command, update=cleaned)


def _messages(value: Any) -> Any:
    if not isinstance(value, list):
        return kept(value) if isinstance(value, ToolMessage) else value
    return [kept(one) if isinstance(one, ToolMessage) else one for one in value]
