"""`approve`: pauses for the calls that need a person's yes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from langgraph.types import interrupt
from langchain_core.messages import ToolCall, ToolMessage

from graphs import audit
from graphs.approvals import Decided, read_answer, request_for
from graphs.calls import Call, is_edited
from graphs.context import Context
from graphs.errors import AnswerError
from graphs.ledger import digest_of
from graphs.node import Node, Scope, Update
from graphs.reach import Reach, as_reach
from graphs.sealing import real_arguments, resealed
from graphs.state import State, begin, current
from graphs.tool_events import tell_ended
from graphs.tool_results import good_result, show
from graphs.transcript import failed_result, newest_reply
from graphs.waiting import Steps
from tools import Contract

EDITED = "it was edited in the transcript after it was checked; make it anew"
REJECTED = "not executed, it was not approved"
NOWHERE_TO_WAIT = (
    "it needs a person's yes, and nobody could be asked, because this run has no memory to wait in"
)


def approve(tools: Sequence[Contract] | Reach, *, context: type[Context]) -> Node:
    """Make the node that asks a person about the calls that need a yes.

    It keeps true that
    * one pause asks about all calls of a reply that need it, and none of the reply's calls has run;
    * an approval belongs to one call: its id, its tool, and the arguments shown or edited;
    * an edited call is checked like any other; a wrong answer decides nothing, leaves the pause
      open, and the next request says what was wrong with it;
    * a call that was edited in the transcript since it was checked is turned away with a sentence:
      what was checked is no longer what is asked for, and an edit belongs into the answer;
    * a rejected call gets a result that says so, and its approved siblings run once.

    Args:
        tools: The tools that exist.
        context: The variant's settings.
    """
    reach = as_reach(tools)

    def body(state: State, scope: Scope) -> Steps[Update]:
        calls = state.get("calls", [])
        progress = current(state) or begin("", scope.context.cap)
        # Those that were asked about still wait, whatever the tools need by now.
        asked = set(progress["to_approve"])
        reply = newest_reply(state["messages"])
        edited = [call for call in calls if is_edited(call, reply)]
        decided = {call["id"]: Decided(call, "reject", EDITED) for call in edited}
        waiting = [
            call
            for call in calls
            if call not in edited and (call["id"] in asked or reach.needs_yes(call))
        ]
        if not waiting and not edited:
            return {"progress": {**progress, "to_approve": []}}
        if waiting and _can_wait(scope):
            real = yield from real_arguments(waiting)
            for decision in _ask(waiting, reach, real):
                kept = yield from resealed(cast("Call", decision.call))
                decided[kept["id"]] = replace(decision, call=kept)
        else:
            decided |= {call["id"]: _turned_away(call) for call in waiting}
        answers: list[ToolMessage] = []
        going: list[ToolCall] = []
        for call in calls:
            decision = decided.get(call["id"], Decided(call, "approve"))
            answer = _answer(decision, scope.context.tool_result_limit)
            if answer is None:
                going.append(decision.call)
            else:
                answers.append(reach.answer(call, answer))
                audit.tool_call(scope, call, answers[-1], step=progress["rounds"])
                tell_ended(scope, call, answers[-1])
        approved = {call["id"]: digest_of(call) for call in going if call["id"] in decided}
        settled = {**progress, "to_approve": [], "approved": approved}
        return {"messages": answers, "calls": going, "progress": settled}

    return Node("approve", body, context, reach.tools)


def _can_wait(scope: Scope) -> bool:
    info = scope.runtime.execution_info
    # LangGraph pauses without a saver too, for good, and tells nodes nothing else of it.
    saver = scope.config.get("configurable", {}).get("__pregel_checkpointer", "unknown")
    return info is not None and info.thread_id is not None and saver is not None


def _ask(
    waiting: list[ToolCall], reach: Reach, real: Mapping[str | None, dict[str, Any]]
) -> list[Decided]:
    """Ask until an answer decides; a node that starts anew reads the earlier ones again."""
    problem = None
    while True:
        answer = interrupt(request_for(waiting, reach, problem))
        try:
            return read_answer(answer, waiting, reach, real)
        except AnswerError as error:
            problem = str(error)


def _turned_away(call: ToolCall) -> Decided:
    return Decided(call, "reject", NOWHERE_TO_WAIT)


def _answer(decided: Decided, most: int) -> ToolMessage | None:
    """Return the result of a call that will not run, or None for one that will."""
    said = show(decided.message, most).text if decided.message else ""
    if decided.decision == "reject":
        reason = f"{REJECTED}: {said}" if said else REJECTED
        return failed_result(decided.call, reason, "rejected")
    if decided.decision == "respond":
        return good_result(decided.call, said, {"answered_by": "a person"})
    return None
