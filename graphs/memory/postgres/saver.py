"""The checkpoint saver: LangGraph's own on Postgres, with whole writes and no secrets on disk."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg import Cursor
from psycopg.rows import DictRow

from graphs.memory.off_loop import OffLoopSaver, off_loop
from graphs.memory.postgres.connections import Pool, lend, persistently
from graphs.memory.postgres.texts import is_fit
from graphs.memory.stored import kept, opened, require_thread, storable
from tools.notes import user_label

_TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
_UNFIT = "rungs_value"
"""Marks a value that lies beside a checkpoint's JSON, which can't hold it."""


class Saver(OffLoopSaver, PostgresSaver):
    """Checkpoints in the database; it keeps true all that the memory file's saver does.

    Its calls share the connections of a pool, and wait for none but their own.
    """

    def __init__(self, pool: Pool, executor: Executor) -> None:
        super().__init__(pool)
        self._pool = pool
        self._executor = executor

    @contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Iterator[Cursor[DictRow]]:
        with lend(self._pool, whole=pipeline) as cursor:
            yield cursor

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that the config names, or the thread's newest.

        Raises:
            UsageError: The thread id is missing or blank.
        """
        require_thread(config)
        found = super().get_tuple(_place(config))
        return found if found is None else opened(_read(found))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's signature
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """List checkpoints, newest first, read at once so that no connection is held."""
        place = _place(config) if config else None
        found = super().list(place, filter=filter, before=before, limit=limit)
        return iter([opened(_read(saved)) for saved in found])

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint and the values that are new in it.

        Raises:
            UsageError: The thread id is missing or blank.
        """
        require_thread(config)
        values = checkpoint["channel_values"]
        fit = {name: v if is_fit(v) else {_UNFIT: v} for name, v in values.items()}
        about = cast("CheckpointMetadata", kept(metadata, config))
        whole = cast("Checkpoint", {**checkpoint, "channel_values": fit})
        saved = persistently(
            lambda: super(Saver, self).put(_place(config), whole, about, new_versions)
        )
        saved["configurable"]["thread_id"] = config["configurable"]["thread_id"]
        return saved

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Do `put` off the event loop."""
        return await off_loop(self._executor, self.put, config, checkpoint, metadata, new_versions)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save what one task wrote, all or not at all."""
        if not writes:
            return
        fit = [(channel, storable(channel, value)) for channel, value in writes]
        persistently(lambda: super(Saver, self).put_writes(_place(config), fit, task_id, task_path))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Do `put_writes` off the event loop."""
        await off_loop(self._executor, self.put_writes, config, writes, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread: its checkpoints, its ledger and the record of it."""
        ledger = ".".join(("ledger", user_label(thread_id)))
        with lend(self._pool, whole=True) as cursor:
            for table in _TABLES:
                cursor.execute(
                    f"DELETE FROM {table} WHERE thread_id = %s",  # noqa: S608 - our own names
                    (str(thread_id),),
                )
            cursor.execute("DELETE FROM store WHERE prefix = %s", (ledger,))
            cursor.execute(
                "DELETE FROM store WHERE prefix = 'threads' AND key = %s", (str(thread_id),)
            )

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history, which a `DeltaChannel` is rebuilt from."""
        with lend(self._pool, whole=True) as cursor:
            for table in _TABLES:
                columns = cursor.execute(
                    "SELECT attname FROM pg_attribute "
                    "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped",
                    (table,),
                ).fetchall()
                others = ", ".join(r["attname"] for r in columns if r["attname"] != "thread_id")
                cursor.execute(
                    f"INSERT INTO {table} (thread_id, {others}) "  # noqa: S608 - our own names
                    f"SELECT %s, {others} FROM {table} WHERE thread_id = %s",
                    (str(target_thread_id), str(source_thread_id)),
                )


def _place(config: RunnableConfig) -> RunnableConfig:
    """Return of a config what names a checkpoint, the thread's id as text."""
    here = config["configurable"]
    names = ("checkpoint_ns", "checkpoint_id")
    place = {name: here[name] for name in names if here.get(name) is not None}
    return {"configurable": {"thread_id": str(here["thread_id"]), **place}}


def _read(saved: CheckpointTuple) -> CheckpointTuple:
    """Take the values out that lay beside the checkpoint's JSON."""
    values = saved.checkpoint["channel_values"]
    beside = [name for name, v in values.items() if isinstance(v, dict) and v.keys() == {_UNFIT}]
    for name in beside:
        values[name] = values[name][_UNFIT]
    return saved
