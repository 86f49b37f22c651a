"""A wrapper tool of the tests' own, and calls made directly or through it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from tools import Contract, Failure, Wrapper, contract

Way = Literal["direct", "wrapped", "twice wrapped"]
WAYS: tuple[Way, ...] = ("direct", "wrapped", "twice wrapped")

PARAMETERS = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "input": {"type": "object"}},
    "required": ["name"],
    "additionalProperties": False,
}


def unwrap(arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    return arguments["name"], arguments.get("input", {})


def in_json(failure: Failure) -> str:
    return json.dumps(asdict(failure))


def wrapper(
    tools: Sequence[Contract], *, name: str = "tool_call", shaped: bool = False
) -> Contract:
    """Make a tool that calls the others, and itself."""

    def never(**_: Any) -> None:
        raise AssertionError("a wrapper's own function never runs")

    reached = {tool.name: tool for tool in tools}
    made = contract(
        {
            "name": "tool_call",
            "description": "Call a tool by its name.",
            "parameters": PARAMETERS,
            "function": never,
        },
        wrapper=Wrapper(reached, unwrap, in_json if shaped else None),
    )
    reached[made.name] = made
    return made


def offered(way: Way, tools: Sequence[Contract]) -> list[Contract]:
    """Return the tools that a graph is given: themselves, or only what wraps them."""
    return list(tools) if way == "direct" else [wrapper(tools)]


def calling(way: Way, call_id: str, name: str, args: dict[str, Any]) -> dict[str, Any]:
    """Make a reply with one call of a tool."""
    for _ in range(WAYS.index(way)):
        name, args = "tool_call", {"name": name, "input": args}
    return {"tool_calls": [{"id": call_id, "name": name, "args": args}]}
