"""The checkpoint saver: LangGraph's own on SQLite, with whole writes and no secrets on disk."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from itertools import chain, groupby, islice
from operator import attrgetter
from pathlib import Path
from sqlite3 import Cursor
from typing import Any, NamedTuple

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
from graphs.memory.history import Made, Place, undone
from graphs.memory.stored import kept, opened, require_thread, run_of, storable
from graphs.memory.tables import connect
from tools.notes import user_label

_PLACE = "thread_id, checkpoint_ns, checkpoint_id"
_COLUMNS = {
    "writes": f"{_PLACE}, task_id, task_path, idx, channel, type, value, run_id",
    "checkpoints": f"{_PLACE}, parent_checkpoint_id, type, checkpoint, metadata",
}
_ROWS_AT_ONCE = 1000
"""Rows of one statement; SQLite takes some 32,000 values."""


class Rows(NamedTuple):
    """Rows of one table, and what is done with those that are there already."""

    table: str
    known: str
    rows: Sequence[tuple[Any, ...]]


_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Saver(GroupSaver[Rows], SqliteSaver):
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
    ) -> Rows:
        here = config["configurable"]
        kind, blob = self.serde.dumps_typed(checkpoint)
        about = _to_json(kept(metadata, config)).encode("utf-8", "ignore")
        place = (str(here["thread_id"]), here["checkpoint_ns"], checkpoint["id"])
        row = (*place, here.get("checkpoint_id"), kind, blob, about)
        return Rows("checkpoints", "REPLACE", [row])

    def _task_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
    ) -> Rows:
        here = config["configurable"]
        place = (str(here["thread_id"]), str(here["checkpoint_ns"]), str(here["checkpoint_id"]))
        run = run_of(config)
        rows = []
        for index, (channel, value) in enumerate(writes):
            position = WRITES_IDX_MAP.get(channel, index)
            typed = self.serde.dumps_typed(storable(channel, value))
            rows.append((*place, task_id, task_path, position, channel, *typed, run))
        replaceable = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        return Rows("writes", "REPLACE" if replaceable else "IGNORE", rows)

    def _commit(self, saved: Sequence[Rows]) -> None:
        """Save rows, all or none; one statement alone needs no transaction around it."""
        statements = list(_statements(saved))
        if len(statements) == 1:
            with self.lock:
                self.conn.execute(*statements[0])
        elif statements:
            with self.cursor() as cursor:
                for sql, values in statements:
                    cursor.execute(sql, values)

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

    def _nothing(self) -> Rows:
        return Rows("writes", "IGNORE", [])

    def _undo(self, runs: Sequence[str]) -> None:
        listed = json.dumps(runs)
        of_run = "json_extract(CAST(metadata AS TEXT), '$.run_id')"
        named = "IN (SELECT value FROM json_each(?))"
        with self.cursor() as cursor:
            found = cursor.execute(
                f"SELECT DISTINCT {_PLACE} FROM writes WHERE run_id {named}",  # noqa: S608 - our own
                (listed,),
            )
            written: list[Place] = found.fetchall()
            found = cursor.execute(
                f"SELECT {_PLACE}, parent_checkpoint_id, {of_run} FROM checkpoints "  # noqa: S608 - our own
                f"WHERE thread_id {named} OR thread_id IN "
                f"(SELECT thread_id FROM checkpoints WHERE {of_run} {named})",
                (json.dumps([place[0] for place in written]), listed),
            )
            gone, cleared = undone([Made(*row) for row in found], written, runs)
            _drop(cursor, gone)
            cursor.executemany(
                f"DELETE FROM writes WHERE ({_PLACE}) = (?, ?, ?) AND run_id {named}",  # noqa: S608 - our own
                [(*place, listed) for place in cleared],
            )

    def _forget(self, places: Sequence[Place]) -> None:
        with self.cursor() as cursor:
            _drop(cursor, places)

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002
        """Count a channel's versions, as wide as LangGraph's own: a thread may change savers.

        LangGraph's random tail keeps apart the values that other savers store by version. Here
        they are stored with their checkpoint, where the tails were a third of the row.
        """
        number = 0 if current is None else int(str(current).split(".", 1)[0])
        return f"{number + 1:032}"


def _drop(cursor: Cursor, places: Sequence[Place]) -> None:
    """Delete checkpoints, and what was written to them."""
    for table in _COLUMNS:
        cursor.executemany(f"DELETE FROM {table} WHERE ({_PLACE}) = (?, ?, ?)", places)  # noqa: S608 - our own


def _statements(saved: Sequence[Rows]) -> Iterator[tuple[str, list[Any]]]:
    """Put rows together in few statements: after each the thread waits for the interpreter's lock.

    Rows of one table stay in order.
    """
    for table, columns in _COLUMNS.items():
        alike = groupby((rows for rows in saved if rows.table == table), attrgetter("known"))
        for known, group in alike:
            left = chain.from_iterable(rows.rows for rows in group)
            while rows := list(islice(left, _ROWS_AT_ONCE)):
                marks = f"({','.join('?' * len(rows[0]))})"
                sql = f"INSERT OR {known} INTO {table} ({columns}) VALUES "  # noqa: S608 - our own names
                yield sql + ",".join([marks] * len(rows)), list(chain.from_iterable(rows))
