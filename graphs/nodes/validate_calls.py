"""`validate_calls`: every call is checked against its tool's schema before anything runs."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from langchain_core.messages import AIMessage, ToolMessage

from graphs import audit
from graphs.calls import Asked, as_asked, made
from graphs.context import Context
from graphs.node import Node, Scope, Update
from graphs.reach import Reach, Resolved, as_reach
from graphs.repeats import ENDED, WARNED, WARNING, judge
from graphs.sealing import MARKED, is_marked, opened, resealed, secrets_of, without
from graphs.search_calls import log_calls
from graphs.state import Progress, State, begin, current, loaded_tools
from graphs.tool_events import tell_ended
from graphs.transcript import failed_result
from graphs.vault import SealedError
from graphs.waiting import Steps
from tools import Contract

MAX_CALLS = 20
"""Calls of one reply that may run, a fixed limit; the rest are answered with an error."""

TOO_MANY = f"not executed: a reply may hold at most {MAX_CALLS} tool calls; make this one again"
OVER_LIMIT = "not executed: the limit of tool calls for this question is reached"


def validate_calls(
    tools: Sequence[Contract] | Reach,
    *,
    context: type[Context],
    approval: bool = False,
    stop_repeats: bool = True,
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
    reach = as_reach(tools)

    def body(state: State, scope: Scope) -> Steps[Update]:
        progress = current(state) or begin("", scope.context.cap)
        calls = made(_newest_reply(state))
        loaded = loaded_tools(state)

        def resolve(asked: Asked) -> Resolved:
            return reach.resolve(asked, scope.context, approval=approval, loaded=loaded)

        found = yield from _all_resolved(calls, resolve)
        stuck = False
        if stop_repeats:
            found, stuck = _without_repeats(state, calls, found)
        found = _within(min(MAX_CALLS, _calls_left(progress, scope.context)), found)
        if reach.searches:
            yield from log_calls(scope, state["messages"], [one.call for one in found])
        errors: list[ToolMessage] = []
        for asked, one in zip(calls, found, strict=True):
            if one.error is not None:
                errors.append(reach.answer(one.call, _refused(asked, one)))
                audit.tool_call(scope, one.call, errors[-1], step=progress["rounds"])
                tell_ended(scope, one.call, errors[-1])
        going = [one.call for one in found if one.error is None]
        update: Update = {"messages": errors, "calls": going} if errors else {"calls": going}
        to_approve = [call["id"] for call in going if reach.needs_yes(call)]
        if to_approve or stuck:
            update["progress"] = {**progress, "to_approve": to_approve, "stuck": stuck}
        return update

    return Node("validate_calls", body, context, reach.tools)


def _all_resolved(
    calls: Sequence[Asked], resolve: Callable[[Asked], Resolved]
) -> Steps[list[Resolved]]:
    found: list[Resolved] = []
    for asked in calls:
        found += [(yield from _resolved(asked, resolve))]
    return found


def _resolved(asked: Asked, resolve: Callable[[Asked], Resolved]) -> Steps[Resolved]:
    """Say what a call comes to by its real arguments; nothing secret of them is in the answer."""
    try:
        real = yield from opened(asked)
    except SealedError as why:
        return Resolved(as_asked(asked), f"not executed: {why}", "not_permitted")
    found = resolve(real)
    if found.error is None and is_marked(found.call["args"]):
        found = replace(found, error=MARKED, code="invalid_arguments")
    call = yield from resealed(found.call)
    error = found.error and without(found.error, secrets_of(found.call["args"], call["args"]))
    return replace(found, call=call, error=error)


def _without_repeats(
    state: State, calls: Sequence[Asked], found: Sequence[Resolved]
) -> tuple[list[Resolved], bool]:
    """Turn away what comes again and again, and all of the reply where that ends the tools."""
    verdicts = [judge(state["messages"], *pair) for pair in zip(calls, found, strict=True)]
    ends = "end" in verdicts
    judged = []
    for one, verdict in zip(found, verdicts, strict=True):
        said = f"{one.error}; " if one.error else ""
        if ends:
            judged.append(replace(one, error=f"{said}{ENDED}", code="repeated"))
        elif verdict == "warn":
            told = {WARNED: True}
            judged.append(replace(one, error=f"{said}{WARNING}", code="repeated", told=told))
        else:
            judged.append(one)
    return judged, ends


def _within(allowed: int, found: Sequence[Resolved]) -> list[Resolved]:
    """Turn away the calls beyond those that the reply, or the run, may still make."""
    told = (TOO_MANY, True) if allowed == MAX_CALLS else (OVER_LIMIT, False)
    over = [replace(one, error=told[0], code="limit_reached") for one in found[allowed:]]
    if told[1]:
        over = [replace(one, retryable=True) for one in over]
    return [*found[:allowed], *over]


def _refused(asked: Asked, found: Resolved) -> ToolMessage:
    """Answer a call that may not run; the record tells what it came to."""
    told = dict(found.told)
    if isinstance(asked["args"], dict) and asked["args"] != found.call["args"]:
        told["arguments"] = found.call["args"]
    reason = found.error or ""
    return failed_result(found.call, reason, found.code, retryable=found.retryable, **told)


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
