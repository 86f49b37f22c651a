"""A saver whose checkpoints are written together with those that come at the same time."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, Generic

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata

from graphs.memory.group_commit import GroupCommit, Row
from graphs.memory.off_loop import OffLoopSaver
from graphs.memory.stored import require_thread


class GroupSaver(OffLoopSaver, Generic[Row]):
    """What savers do alike, whichever database they are on.

    It keeps true that
    * a finished step is kept when `put` or `put_writes` returns, and outlives the process; those
      of callers that come at the same time are written in one transaction;
    * the writes of one task are recorded all or not at all;
    * no async method runs SQL on the event loop, or waits for a thread that a tool may occupy;
    * of a run's config only ids are stored, and of an exception its text without credentials;
    * of what a person answers to a pause, what holds a secret is stored encrypted;
    * a blank thread id, which would be one thread for everybody, is refused.
    """

    _group: GroupCommit[Row]

    @abstractmethod
    def _checkpoint(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> Row:
        """Return a checkpoint as it is stored."""

    @abstractmethod
    def _task_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
    ) -> Row:
        """Return as it is stored what one task wrote."""

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint.

        Raises:
            UsageError: The thread id is missing or blank.
        """
        require_thread(config)
        self._group.write_now(self._checkpoint(config, checkpoint, metadata, new_versions))
        return _config_of(config, checkpoint)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint, as `put` does."""
        require_thread(config)
        await self._group.write(
            partial(self._checkpoint, config, checkpoint, metadata, new_versions)
        )
        return _config_of(config, checkpoint)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save what one task wrote, all or not at all."""
        if writes:
            self._group.write_now(self._task_writes(config, writes, task_id, task_path))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save what one task wrote, as `put_writes` does."""
        if writes:
            await self._group.write(partial(self._task_writes, config, writes, task_id, task_path))


def _config_of(config: RunnableConfig, checkpoint: Checkpoint) -> RunnableConfig:
    """Return the config that names a checkpoint."""
    here = config["configurable"]
    return {
        "configurable": {
            "thread_id": here["thread_id"],
            "checkpoint_ns": here["checkpoint_ns"],
            "checkpoint_id": checkpoint["id"],
        }
    }
