"""What is done for each call of a round before and after its tool runs."""

import inspect
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langgraph.errors import GraphBubbleUp

from graphs.context import Context
from graphs.ledger import UNKNOWN, Entry, Ledger, digest_of
from graphs.node import Scope
from graphs.reach import Reach
from graphs.results_cache import ResultsCache
from graphs.running import Ended, Job
from graphs.state import State, current
from graphs.tool_events import trace_end, trace_start
from graphs.tool_results import Shown, good_result, result_of, show
from graphs.transcript import failed_result
from graphs.waiting import Steps
from tools import CallScope, Contract, InjectionError


@dataclass(frozen=True, slots=True)
class AtWork:
    """A call whose tool is to run.

    Attributes:
        call: The call.
        contract: Its tool.
        job: What runs.
        trace: What callback handlers were told, to be told the end.
    """

    call: ToolCall
    contract: Contract
    job: Job
    trace: Any


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
        self._cache = ResultsCache(scope.store if reach.caches else None, scope.context.user)
        self._ledger = Ledger(scope.store, scope.thread_id)

    def prepare(self, call: ToolCall) -> Steps[ToolMessage | AtWork]:
        """Return a call's result where its tool need not run, else the tool ready to run."""
        contract = self._reach.contract_of(call)
        if contract is None:
            gone = f"tool {call['name']} is no longer available"
            return failed_result(call, gone, "unknown_tool")
        scope = _call_scope(call, self._state, self._scope)
        answer = yield from self._answer_at_hand(call, contract, scope)
        if answer is not None:
            return answer
        try:
            job = _job(contract, call, scope, self._scope.context)
        except InjectionError as error:
            return failed_result(call, f"{call['name']} failed: {error}")
        if contract.once and not (yield from self._ledger.enter(call)):
            return failed_result(call, UNKNOWN, "interrupted")
        self._changing = self._changing or contract.effect == "state_changing"
        trace = yield from trace_start(self._scope, contract, call)
        return AtWork(call, contract, job, trace)

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
                return good_result(call, cached, {"cached": True, **self._changed(call)})
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
            end = _paused(end, alone=alone)
        told = {"seconds": round(end.seconds, 6), **self._changed(call)}
        most = self._scope.context.tool_result_limit
        result = result_of(call, work.job, end, most=most, once=contract.once, told=told)
        if contract.once:
            yield from self._ledger.close(call, result)
        if self._changing:
            # What was read beside a change may be older than it.
            yield from self._cache.clear()
        else:
            yield from self._cache.put(contract, call, result)
        yield from trace_end(work.trace, result)
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
        return {} if self._asked.get(call["id"]) == call["args"] else {"arguments": call["args"]}


def _call_scope(call: ToolCall, state: State, scope: Scope) -> CallScope:
    runtime = scope.runtime
    if runtime.context is not scope.context:
        runtime = runtime.override(context=scope.context)
    return CallScope(runtime, scope.config, state, call["id"] or "")


def _job(contract: Contract, call: ToolCall, given: CallScope, context: Context) -> Job:
    arguments = contract.fill(call["args"], given)
    most = context.tool_result_limit
    sync, asynchronous = contract.sync, contract.asynchronous

    def body() -> Any:
        if sync is None:
            raise TypeError(f"{contract.name} has no function to call")
        value = sync(**arguments)
        return _shown_later(value) if inspect.isawaitable(value) else show(value, most)

    async def _shown_later(value: Awaitable[Any]) -> Shown:
        return show(await value, most)

    async def abody() -> Shown:
        if asynchronous is None:
            raise TypeError(f"{contract.name} has no coroutine to await")
        return show(await asynchronous(**arguments), most)

    return Job(
        sync=body if sync else None,
        asynchronous=abody if asynchronous else None,
        timeout=contract.timeout or context.tool_timeout,
    )


def recorded_result(call: ToolCall, entry: Entry) -> ToolMessage:
    """Answer a call from the ledger: it ran before, or may have."""
    told: dict[str, Any] = {"seconds": 0.0, "from_ledger": True}
    if not entry.ended:
        return failed_result(call, UNKNOWN, "interrupted", **told)
    if entry.status == "error":
        return failed_result(call, entry.content, **told)
    return good_result(call, entry.content, told)


def _paused(end: Ended, *, alone: bool) -> Ended:
    """Let a tool that calls `interrupt` pause the run, where no other call would run again for it.

    Raises:
        GraphBubbleUp: The pause.
    """
    if alone and end.error is not None:
        raise end.error
    return replace(
        end, error=ValueError("it waits for a person, which it may do only as the reply's one call")
    )


def _asked(state: State) -> dict[str | None, dict[str, Any]]:
    """Map the ids of the newest reply's calls to the arguments as the model wrote them."""
    for message in reversed(state["messages"]):
        if isinstance(message, AIMessage):
            return {call["id"]: call["args"] for call in message.tool_calls}
    return {}
