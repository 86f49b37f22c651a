"""`run_tools`: runs the checked calls side by side; each gets exactly one result."""

from collections.abc import Sequence

from langchain_core.messages import ToolMessage

from graphs import audit
from graphs.at_work import AtWork, told_of
from graphs.context import Context
from graphs.node import Node, Scope, Update
from graphs.reach import Reach, as_reach
from graphs.running import run_all
from graphs.state import State, current
from graphs.tool_events import tell_ended
from graphs.tool_round import ToolRound
from graphs.waiting import Steps
from tools import Contract


def run_tools(tools: Sequence[Contract] | Reach, *, context: type[Context]) -> Node:
    """Make the node that runs the calls that passed `validate_calls`.

    It keeps true that
    * the calls of a reply run at the same time, each within its own timeout (the tool's, else the
      run's);
    * each call gets exactly one result; a timeout or an exception becomes an error result, and the
      run goes on;
    * a result that comes after its timeout reaches nobody: not the transcript, not the cache, not a
      later call;
    * a result is text, filtered for secrets, and no longer than the limit, before anybody sees it;
    * a tool that calls `interrupt` pauses the run only where it is the reply's one call: LangGraph
      runs a node anew on resume, and no other call may run twice for it;
    * a call that changes state is entered in the ledger before it runs and after, and never runs
      again where it is entered: it is answered with what became of it;
    * only successful results of tools that ask for it are cached, and a tool that changes state
      empties its user's;
    * who listens is told of each call as it starts and as it ends; a run that is cancelled asks its
      tools to stop, and starts nothing more.

    Args:
        tools: The tools that exist.
        context: The variant's settings.
    """
    reach = as_reach(tools)

    def body(state: State, scope: Scope) -> Steps[Update]:
        at_hand = ToolRound(reach, state, scope)
        calls = at_hand.still_made(state.get("calls", []))
        results: dict[str | None, ToolMessage] = {}
        works: list[AtWork] = []
        for call in calls:
            prepared = yield from at_hand.prepare(call)
            if isinstance(prepared, AtWork):
                works.append(prepared)
            else:
                results[call["id"]] = prepared
                tell_ended(scope, call, prepared)
        with told_of(scope, works, at_hand.result) as told:
            ended = (yield run_all([work.job for work in works], told)) if works else []
        for work, end in zip(works, ended, strict=True):
            results[work.call["id"]] = yield from at_hand.finish(work, end, alone=len(calls) == 1)
        progress = current(state)
        step = progress["rounds"] if progress else 0
        messages = [reach.answer(call, results[call["id"]]) for call in calls]
        added = at_hand.never_checked(calls)
        ran = {work.call["id"]: work.call for work in works}
        for call, result in zip(calls, messages, strict=True):
            audit.tool_call(scope, ran.get(call["id"], call), result, step=step)
        return {"messages": [*messages, *added]}

    return Node("run_tools", body, context, reach.tools)
