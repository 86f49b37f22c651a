"""What the rule-based model looks at: the question, the calls since, the notes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from graphs.models.offline_plan import Tool
from tools.search_tools import TOOL_CALL

_NOTES_LINE = re.compile(r'^\s*-\s+(".*")\s*$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Done:
    """A finished call: its tool, its arguments, its result."""

    tool: str
    arguments: dict[str, Any]
    result: str
    failed: bool


@dataclass(slots=True)
class Conversation:
    """What the rules look at: the newest question, the calls since, the notes of the prompt."""

    question: str = ""
    done: list[Done] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, messages: Sequence[BaseMessage]) -> Conversation:
        """Read the messages as they are sent to a model."""
        seen = cls()
        waiting: dict[str | None, tuple[str, dict[str, Any]]] = {}
        for message in messages:
            text = str(message.text)
            if isinstance(message, SystemMessage):
                seen.notes += [json.loads(found) for found in _NOTES_LINE.findall(text)]
            elif isinstance(message, HumanMessage):
                seen.question, seen.done, waiting = text, [], {}
            elif isinstance(message, AIMessage):
                waiting |= {call["id"]: (call["name"], call["args"]) for call in message.tool_calls}
            elif isinstance(message, ToolMessage) and message.tool_call_id in waiting:
                name, arguments = _unwrapped(*waiting[message.tool_call_id])
                seen.done.append(Done(name, arguments, text, message.status == "error"))
        return seen

    def outcome(self, tool: str, arguments: dict[str, Any]) -> Done | None:
        """Return the finished call of a tool with these arguments, defaults aside."""
        for call in self.done:
            if call.tool == tool and arguments.items() <= call.arguments.items():
                return call
        return None

    def result_of(self, tool: Tool | None, text: str) -> Done | None:
        """Return the finished call of this tool with this text; without a tool, of any."""
        for call in self.done:
            if tool is None or call.tool == tool.name:
                given = call.arguments.get(tool.parameter) if tool else None
                if text == given or (tool is None and text in call.arguments.values()):
                    return call
        return None

    def all_of(self, text: str) -> list[Done]:
        """Return the finished calls with this text, of whatever tool."""
        return [call for call in self.done if text in call.arguments.values()]


def _unwrapped(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Look through `tool_call`: what it called is what was done."""
    inner, given = arguments.get("name"), arguments.get("input")
    if name == TOOL_CALL and isinstance(inner, str) and isinstance(given, dict):
        return inner, given
    return name, arguments
