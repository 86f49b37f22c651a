"""What is done for each call of a round before and after its tool runs."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langgraph.errors import GraphBubbleUp
from pydantic import ValidationError

from graphs.at_work import AtWork
from graphs.call_job import call_scope, job_of
from graphs.calls import asked_arguments, asked_name, sealed
from graphs.checking import resolved
from graphs.control import Stopping
from graphs.inside_tools import inside
from graphs.jobs import Ended, Job
from graphs.ledger import UNKNOWN, Entry, Ledger, digest_of
from graphs.node import Scope
from graphs.reach import Reach, Resolved
from graphs.results_cache import ResultsCache
from graphs.sealing import opened
from graphs.state import State, current, loaded_tools
from graphs.tool_events import progress_of, trace_end, trace_start
from graphs.tool_pauses import paused
from graphs.tool_results import cached_result, good_result, result_of
from graphs.transcript import failed_result, newest_reply, unanswered
from graphs.vault import SealedError
from graphs.waiting import Steps
from tools import CallScope, Contract, InjectionError
from tools.hidden import secrets_of, without

OUTDATED = "not executed: its arguments are no longer valid; make the call again with others"
ADDED = "not executed: it was written into the reply after its calls were checked; make it again"


class ToolRound:
    """The calls of one reply: cache and ledger are asked before a tool runs, and told after.

    Args:
        reach: The tools that exist.
        state: The state of the run.
        scope: The run.
    """

    def __init__(self, reach: Reach, state: State, scope: Scope) -> None:
        self._reach, self._state, self._scope = reach, state, scope
        self._asked = _asked(state)
        progress = current(state)
        self._approved = progress["approved"] if progress else {}
        self._changing = False
        self._made: dict[str | None, tuple[Ended, ToolMessage]] = {}
        self._cache = ResultsCache(scope.store if reach.caches else None, scope.context.user)
        self._inside = inside(scope)
        self._ledger = Ledger(scope.store, scope.thread_id, scope.saver)

    def still_made(self, calls: Any) -> list[ToolCall]:
        """Leave out what a person took out of the reply, in Studio say, or wrote into the state."""
        return [call for call in calls if _is_call(call) and call["id"] in self._asked]

    def never_checked(self, calls: Sequence[ToolCall]) -> list[ToolMessage]:
        """Answer the calls that a person wrote into the reply since it was checked."""
        if len(calls) == len(self._asked):
            return []
        known = {call["id"] for call in calls}
        opened_ = [c for c in unanswered(self._state["messages"]) if c["id"] in self._asked]
        return [failed_result(c, ADDED, "not_permitted") for c in opened_ if c["id"] not in known]

    def prepare(self, call: ToolCall) -> Steps[ToolMessage | AtWork]:
        """Return a call's result where its tool need not run, else the tool ready to run."""
        edited = yield from self._edited(call)
        if edited is not None and edited.error is not None:
            return failed_result(edited.call, edited.error, edited.code)
        call = edited.call if edited else call
        contract = self._reach.contract_of(call)
        if contract is None:
            gone = f"tool {call['name']} is no longer available"
            return failed_result(call, gone, "unknown_tool")
        stopping = Stopping()
        hidden: dict[str, str] = {}
        progress = progress_of(self._scope, call, stopping, hidden)
        scope = call_scope(call, self._state, self._inside, progress)
        answer = yield from self._answer_at_hand(call, contract, scope)
        if answer is not None:
            return answer
        job = yield from self._job(call, contract, scope, stopping, hidden)
        if isinstance(job, ToolMessage):
            return job
        if contract.once and not (yield from self._ledger.enter(call)):
            return failed_result(call, UNKNOWN, "interrupted")
        self._changing = self._changing or contract.effect == "state_changing"
        trace = yield from trace_start(self._scope, contract, call)
        return AtWork(call, contract, job, trace, hidden)

    def _job(
        self,
        call: ToolCall,
        contract: Contract,
        scope: CallScope,
        stopping: Stopping,
        hidden: dict[str, str],
    ) -> Steps[Job | ToolMessage]:
        """Make what runs a call by its real arguments, or say why they can't be run.

        They are checked again: days may lie between their check and the tool, and it may have
        become another one of that name.
        """
        try:
            real = yield from opened(call)
            hidden |= secrets_of(real["args"], call["args"])
            if why := contract.check(real["args"]).error:
                return failed_result(call, without(why, hidden), "invalid_arguments")
            return job_of(
                contract,
                real,
                scope,
                self._inside,
                context=self._scope.context,
                stopping=stopping,
                hidden=hidden,
            )
        except (InjectionError, SealedError) as error:
            return failed_result(call, f"{call['name']} failed: {error}")
        except ValidationError:  # what it says would quote the arguments
            return failed_result(call, OUTDATED, "invalid_arguments")

    def _edited(self, call: ToolCall) -> Steps[Resolved | None]:
        """Check a call anew that was edited in the transcript since it was checked."""
        now = self._asked[call["id"]]
        if (now["name"], now["args"]) == (asked_name(call), asked_arguments(call)):
            return None
        context, loaded = self._scope.context, loaded_tools(self._state)
        return (yield from resolved(self._reach, now, context, approval=True, loaded=loaded))

    def _answer_at_hand(
        self, call: ToolCall, contract: Contract, scope: CallScope
    ) -> Steps[ToolMessage | None]:
        """Answer a call that may not run, or that cache or ledger knows the result of."""
        if why := self._forbidden(call, contract):
            return failed_result(call, why, "not_permitted")
        if why := contract.why_unavailable(scope):
            return failed_result(call, f"{call['name']} failed: {why}")
        if contract.cache_seconds:
            cached = yield from self._cache.get(contract, call)
            if cached is not None:
                most = self._scope.context.tool_result_limit
                told = {"cached": True, **self._changed(call)}
                return cached_result(call, cached, most=most, told=told)
        if contract.once:
            entry = yield from self._ledger.look_up(call)
            if entry is not None:
                return recorded_result(call, entry)
        return None

    def finish(self, work: AtWork, end: Ended, *, alone: bool) -> Steps[ToolMessage]:
        """Return a call's result, and tell ledger, cache and callbacks of it.

        Raises:
            GraphBubbleUp: The tool pauses the run, which it may do where its call is alone.
        """
        call, contract = work.call, work.contract
        if isinstance(end.error, GraphBubbleUp):
            if contract.once:
                yield from self._ledger.strike(call)
            end = paused(end, alone=alone)
        result = self.result(work, end)
        if contract.once:
            yield from self._ledger.close(call, result)
        if self._changing:
            # What was read beside a change may be older than it.
            yield from self._cache.clear()
        else:
            yield from self._cache.put(contract, call, result)
        yield from trace_end(work.trace, result)
        return result

    def result(self, work: AtWork, end: Ended) -> ToolMessage:
        """Return a call's result by how its job ended, the same where it is asked for twice."""
        made = self._made.get(work.call["id"])
        if made is None or made[0] is not end:
            made = self._made[work.call["id"]] = end, self._new_result(work, end)
        return made[1]

    def _new_result(self, work: AtWork, end: Ended) -> ToolMessage:
        told = {"seconds": round(end.seconds, 6), **self._changed(work.call)}
        most, once = self._scope.context.tool_result_limit, work.contract.once
        result = result_of(work.call, work.job, end, most=most, once=once, told=told)
        if work.hidden and isinstance(result.content, str):
            result.content = without(result.content, work.hidden)
        return result

    def _forbidden(self, call: ToolCall, contract: Contract) -> str | None:
        """Say why a call may not run, whatever led here: a resume, or state edited by hand."""
        if contract.effect == "state_changing" and self._scope.context.read_only:
            return f"not executed: {contract.name} changes state, and this run is read-only"
        if contract.requires_confirmation and self._approved.get(call["id"] or "") != digest_of(
            call
        ):
            return f"not executed: nobody approved this call of {contract.name}"
        return None

    def _changed(self, call: ToolCall) -> dict[str, Any]:
        """Note the arguments a call ran with where they are not those that the model wrote."""
        if asked_arguments(call) == call["args"]:
            return {}
        secret = sealed(call)
        return {"arguments": call["args"], **({"sealed": secret} if secret else {})}


def recorded_result(call: ToolCall, entry: Entry) -> ToolMessage:
    """Answer a call from the ledger: it ran before, or may have."""
    told: dict[str, Any] = {"seconds": 0.0, "from_ledger": True}
    if not entry.ended:
        return failed_result(call, UNKNOWN, "interrupted", **told)
    if entry.status == "error":
        return failed_result(call, entry.content, **told)
    return good_result(call, entry.content, told)


def _is_call(call: Any) -> bool:
    return (
        isinstance(call, dict)
        and all(isinstance(call.get(key), str) for key in ("id", "name"))
        and isinstance(call.get("args"), dict)
        and isinstance(call.get("asked", {}), dict)
    )


def _asked(state: State) -> dict[str | None, ToolCall]:
    """Map ids to the newest reply's calls as they stand in the transcript, those answered left out.

    One may be answered already where a caller sent a run to this node while the call waited.
    """
    messages = state["messages"]
    reply = newest_reply(messages)
    answered = set()
    for message in reversed(messages):
        if message is reply:
            break
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
    return {call["id"]: call for call in reply.tool_calls if call["id"] not in answered}
