"""A person's yes for one call, asked where the call is made: LangChain's human in the loop.

The graphs here ask in a node of their own, for all calls of a reply at once. A tool that brings its
calls into another graph, such as a toolkit in LangChain's `create_agent`, asks by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tools.contract import Contract
from tools.redact import redact_data

DECISIONS: Final = ("approve", "edit", "reject", "respond")


class NotApprovedError(Exception):
    """A person said no, or nobody could be asked."""


def ask(
    tool: Contract, arguments: dict[str, Any], pause: Callable[[Any], Any]
) -> tuple[dict[str, Any], str | None]:
    """Ask until an answer decides.

    Args:
        tool: The tool that would run.
        arguments: What it would run with.
        pause: LangGraph's `interrupt`: raises at first, and returns the answer on resume.

    Returns:
        The arguments to run with, which an edit may have changed; and a person's own words where
        they stand in the tool's place.

    Raises:
        NotApprovedError: The answer is no; the message is the person's.
    """
    problem: str | None = None
    while True:
        answer = pause(_request(tool, arguments, problem))
        decision, problem = _decision(answer)
        if decision is None:
            continue
        kind, said = decision["type"], str(decision.get("message") or "").strip()
        if kind == "reject":
            raise NotApprovedError(said)
        if kind == "respond":
            if said:
                return arguments, said
            problem = f"respond needs a message, the result of {tool.name}"
        elif kind == "approve":
            return arguments, None
        else:
            edited, problem = _edited(decision, tool)
            if edited is not None:
                return edited, None


def _request(tool: Contract, arguments: dict[str, Any], problem: str | None) -> dict[str, Any]:
    effect = "changes state" if tool.effect == "state_changing" else "only reads"
    action = {
        "name": tool.name,
        "args": redact_data(arguments),
        "description": f"{tool.name} {effect}. {tool.description}",
    }
    config = {"action_name": tool.name, "allowed_decisions": list(DECISIONS)}
    asked: dict[str, Any] = {"action_requests": [action], "review_configs": [config]}
    return {**asked, "problem": problem} if problem else asked


def _decision(answer: Any) -> tuple[Mapping[str, Any] | None, str | None]:
    """Return the one decision of an answer, or what is wrong with it."""
    decisions = answer.get("decisions") if isinstance(answer, Mapping) else None
    one = decisions[0] if isinstance(decisions, list) and len(decisions) == 1 else None
    if not isinstance(one, Mapping):
        return None, 'an answer is {"decisions": [{"type": "approve"}]}, one for the one call'
    if one.get("type") not in DECISIONS:
        return None, f"a decision's type is one of {', '.join(DECISIONS)}"
    return one, None


def _edited(
    decision: Mapping[str, Any], tool: Contract
) -> tuple[dict[str, Any] | None, str | None]:
    """Return the arguments of an edit, checked like any others, or what is wrong with them."""
    edited = decision.get("edited_action")
    if not isinstance(edited, Mapping) or not isinstance(edited.get("args"), Mapping):
        return None, 'edit needs "edited_action": {"name": ..., "args": {...}}'
    if edited.get("name", tool.name) != tool.name:
        return None, f"an edit changes the arguments of {tool.name}, not the tool"
    checked = tool.check(edited["args"])
    if checked.arguments is None:
        return None, f"the edited call can't run: {checked.error}"
    return checked.arguments, None
