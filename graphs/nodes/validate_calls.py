"""`validate_calls`: every call is checked against its tool's schema before anything runs."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall, ToolMessage

from graphs import audit
from graphs.context import Context
from graphs.node import Node, Scope, Update
from graphs.repeats import ENDED, WARNED, WARNING, judge
from graphs.state import Progress, State, begin, current
from graphs.transcript import failed_result
from graphs.waiting import Steps
from tools import Contract, unknown_tool

MAX_CALLS = 20
"""Calls of one reply that may run, a fixed limit; the rest are answered with an error."""

TOO_MANY = f"not executed: a reply may hold at most {MAX_CALLS} tool calls; make this one again"
_REPEATS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "run": (None, {}),
    "warn": (WARNING, {WARNED: True}),
    "end": (ENDED, {}),
}

logger = logging.getLogger("rungs")

OVER_LIMIT = "not executed: the limit of tool calls for this question is reached"


def validate_calls(
    tools: Sequence[Contract],
    *,
    context: type[Context],
    approval: bool = False,
    stop_repeats: bool = False,
) -> Node:
    """Make the node that checks the calls of the newest reply.

    It keeps true that
    * a call that may not run is answered here, with an error result that says how to do better, and
      never runs;
    * a call that may run is passed on with the arguments it runs with: coerced where that loses
      nothing, defaults filled;
    * nothing is guessed: an unknown tool names those that exist, and arguments that did not parse
      never run.

    Args:
        tools: The tools that exist.
        context: The variant's settings.
        approval: Whether an `approve` node follows, which asks for the yes that some tools need.
        stop_repeats: Whether the same call with the same result is warned of, and then ends the
            tools.
    """
    contracts = {tool.name: tool for tool in tools}

    def body(state: State, scope: Scope) -> Steps[Update]:
        yield from ()
        reply = _newest_reply(state)
        progress = current(state) or begin("", scope.context.cap)
        step = progress["rounds"]
        errors: list[ToolMessage] = []
        calls: list[ToolCall] = []
        allowed = min(MAX_CALLS, _calls_left(progress, scope.context))
        made: list[ToolCall | InvalidToolCall] = [*reply.tool_calls, *reply.invalid_tool_calls]
        stuck = False
        for place, call in enumerate(made):
            arguments, error = _check(call, contracts, scope.context, approval=approval)
            told: dict[str, Any] = {}
            if place >= allowed:
                error = TOO_MANY if allowed == MAX_CALLS else OVER_LIMIT
            elif error is None and stop_repeats and call["type"] == "tool_call":
                verdict = judge(state["messages"], call)
                stuck = stuck or verdict == "end"
                error, told = _REPEATS[verdict]
            named = ToolCall(
                name=call["name"] or "unknown", args=arguments, id=call["id"], type="tool_call"
            )
            if error is None:
                calls.append(named)
            else:
                errors.append(failed_result(named, error, **told))
                audit.tool_call(scope, named, errors[-1], step=step)
        if stuck:
            names = ", ".join(sorted({call["name"] or "unknown" for call in made}))
            logger.warning("a run was stuck on %s: does its description say when to stop?", names)
            for call in calls:
                errors.append(failed_result(call, ENDED))
                audit.tool_call(scope, call, errors[-1], step=step)
            calls = []
        update: Update = {"messages": errors, "calls": calls} if errors else {"calls": calls}
        to_approve = [call["id"] for call in calls if contracts[call["name"]].requires_confirmation]
        if to_approve or stuck:
            update["progress"] = {**progress, "to_approve": to_approve, "stuck": stuck}
        return update

    return Node("validate_calls", body, context)


def _calls_left(progress: Progress, context: Context) -> int:
    """Return how many of the reply's calls the run may still make, by the cap it began with."""
    if context.max_calls is None:
        return MAX_CALLS
    return max(0, progress["cap"] - (progress["calls"] - progress["open_calls"]))


def _newest_reply(state: State) -> AIMessage:
    """Return the reply whose calls are open; a state edited by hand may have none."""
    for message in reversed(state["messages"]):
        if isinstance(message, AIMessage):
            return message
    return AIMessage("")


def _check(
    call: ToolCall | InvalidToolCall,
    contracts: Mapping[str, Contract],
    context: Context,
    *,
    approval: bool,
) -> tuple[dict[str, Any], str | None]:
    """Return the arguments a call runs with, or no arguments and why it may not run."""
    allowed = [
        tool for tool in contracts.values() if tool.effect == "read_only" or not context.read_only
    ]
    contract = contracts.get(call["name"] or "")
    if contract is None:
        return {}, unknown_tool(call["name"] or "", allowed)
    if contract not in allowed:
        return {}, f"not executed: {contract.name} changes state, and this run is read-only"
    if contract.requires_confirmation and not approval:
        return {}, f"not executed: {contract.name} needs a person's yes, which can't be asked here"
    if call["type"] == "invalid_tool_call":
        return (
            {},
            f"not executed: the arguments of {contract.name} are no JSON object: {call['error']}",
        )
    checked = contract.check(call["args"])
    return checked.arguments or {}, checked.error
