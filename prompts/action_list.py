"""The actions of a ReAct prompt: each tool on a line, in the form in which it is called."""

import json
from collections.abc import Sequence
from typing import Any

from prompts.tool_list import Described


def action_lines(tools: Sequence[Described]) -> str:
    """Describe tools for a ReAct prompt, a line each.

    A tool with one required argument takes it as it is, `calculator[expression]`; another one takes
    a JSON object, and its line shows which: `move[{"from": string, "to": string}]`.
    """
    return "\n".join(f"- {form_of(tool)}: {tool.description}" for tool in tools) or "- (no actions)"


def form_of(tool: Described) -> str:
    """Return how a tool is called: `name[input]`."""
    fields = tool.parameters.get("properties", {})
    required = list(tool.parameters.get("required", ()))
    if len(required) == 1:
        plain = f"{tool.name}[{required[0]}]"
        return plain if len(fields) == 1 else f"{plain} or {tool.name}[{_object(fields, required)}]"
    return f"{tool.name}[{_object(fields, required) if fields else ''}]"


def _object(fields: dict[str, Any], required: list[str]) -> str:
    """Show the JSON object of a tool's arguments, those that may be left out with a `?`."""
    told = (
        f"{json.dumps(name)}: {_kind(field)}{'' if name in required else '?'}"
        for name, field in fields.items()
    )
    return "{" + ", ".join(told) + "}"


def _kind(field: Any) -> str:
    kind = field.get("type") if isinstance(field, dict) else None
    return kind if isinstance(kind, str) else "value"
