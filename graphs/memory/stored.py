"""What of a run is stored with its checkpoints: no keys, no headers, secret answers sealed."""

import contextlib
from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.serde.types import ERROR, RESUME

from graphs.errors import UsageError
from graphs.vault import VAULT, SealedError
from tools.redact import redact, redact_data

_KEPT_METADATA = (
    "source",
    "step",
    "parents",
    "counters_since_delta_snapshot",
    "run_id",
    "graph_id",
    "assistant_id",
)
"""What LangGraph and its server read back; the rest of a config (keys, headers) stays off disk."""

_SEALED = "rungs_sealed"


def require_thread(config: RunnableConfig) -> None:
    """Refuse a thread id that is missing or blank, which would be one thread for everybody.

    Raises:
        UsageError: It is.
    """
    thread = config["configurable"].get("thread_id")
    if thread is None or not str(thread).strip():
        raise UsageError(
            "a thread id is required: pass config={'configurable': {'thread_id': '...'}}"
        )


def kept(metadata: CheckpointMetadata, config: RunnableConfig) -> dict[str, Any]:
    """Return what of a checkpoint's metadata, and of its run's config, is stored."""
    found: dict[str, Any] = {}
    sources: tuple[Mapping[str, Any] | None, ...] = (
        config.get("configurable"),
        config.get("metadata"),
        metadata,
    )
    for source in sources:
        if source:
            found.update((name, source[name]) for name in _KEPT_METADATA if name in source)
    return found


def run_of(config: RunnableConfig) -> str | None:
    """Return the id of the run that writes, where it has one: LangGraph's server gives each one."""
    for source in (config.get("configurable"), config.get("metadata")):
        if source and source.get("run_id"):
            return str(source["run_id"])
    return None


def storable(channel: str, value: Any) -> Any:
    """Redact an exception, which may echo a key, and seal an answer that holds a secret."""
    if channel == ERROR and isinstance(value, BaseException):
        return redact(repr(value))
    if channel == RESUME and redact_data(value) != value:
        return {_SEALED: VAULT.seal(value)}
    return value


def opened(saved: CheckpointTuple) -> CheckpointTuple:
    """Open the answers that were sealed; one whose key is not here was never given."""
    writes = saved.pending_writes
    if not writes or not any(channel == RESUME for _, channel, _ in writes):
        return saved
    answers = []
    for task, channel, value in writes:
        if channel == RESUME and isinstance(value, dict) and value.keys() == {_SEALED}:
            with contextlib.suppress(SealedError):
                answers.append((task, channel, VAULT.open(value[_SEALED])))
        else:
            answers.append((task, channel, value))
    return saved._replace(pending_writes=answers)
