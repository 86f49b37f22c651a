"""`validate_calls`: every call is checked against its tool's schema before anything runs."""

from collections.abc import Sequence

from langchain_core.messages import ToolMessage

from graphs import audit
from graphs.calls import Asked
from graphs.checking import Check
from graphs.context import Context
from graphs.node import Node, Scope, Update
from graphs.reach import Reach, Resolved, as_reach
from graphs.search_calls import log_calls
from graphs.state import State, begin, current, loaded_tools
from graphs.tool_events import tell_ended
from graphs.transcript import failed_result
from graphs.waiting import Steps
from tools import Contract


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
        stop_repeats: Whether the same call again and again is warned of, and then ends the tools.
    """
    reach = as_reach(tools)
    check = Check(reach, approval=approval, stop_repeats=stop_repeats)

    def body(state: State, scope: Scope) -> Steps[Update]:
        progress = current(state) or begin("", scope.context.cap)
        messages = state["messages"]
        checked = yield from check.of(messages, progress, scope.context, loaded_tools(state))
        if reach.searches:
            yield from log_calls(scope, messages, [one.call for one in checked.found])
        errors: list[ToolMessage] = []
        for asked, one in zip(checked.calls, checked.found, strict=True):
            if one.error is not None:
                errors.append(reach.answer(one.call, _refused(asked, one)))
                audit.tool_call(scope, one.call, errors[-1], step=progress["rounds"])
                tell_ended(scope, one.call, errors[-1])
        going = [one.call for one in checked.found if one.error is None]
        update: Update = {"messages": errors, "calls": going} if errors else {"calls": going}
        to_approve = [call["id"] for call in going if reach.needs_yes(call)]
        if to_approve or checked.stuck:
            update["progress"] = {**progress, "to_approve": to_approve, "stuck": checked.stuck}
        return update

    return Node("validate_calls", body, context, reach.tools)


def _refused(asked: Asked, found: Resolved) -> ToolMessage:
    """Answer a call that may not run; the record tells what it came to."""
    told = dict(found.told)
    if isinstance(asked["args"], dict) and asked["args"] != found.call["args"]:
        told["arguments"] = found.call["args"]
    reason = found.error or ""
    return failed_result(found.call, reason, found.code, retryable=found.retryable, **told)
