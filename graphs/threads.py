"""The threads of a memory file: who began them, what was asked, and how they stand."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.store.base import Item

from graphs.entering import NAMESPACE, SETTINGS
from graphs.errors import UsageError
from graphs.memory import Memory
from graphs.newest_checkpoint import address, is_cut_short, newest, pauses, status_at

_PAGE = 200
_QUESTION_SHOWN = 500
_PAUSE_ID = re.compile(r"[0-9a-f]{32}")
_NOTHING = ""
"""Stands for the newest checkpoint of a thread that has none yet."""


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
    from_notes: str | None = None,
    settings: Mapping[str, Any],
) -> dict[str, Any] | None:
    """Note that a run begins in a thread, which it may do only in its own user's.

    A thread of nobody's becomes the user's who runs it.

    Args:
        memory: The memory file.
        thread_id: The thread, new or not.
        user_id: Who runs it.
        graph: The graph that runs.
        question: The new question; None goes on with the unfinished run.
        from_notes: The notes that are given with the question, if any.
        settings: What of the run is kept for resuming it.

    Returns:
        The input anew where a run goes on of which no step was written; else None.

    Raises:
        UsageError: The thread is another user's; or there is nothing to go on with.
    """
    item = memory.store.get(NAMESPACE, thread_id)
    record: dict[str, Any] = dict(item.value) if item else {"created": time.time()}
    saved = newest(memory, thread_id)
    # A thread that the server began, or another saver's, has an owner in its checkpoint alone.
    owner = record.get("user_id") or (saved and saved.checkpoint["channel_values"].get("owner"))
    _check_owner(thread_id, owner, user_id)
    if item is None and saved is None and question is None:
        raise UsageError(f"there is no thread {thread_id} to resume: `rungs threads` lists yours")
    is_unrecorded = question is None and _unrecorded(record, saved) is not None
    record |= {"user_id": owner or user_id, "graph": graph, "updated": time.time()}
    if question is not None:
        record |= {"question": question, "follows": _id(saved), "from_notes": from_notes}
    kept = {key: settings[key] for key in SETTINGS if settings.get(key) is not None}
    record["settings"] = {**record.get("settings", {}), **kept}
    memory.store.put(NAMESPACE, thread_id, record)
    return _asked(record["question"], record.get("from_notes")) if is_unrecorded else None


def unrecorded_question(memory: Memory, thread_id: str) -> str | None:
    """Return a thread's newest question where its run was ended before its first checkpoint."""
    item = memory.store.get(NAMESPACE, thread_id)
    return _unrecorded(item.value, newest(memory, thread_id)) if item else None


def stopped_early(memory: Memory, thread_id: str) -> dict[str, Any] | None:
    """Return the input that goes on where a run stopped early: its question, and its notes.

    None where the newest run of the thread did not stop early.
    """
    item, saved = memory.store.get(NAMESPACE, thread_id), newest(memory, thread_id)
    if item is None or saved is None or status_at(saved) != "stopped_early":
        return None
    if _unrecorded(item.value, saved) is not None:
        return None
    return _asked(item.value["question"], saved.checkpoint["channel_values"].get("notes"))


def takes_new_limit(memory: Memory, thread_id: str) -> bool:
    """Tell whether what goes on in a thread may be given another limit: its run has yet to begin.

    So it has where the run before it stopped early, or where it was killed before its first step.
    """
    item, saved = memory.store.get(NAMESPACE, thread_id), newest(memory, thread_id)
    if saved is None or (item is not None and _unrecorded(item.value, saved) is not None):
        return True
    return is_cut_short(saved) or status_at(saved) == "stopped_early"


def ended_with(memory: Memory, thread_id: str) -> str | None:
    """Return the status of a thread's newest run; None where it has not ended, or there is none."""
    saved = newest(memory, thread_id)
    return status_at(saved) if saved else None


async def aended_with(memory: Memory, thread_id: str) -> str | None:
    """Do what `ended_with` does, without blocking the loop."""
    saved = await memory.saver.aget_tuple(address(thread_id))
    return status_at(saved) if saved else None


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
    _check_owner(thread_id, item.value.get("user_id"), user_id)
    return _thread(memory, item)


def _check_owner(thread_id: str, owner: str | None, user_id: str | None) -> None:
    if owner and owner != user_id:
        raise UsageError(
            f"thread {thread_id} belongs to another user: name its user, or begin a new thread"
        )


def _thread(memory: Memory, item: Item) -> Thread:
    value = item.value
    return Thread(
        thread_id=item.key,
        user_id=value.get("user_id"),
        graph=value["graph"],
        question=value.get("question", "")[:_QUESTION_SHOWN],
        status=_status(memory, item),
        created=datetime.fromtimestamp(value["created"], UTC),
        updated=datetime.fromtimestamp(value["updated"], UTC),
        settings=value.get("settings", {}),
    )


def _status(memory: Memory, item: Item) -> str:
    """Tell by its newest checkpoint how a thread's newest run stands, the transcript unread."""
    saved = newest(memory, item.key)
    if saved is None or _unrecorded(item.value, saved) is not None:
        return "unfinished"
    if pauses(saved):
        return "waiting"
    return status_at(saved) or "unfinished"


def check_answer(memory: Memory, thread_id: str, answer: Any) -> None:
    """Refuse an answer to what does not wait: LangGraph says nothing of one, and waits on.

    Args:
        memory: The opened memory file.
        thread_id: The thread.
        answer: The answer, or answers by the ids of the pauses that they are to.

    Raises:
        UsageError: Nothing waits, or an answer names another pause.
    """
    saved = newest(memory, thread_id)
    waiting = {pause.id for wrote in pauses(saved) for pause in wrote} if saved else set()
    if not waiting:
        raise UsageError(f"nothing in thread {thread_id} waits for an answer")
    ids = list(answer) if isinstance(answer, Mapping) else []
    if not all(isinstance(key, str) and _PAUSE_ID.fullmatch(key) for key in ids):
        return
    if stale := [key for key in ids if key not in waiting]:
        raise UsageError(
            f"the answer is to {stale[0]}, which does not wait in thread {thread_id}, or no "
            f"longer; what waits is {', '.join(sorted(waiting))}"
        )


def _unrecorded(record: Mapping[str, Any], saved: CheckpointTuple | None) -> str | None:
    """Return the question of a run that left no checkpoint: the newest is the one before it."""
    return record["question"] if record.get("follows") == _id(saved) else None


def _asked(question: str, notes: str | None) -> dict[str, Any]:
    return {"messages": [("user", question)], **({"from_notes": notes} if notes else {})}


def _id(saved: CheckpointTuple | None) -> str:
    return saved.checkpoint["id"] if saved else _NOTHING
