"""`run_tools`: runs the checked calls side by side; each gets exactly one result."""

import inspect
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langgraph.errors import GraphBubbleUp

from graphs import audit
from graphs.context import Context
from graphs.node import Node, Scope, Update
from graphs.results_cache import ResultsCache
from graphs.running import Ended, Job, run_all
from graphs.state import State
from graphs.tool_events import tell_started, trace_end, trace_start
from graphs.tool_results import Shown, good_result, result_of, show
from graphs.transcript import failed_result
from graphs.waiting import Steps
from tools import CallScope, Contract, InjectionError


def run_tools(tools: Sequence[Contract], *, context: type[Context]) -> Node:
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
    * only successful results of tools that ask for it are cached, and a tool that changes state
      empties its user's.

    Args:
        tools: The tools that exist.
        context: The variant's settings.
    """
    contracts = {tool.name: tool for tool in tools}
    caching = any(tool.cache_seconds for tool in tools)

    def body(state: State, scope: Scope) -> Steps[Update]:
        calls = state.get("calls", [])
        most = scope.context.tool_result_limit
        cache = ResultsCache(scope.store if caching else None, scope.context.user)
        asked = _asked(state)
        results: dict[str | None, ToolMessage] = {}
        at_work: list[tuple[ToolCall, Contract, Job, Any]] = []
        for call in calls:
            contract = contracts.get(call["name"])
            if contract is None:
                gone = f"tool {call['name']} is no longer available"
                results[call["id"]] = failed_result(call, gone)
                continue
            cached = yield from cache.get(contract, call)
            if cached is not None:
                told = {"cached": True, **_changed(call, asked)}
                results[call["id"]] = good_result(call, cached, told)
                continue
            try:
                job = _job(contract, call, state, scope)
            except InjectionError as error:
                results[call["id"]] = failed_result(call, f"{call['name']} failed: {error}")
                continue
            trace = yield from trace_start(scope, contract, call)
            at_work.append((call, contract, job, trace))
        tell_started(scope, [call for call, *_ in at_work])
        jobs = [job for _, _, job, _ in at_work]
        ended = (yield run_all(jobs)) if jobs else []
        for (call, contract, job, trace), end in zip(at_work, ended, strict=True):
            if isinstance(end.error, GraphBubbleUp):
                end = _paused(end, alone=len(calls) == 1)  # noqa: PLW2901 - an error in its place
            told = {"seconds": round(end.seconds, 6), **_changed(call, asked)}
            result = result_of(call, job, end, most, told)
            results[call["id"]] = result
            yield from trace_end(trace, result)
            yield from cache.put(contract, call, result)
        messages = [results[call["id"]] for call in calls]
        for call, result in zip(calls, messages, strict=True):
            audit.tool_call(scope, call, result, step=state["progress"]["rounds"])
        return {"messages": messages}

    return Node("run_tools", body, context)


def _job(contract: Contract, call: ToolCall, state: State, scope: Scope) -> Job:
    runtime = scope.runtime
    if runtime.context is not scope.context:
        runtime = runtime.override(context=scope.context)
    given = CallScope(runtime, scope.config, state, call["id"] or "")
    arguments = contract.fill(call["args"], given)
    most = scope.context.tool_result_limit
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
        timeout=contract.timeout or scope.context.tool_timeout,
    )


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


def _changed(call: ToolCall, asked: dict[str | None, dict[str, Any]]) -> dict[str, Any]:
    """Note the arguments a call ran with where they are not those that the model wrote."""
    return {} if asked.get(call["id"]) == call["args"] else {"arguments": call["args"]}
