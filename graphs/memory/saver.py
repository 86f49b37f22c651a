"""The checkpoint saver: LangGraph's own on SQLite, with whole writes and no secrets on disk."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Cursor
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.sqlite import SqliteSaver

from graphs.memory.group_commit import GroupCommit
from graphs.memory.group_saver import GroupSaver
from graphs.memory.stored import kept, opened, require_thread, storable
from graphs.memory.tables import connect
from tools.notes import user_label

_PUT = (
    "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, "
    "parent_checkpoint_id, type, checkpoint, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_PUT_WRITES = (
    "INSERT OR {conflict} INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, "
    "task_path, idx, channel, type, value) VALUES {rows}"
)
Statement = tuple[str, Sequence[Any]]
"""SQL, and its values."""

_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Saver(GroupSaver[Statement], SqliteSaver):
    """Checkpoints in the memory file."""

    def __init__(self, path: Path, executor: Executor) -> None:
        super().__init__(connect(path))
        self._executor = executor
        self.is_setup = True  # `prepare` did it
        self._group = GroupCommit(executor, self._commit)

    def close(self) -> None:
        """Close the connection."""
        with self.lock:
            self.conn.close()

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[Cursor]:  # noqa: FBT001, FBT002
        """Lend a cursor under the lock; what a transaction did is kept whole or not at all."""
        with self.lock:
            cursor = self.conn.cursor()
            try:
                if transaction:
                    cursor.execute("BEGIN IMMEDIATE")
                yield cursor
                if transaction:
                    cursor.execute("COMMIT")
            except BaseException:
                if self.conn.in_transaction:
                    cursor.execute("ROLLBACK")
                raise
            finally:
                cursor.close()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that the config names, or the thread's newest.

        Raises:
            UsageError: The thread id is missing or blank.
        """
        require_thread(config)
        found = super().get_tuple(config)
        return found if found is None else opened(found)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's signature
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """List checkpoints, newest first, read at once so that the caller may use the saver."""
        found = super().list(config, filter=filter, before=before, limit=limit)
        return iter([opened(saved) for saved in found])

    def _checkpoint(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,  # noqa: ARG002 - of all savers
    ) -> Statement:
        here = config["configurable"]
        kind, blob = self.serde.dumps_typed(checkpoint)
        about = _to_json(kept(metadata, config)).encode("utf-8", "ignore")
        place = (str(here["thread_id"]), here["checkpoint_ns"], checkpoint["id"])
        return _PUT, (*place, here.get("checkpoint_id"), kind, blob, about)

    def _task_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
    ) -> Statement:
        here = config["configurable"]
        place = (str(here["thread_id"]), str(here["checkpoint_ns"]), str(here["checkpoint_id"]))
        values: list[Any] = []
        for index, (channel, value) in enumerate(writes):
            position = WRITES_IDX_MAP.get(channel, index)
            typed = self.serde.dumps_typed(storable(channel, value))
            values += (*place, task_id, task_path, position, channel, *typed)
        replaceable = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        statement = _PUT_WRITES.format(
            conflict="REPLACE" if replaceable else "IGNORE",
            rows=",".join(["(?,?,?,?,?,?,?,?,?)"] * len(writes)),
        )
        return statement, values

    def _commit(self, statements: Sequence[Statement]) -> None:
        """Do statements, all or none; one alone needs no transaction around it."""
        if len(statements) == 1:
            with self.lock:
                self.conn.execute(*statements[0])
        elif statements:
            with self.cursor() as cursor:
                for statement, values in statements:
                    cursor.execute(statement, values)

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread: its checkpoints, its ledger and the record of it."""
        ledger = ".".join(("ledger", user_label(thread_id)))
        with self.cursor() as cursor:
            for table in ("checkpoints", "writes"):
                cursor.execute(
                    f"DELETE FROM {table} WHERE thread_id = ?",  # noqa: S608 - our own names
                    (str(thread_id),),
                )
            cursor.execute("DELETE FROM store WHERE prefix = ?", (ledger,))
            cursor.execute(
                "DELETE FROM store WHERE prefix = 'threads' AND key = ?", (str(thread_id),)
            )

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history, which a `DeltaChannel` is rebuilt from."""
        with self.cursor() as cursor:
            for table in ("checkpoints", "writes"):
                columns = [row[1] for row in cursor.execute(f"PRAGMA table_info({table})")]
                others = ", ".join(column for column in columns if column != "thread_id")
                cursor.execute(
                    f"INSERT INTO {table} (thread_id, {others}) "  # noqa: S608 - our own names
                    f"SELECT ?, {others} FROM {table} WHERE thread_id = ?",
                    (str(target_thread_id), str(source_thread_id)),
                )

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002
        """Count a channel's versions, as wide as LangGraph's own: a thread may change savers.

        LangGraph's random tail keeps apart the values that other savers store by version. Here
        they are stored with their checkpoint, where the tails were a third of the row.
        """
        number = 0 if current is None else int(str(current).split(".", 1)[0])
        return f"{number + 1:032}"
