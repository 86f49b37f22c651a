"""Calls of `tool_search`: how they are told from others, and what the search log keeps of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, ToolCall, ToolMessage

from graphs.calls import via
from graphs.node import Scope
from graphs.waiting import Steps, Wait
from tools.search_log import Search, arecord, arecord_calls, record, record_calls
from tools.search_tools import TOOL_SEARCH


def is_search(call: ToolCall) -> bool:
    """Tell a call of `tool_search` from a call of another tool."""
    return call["name"] == TOOL_SEARCH and not via(call)


def log_search(scope: Scope, call: ToolCall, result: ToolMessage, *, step: int) -> Steps[None]:
    """Keep a search in the log of the run's store, with what it returned."""
    store, told = scope.store, result.additional_kwargs
    if store is None:
        return
    kept = Search(
        query=call["args"]["query"],
        limit=call["args"].get("limit") or len(told["found"]),
        returned=told["found"],
        matched=told["matched"],
        available=told["available"],
        thread=scope.thread_id,
        user=scope.context.user,
        step=step,
        call_id=call["id"] or "",
        at=datetime.now(UTC).isoformat(),
        called=[],
    )
    yield Wait(lambda: record(store, kept), lambda: arecord(store, kept))


def log_calls(
    scope: Scope, messages: Sequence[BaseMessage], calls: Sequence[ToolCall]
) -> Steps[None]:
    """Write down what was called after the searches of a run, found or not."""
    store = scope.store
    called = [call["name"] for call in calls if not is_search(call)]
    searches = _searches(messages)
    if store is None or not called or not searches:
        return
    thread: Any = scope.thread_id
    yield Wait(
        lambda: record_calls(store, thread, searches, called),
        lambda: arecord_calls(store, thread, searches, called),
    )


def _searches(messages: Sequence[BaseMessage]) -> list[str]:
    """List the ids of the searches since the newest question."""
    found: list[str] = []
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        if isinstance(message, ToolMessage) and "found" in message.additional_kwargs:
            found.append(message.tool_call_id)
    return found[::-1]
