"""The newest checkpoint of a thread, and what it tells of the thread's newest run."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple
from langgraph.checkpoint.serde.types import INTERRUPT
from langgraph.constants import START

from graphs.memory import Memory


def newest(memory: Memory, thread_id: str) -> CheckpointTuple | None:
    """Return the newest checkpoint of a thread; None where it has none yet."""
    return memory.saver.get_tuple(address(thread_id))


def address(thread_id: str) -> RunnableConfig:
    """Return the config that its saver knows it by."""
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}


def status_at(saved: CheckpointTuple) -> str | None:
    """Return the status that a checkpoint's newest run ended with.

    The status of the run before stands there until the new one's is written, and what LangGraph
    calls `next` is empty while the writes of a step wait for its checkpoint: neither tells. The
    versions of channels do: a status is the newest run's if no input came after it.
    """
    status = saved.checkpoint["channel_values"].get("status")
    versions: Mapping[str, Any] = saved.checkpoint["channel_versions"]
    came = versions.get(START)
    return str(status) if status and (came is None or versions["status"] >= came) else None


def is_cut_short(saved: CheckpointTuple) -> bool:
    """Tell whether the newest run was ended before its first step: it has its question alone."""
    stands = saved.checkpoint["channel_values"].get("status")
    return saved.metadata.get("source") == "input" or bool(stands and status_at(saved) is None)


def pauses(saved: CheckpointTuple) -> list[Any]:
    """Return the pauses that wait for a person, as each task wrote them."""
    writes = saved.pending_writes or ()
    # A task that wrote since has its answer: what comes next was only cut short.
    done = {task for task, channel, _ in writes if channel not in WRITES_IDX_MAP}
    return [wrote for task, channel, wrote in writes if channel == INTERRUPT and task not in done]
