"""How often runs hit a limit of tool calls, and which tool's description may be to blame.

A run that calls tools until a limit ends it found no way to its answer, which is often the fault of
a description that does not say when to call a tool, or when to stop (seed "AI Tool Calling"). Each
such run is logged and counted in the graph's store; where one tool is often to blame, an alert is
logged too.
"""

import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.store.base import BaseStore, Item, PutOp

from graphs.calls import asked_name
from graphs.node import Scope
from graphs.repeats import NO_TOOL, WARNED
from graphs.transcript import reply_calls
from graphs.waiting import Steps, Wait

NAMESPACE = ("limits",)
OFTEN = 5
"""Runs in `WINDOW` that make an alert, a fixed number."""
WINDOW = 7 * 24 * 3600.0
"""Seconds for which a run counts, a fixed number: a week."""

_MOST = 1000

ADVICE = "a run %s %s (thread %s): does its description say when to call it, and when to stop?"
MISSING = "a run %s %s (thread %s): no such tool exists; does a prompt or a description name it?"

logger = logging.getLogger("rungs")

Limit = Literal["tool_limit", "stuck"]


@dataclass(frozen=True, slots=True)
class Hits:
    """How often a tool was to blame within the last week.

    Attributes:
        tool: The tool.
        tool_limit: Runs that it took to the limit of rounds or calls.
        stuck: Runs that called it again and again with nothing new.
        newest: When that happened last, UTC.
    """

    tool: str
    tool_limit: int
    stuck: int
    newest: datetime

    @property
    def often(self) -> bool:
        """Whether that is often enough for an alert."""
        return self.tool_limit + self.stuck >= OFTEN


def blamed(messages: Sequence[BaseMessage], limit: Limit) -> str | None:
    """Name the tool that took a run to its limit: the one that repeated, or the most called one.

    Args:
        messages: The transcript.
        limit: How the run ends.
    """
    told: Counter[str] = Counter()
    names: dict[str, str] = {}
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        if isinstance(message, ToolMessage):
            name = message.additional_kwargs.get("tool") or message.name or "unknown"
            if limit == "stuck" and message.additional_kwargs.get(WARNED):
                return name
            names[message.tool_call_id] = name
        elif isinstance(message, AIMessage):
            told.update(names.get(c["id"] or "", asked_name(c)) for c in reply_calls(message))
    return told.most_common(1)[0][0] if told else None


def _is_of_no_tool(messages: Sequence[BaseMessage]) -> bool:
    """Tell whether the newest warning of a repeat is of a tool that does not exist."""
    told = (m.additional_kwargs for m in reversed(messages) if isinstance(m, ToolMessage))
    newest: dict[str, Any] = next((one for one in told if one.get(WARNED)), {})
    return bool(newest.get(NO_TOOL))


def note_hit(
    messages: Sequence[BaseMessage], question: str, limit: Limit, scope: Scope
) -> Steps[None]:
    """Log that a run hit a limit, count it, and alert where its tool often is to blame.

    A tool that does not exist has no description to blame: the log says so, and there is no alert.
    """
    tool = blamed(messages, limit)
    if tool is None:
        return
    thread = scope.thread_id or "without an id"
    exists = limit != "stuck" or not _is_of_no_tool(messages)
    how = "was stuck on" if limit == "stuck" else "reached its limit of tools, most of all with"
    logger.warning(ADVICE if exists else MISSING, how, tool, thread)
    store = scope.store
    if store is None:
        return
    now = time.time()
    value = {"tool": tool, "limit": limit, "at": now}
    # One run counts once, also where its last step is done again after a crash.
    key = f"{thread}:{question}"
    yield Wait(
        lambda: store.put(NAMESPACE, key, value, index=False),
        lambda: store.aput(NAMESPACE, key, value, index=False),
    )
    kept: list[Item] = yield Wait(
        lambda: list(store.search(NAMESPACE, limit=_MOST)),
        lambda: store.asearch(NAMESPACE, limit=_MOST),
    )
    gone = [PutOp(i.namespace, i.key, None) for i in kept if i.value["at"] < now - WINDOW]
    if gone:
        yield Wait(lambda: store.batch(gone), lambda: store.abatch(gone))
    for hits in _count(kept, now):
        if hits.tool == tool and hits.often and exists:
            logger.error(
                "ALERT: %d runs in a week hit a limit with the tool %s: rewrite its description",
                hits.tool_limit + hits.stuck,
                tool,
            )


def hits_of(store: BaseStore) -> list[Hits]:
    """Count the runs of the last week that hit a limit, the most blamed tool first."""
    kept = store.search(NAMESPACE, limit=_MOST)
    return sorted(_count(kept, time.time()), key=lambda hits: -hits.tool_limit - hits.stuck)


def _count(items: Sequence[Item], now: float) -> Iterator[Hits]:
    found: dict[str, list[Item]] = {}
    for item in items:
        if item.value["at"] >= now - WINDOW:
            found.setdefault(item.value["tool"], []).append(item)
    for tool, of_tool in found.items():
        limits = Counter(item.value["limit"] for item in of_tool)
        newest = datetime.fromtimestamp(max(item.value["at"] for item in of_tool), UTC)
        yield Hits(tool, limits["tool_limit"], limits["stuck"], newest)
