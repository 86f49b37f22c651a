"""`run_tools`: runs the checked calls side by side; each gets exactly one result."""

import functools
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langgraph.errors import GraphBubbleUp

from graphs import audit
from graphs.context import Context
from graphs.node import Node, Scope, Update
from graphs.results_cache import ResultsCache
from graphs.running import Ended, Job, run_all
from graphs.state import State
from graphs.transcript import failed_result
from graphs.waiting import Steps
from tools import CallScope, Contract, InjectionError, describe_error, limit, redact, render


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
        cache = ResultsCache(scope.store if caching else None, scope.context.user)
        asked = _asked(state)
        results: dict[str | None, ToolMessage] = {}
        jobs: list[tuple[ToolCall, Contract, Job]] = []
        for call in calls:
            contract = contracts.get(call["name"])
            if contract is None:
                results[call["id"]] = failed_result(
                    call, f"tool {call['name']} is no longer available"
                )
                continue
            cached = yield from cache.get(contract, call)
            if cached is not None:
                told = {"cached": True, **_changed(call, asked)}
                results[call["id"]] = _result(call, cached, told)
                continue
            try:
                jobs.append((call, contract, _job(contract, call, state, scope)))
            except InjectionError as error:
                results[call["id"]] = failed_result(call, f"{call['name']} failed: {error}")
        _tell(scope, "started", [call for call, _, _ in jobs])
        ended = (yield run_all([job for _, _, job in jobs])) if jobs else []
        for (call, contract, job), end in zip(jobs, ended, strict=True):
            if isinstance(end.error, GraphBubbleUp):
                raise end.error
            told = {"seconds": round(end.seconds, 6), **_changed(call, asked)}
            result = _read(call, end, job, scope.context, told)
            results[call["id"]] = result
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
    arguments = contract.fill(
        call["args"], CallScope(runtime, scope.config, state, call["id"] or "")
    )
    sync, asynchronous = contract.sync, contract.asynchronous
    return Job(
        sync=functools.partial(sync, **arguments) if sync else None,
        asynchronous=functools.partial(asynchronous, **arguments) if asynchronous else None,
        timeout=contract.timeout or scope.context.tool_timeout,
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


def _read(
    call: ToolCall, end: Ended, job: Job, context: Context, told: dict[str, Any]
) -> ToolMessage:
    """Make a call's one result of how it ended."""
    name = call["name"]
    if end.out_of_time:
        text = (
            f"{name} gave no result within {job.timeout:g} s and is no longer waited for; "
            "it may still finish: its outcome is unknown"
        )
        return failed_result(call, text, **told)
    if end.error is not None:
        text = limit(f"{name} failed: {describe_error(end.error)}", context.tool_result_limit)
        return failed_result(call, text, **told)
    if isinstance(end.value, ToolMessage) and end.value.status == "error":
        text = limit(redact(render(end.value)), context.tool_result_limit)
        return failed_result(call, text, **told)
    try:
        text = limit(redact(render(end.value)), context.tool_result_limit)
    except Exception as error:  # noqa: BLE001 - a value that can't be shown is the tool's failure, not the run's
        text = f"{name} returned what can't be shown: {describe_error(error)}"
        return failed_result(call, text, **told)
    return _result(call, text, told)


def _result(call: ToolCall, text: str, told: dict[str, Any]) -> ToolMessage:
    return ToolMessage(
        content=text, tool_call_id=call["id"] or "", name=call["name"], additional_kwargs=told
    )


def _tell(scope: Scope, state: str, calls: Sequence[ToolCall]) -> None:
    """Tell whoever streams `custom` which tools are at work, and with what."""
    for call in calls:
        scope.runtime.stream_writer(
            {"tool": call["name"], "call_id": call["id"], "arguments": call["args"], "state": state}
        )
