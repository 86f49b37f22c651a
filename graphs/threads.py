"""The threads of a memory file: who began them, what was asked, and how they stand."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from langgraph.store.base import Item

from graphs.errors import UsageError
from graphs.memory import Memory

NAMESPACE = ("threads",)
SETTINGS = ("model", "docs", "tools", "company", "read_only", "max_tool_rounds")
"""What of a run's settings is kept with its thread, so that `rungs resume` needs no flags."""

_PAGE = 200
_QUESTION_SHOWN = 500


@dataclass(frozen=True, slots=True)
class Thread:
    """One thread.

    Attributes:
        thread_id: Its id.
        user_id: Who began it; None: nobody in particular.
        graph: Name of the graph that ran in it last.
        question: The newest question, cut to 500 characters.
        status: Status of the newest run; `waiting` for a person's answer, or `unfinished`.
        created: When it began, UTC.
        updated: When its newest run began, UTC.
        settings: What `rungs resume` needs to go on: model, docs, tools and the like.
    """

    thread_id: str
    user_id: str | None
    graph: str
    question: str
    status: str
    created: datetime
    updated: datetime
    settings: dict[str, Any] = field(default_factory=dict)


def enter_thread(
    memory: Memory,
    thread_id: str,
    *,
    user_id: str | None,
    graph: str,
    question: str | None,
    settings: Mapping[str, Any],
) -> None:
    """Note that a run begins in a thread, which it may do only in its own user's.

    Args:
        memory: The memory file.
        thread_id: The thread, new or not.
        user_id: Who runs it.
        graph: The graph that runs.
        question: The new question; None goes on with the unfinished run.
        settings: What of the run is kept for resuming it.

    Raises:
        UsageError: The thread is another user's; or there is nothing to go on with.
    """
    item = memory.store.get(NAMESPACE, thread_id)
    if item is None:
        if question is None:
            raise UsageError(
                f"there is no thread {thread_id} to resume: `rungs threads` lists yours"
            )
        now = time.time()
        record: dict[str, Any] = {"user_id": user_id, "created": now}
    else:
        _check_owner(item, user_id)
        record = dict(item.value)
    record |= {"graph": graph, "updated": time.time()}
    if question is not None:
        record["question"] = question[:_QUESTION_SHOWN]
    kept = {key: settings[key] for key in SETTINGS if settings.get(key) is not None}
    record["settings"] = {**record.get("settings", {}), **kept}
    memory.store.put(NAMESPACE, thread_id, record)


def list_threads(memory: Memory, user_id: str | None = None) -> list[Thread]:
    """List a user's threads, newest first; without a user those that belong to nobody."""
    found: list[Item] = []
    while page := memory.store.search(NAMESPACE, limit=_PAGE, offset=len(found)):
        found += page
    mine = [item for item in found if item.value.get("user_id") == user_id]
    mine.sort(key=lambda item: -item.value["updated"])
    return [_thread(memory, item) for item in mine]


def get_thread(memory: Memory, thread_id: str, user_id: str | None = None) -> Thread:
    """Return one thread.

    Raises:
        UsageError: There is no such thread, or it is another user's.
    """
    item = memory.store.get(NAMESPACE, thread_id)
    if item is None:
        raise UsageError(f"there is no thread {thread_id}: `rungs threads` lists yours")
    _check_owner(item, user_id)
    return _thread(memory, item)


def _check_owner(item: Item, user_id: str | None) -> None:
    owner = item.value.get("user_id")
    if owner and owner != user_id:
        raise UsageError(
            f"thread {item.key} belongs to another user: name its user, or begin a new thread"
        )


def _thread(memory: Memory, item: Item) -> Thread:
    value = item.value
    return Thread(
        thread_id=item.key,
        user_id=value.get("user_id"),
        graph=value["graph"],
        question=value.get("question", ""),
        status=_status(memory, item.key),
        created=datetime.fromtimestamp(value["created"], UTC),
        updated=datetime.fromtimestamp(value["updated"], UTC),
        settings=value.get("settings", {}),
    )


def _status(memory: Memory, thread_id: str) -> str:
    """Read how the newest run stands from its newest checkpoint, without reading the transcript."""
    config = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
    saved = memory.saver.get_tuple(config)  # type: ignore[arg-type]
    if saved is None:
        return "unfinished"
    if any(channel == "__interrupt__" for _, channel, _ in saved.pending_writes or ()):
        return "waiting"
    if saved.metadata.get("source") == "input":
        return "unfinished"
    return str(saved.checkpoint["channel_values"].get("status") or "unfinished")
