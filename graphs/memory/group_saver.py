"""A saver whose checkpoints are written together with those that come at the same time."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, Generic

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata

from graphs.errors import UsageError
from graphs.memory.group_commit import GroupCommit, Row
from graphs.memory.history import Place, superseded
from graphs.memory.off_loop import OffLoopSaver, off_loop
from graphs.memory.stored import require_thread

_STRATEGIES = ("keep_latest", "delete")


class GroupSaver(OffLoopSaver, Generic[Row]):
    """What savers do alike, whichever database they are on.

    It keeps true that
    * a finished step is kept when `put` or `put_writes` returns, and outlives the process; those
      of callers that come at the same time are written in one transaction;
    * the writes of one task are recorded all or not at all;
    * no async method runs SQL on the event loop, or waits for a thread that a tool may occupy;
    * of a run's config only ids are stored, and of an exception its text without credentials;
    * of what a person answers to a pause, what holds a secret is stored encrypted;
    * a run that is rolled back takes along what it wrote, and nothing that another one needs;
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

    @abstractmethod
    def _nothing(self) -> Row:
        """Return what saves nothing."""

    @abstractmethod
    def _undo(self, runs: Sequence[str]) -> None:
        """Delete what `history.undone` names, all or nothing."""

    @abstractmethod
    def _forget(self, places: Sequence[Place]) -> None:
        """Delete checkpoints with what was written to them, all or nothing."""

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

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Roll runs back: their threads are as before them. The ledger tells what was executed.

        A pause that a run has answered waits again. What another run has gone on from stays.

        Args:
            run_ids: The runs, which have ended; one without an id can't be rolled back.
        """
        self._group.write_now(self._nothing())  # after what a cancelled call still had to write
        self._undo([str(run) for run in run_ids])

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Roll runs back, as `delete_for_runs` does."""
        await self._group.write(self._nothing)
        await off_loop(self._executor, self._undo, [str(run) for run in run_ids])

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete threads, or what their latest checkpoints don't need.

        Args:
            thread_ids: The threads.
            strategy: `keep_latest`, or `delete` for all of it, as `delete_thread` does.

        Raises:
            UsageError: There is no such strategy, or the ids are one text.
        """
        if isinstance(thread_ids, str):
            raise UsageError("thread_ids is one text: pass a list of thread ids")
        if strategy not in _STRATEGIES:
            raise UsageError(
                f"there is no strategy {strategy!r} to prune by: {' or '.join(_STRATEGIES)}"
            )
        for thread in map(str, thread_ids):
            if strategy == "delete":
                self.delete_thread(thread)
            else:
                self._forget(superseded(self.list({"configurable": {"thread_id": thread}})))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete threads, or what their latest checkpoints don't need, as `prune` does."""
        await off_loop(self._executor, self.prune, thread_ids, strategy=strategy)


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
