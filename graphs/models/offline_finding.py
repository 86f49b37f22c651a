"""How the rule-based model drives a search for tools, and what it reads of what was found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from graphs.models.offline_conversation import Conversation
from tools.search_tools import TOOL_CALL, TOOL_SEARCH

Calls = list[tuple[str, dict[str, Any]]]

FOR_KIND: Mapping[str, str] = {
    "note": "store a note about the customer",
    "sum": "exact arithmetic calculation",
    "search": "search the help center",
}
"""What is searched for where a part of the question needs a tool that is not there yet."""


def search_for(query: str, seen: Conversation) -> Calls | None:
    """Return a search that was not made yet for this question."""
    made = [call.arguments.get("query") for call in seen.done if call.tool == TOOL_SEARCH]
    return None if query in made or not query else [(TOOL_SEARCH, {"query": query})]


def reachable(
    schemas: Sequence[Mapping[str, Any]], seen: Conversation
) -> tuple[list[Mapping[str, Any]], set[str]]:
    """Return the tools that can be called, and the names of those that `tool_call` calls.

    Args:
        schemas: The bound tools.
        seen: Its searches tell the tools behind `tool_call`.
    """
    if TOOL_CALL not in [_name(schema) for schema in schemas]:
        return list(schemas), set()
    found = {tool["name"]: _as_schema(tool) for tool in _found(seen)}
    return [*schemas, *found.values()], set(found)


def through(calls: Calls, behind: set[str]) -> Calls:
    """Make the calls of tools behind `tool_call` through it."""
    return [
        (TOOL_CALL, {"name": name, "input": arguments}) if name in behind else (name, arguments)
        for name, arguments in calls
    ]


def _found(seen: Conversation) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    for call in seen.done:
        if call.tool == TOOL_SEARCH and not call.failed:
            try:
                tools += json.loads(call.result)["tools"]
            except (ValueError, KeyError, TypeError):
                continue
    return [tool for tool in tools if isinstance(tool, dict) and "name" in tool]


def _as_schema(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": tool["name"],
        "description": tool.get("description", ""),
        "parameters": tool.get("inputSchema") or {},
    }


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema.get("function", schema).get("name", ""))
