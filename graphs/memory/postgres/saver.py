"""The checkpoint saver: LangGraph's own on Postgres, with whole writes and no secrets on disk."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from psycopg import Cursor
from psycopg.rows import DictRow

from graphs.memory.group_commit import GroupCommit
from graphs.memory.group_saver import GroupSaver
from graphs.memory.history import Made, Place, undone
from graphs.memory.postgres.connections import Pool, lend, persistently
from graphs.memory.postgres.rows import Row, Rows, statement
from graphs.memory.postgres.texts import is_fit
from graphs.memory.stored import kept, opened, require_thread, run_of, storable
from tools.notes import user_label

_TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
_PLAIN = (str, int, float, bool, type(None))
"""What lies in a checkpoint's JSON; all else lies beside it."""

_PLACE = "thread_id, checkpoint_ns, checkpoint_id"

_UNFIT = "rungs_value"
"""Marks a plain value that the JSON can't hold."""


class Saver(GroupSaver[Rows], PostgresSaver):
    """Checkpoints in the database.

    What is read shares the connections of a pool, and waits for no other call.
    """

    def __init__(self, pool: Pool, executor: Executor) -> None:
        super().__init__(pool)
        self._pool = pool
        self._executor = executor
        self._group = GroupCommit(executor, self._commit)

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

    def _checkpoint(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> Rows:
        """Return a checkpoint, with its plain values, and its other new values beside it."""
        place = _place(config)
        here = place["configurable"]
        key = (here["thread_id"], here["checkpoint_ns"])
        plain: dict[str, Any] = {}
        blobs: dict[Row, Row] = {}
        for name, value in checkpoint["channel_values"].items():
            if isinstance(value, _PLAIN) and is_fit(value):
                plain[name] = value
                continue
            # A snapshot's place is marked: LangGraph looks for one where it rebuilds a channel.
            if isinstance(value, _DeltaSnapshot):
                plain[name] = True
            if name in new_versions:
                beside = {_UNFIT: value} if isinstance(value, _PLAIN) else value
                blobs[*key, name, str(new_versions[name])] = self.serde.dumps_typed(beside)
        about = get_serializable_checkpoint_metadata(
            place, cast("CheckpointMetadata", kept(metadata, config))
        )
        parent = here.get("checkpoint_id")
        texts = [json.dumps(each) for each in ({**checkpoint, "channel_values": plain}, about)]
        return {"blobs": blobs, "checkpoints": {(*key, checkpoint["id"]): (parent, *texts)}}

    def _task_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
    ) -> Rows:
        here = _place(config)["configurable"]
        key = (here["thread_id"], here["checkpoint_ns"], here["checkpoint_id"], task_id)
        marks = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        rows: dict[Row, Row] = {}
        run = run_of(config)
        for index, (channel, value) in enumerate(writes):
            row = (*key, WRITES_IDX_MAP.get(channel, index))
            if marks or row not in rows:
                typed = self.serde.dumps_typed(storable(channel, value))
                rows[row] = (task_path, channel, *typed, run)
        return {"marks" if marks else "writes": rows}

    def _commit(self, saved: Sequence[Rows]) -> None:
        """Save what several calls save, all or nothing, in one round trip."""
        if any(saved):
            persistently(partial(self._execute, *statement(saved)))

    def _execute(self, sql: str, lists: Sequence[Sequence[Any]]) -> None:
        with lend(self._pool, whole=False) as cursor:
            cursor.execute(sql.encode(), lists)

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

    def _nothing(self) -> Rows:
        return {}

    def _undo(self, runs: Sequence[str]) -> None:
        with lend(self._pool, whole=True) as cursor:
            found = cursor.execute(
                f"SELECT DISTINCT {_PLACE} FROM checkpoint_writes WHERE run_id = ANY(%s)",  # noqa: S608 - our own
                (list(runs),),
            )
            written: list[Place] = [_named(row) for row in found]
            found = cursor.execute(
                f"SELECT {_PLACE}, parent_checkpoint_id AS parent, metadata->>'run_id' AS run "  # noqa: S608 - our own
                "FROM checkpoints WHERE thread_id = ANY(%s) OR thread_id IN "
                "(SELECT thread_id FROM checkpoints WHERE metadata->>'run_id' = ANY(%s))",
                ([place[0] for place in written], list(runs)),
            )
            made = [Made(*_named(row), row["parent"], row["run"]) for row in found]
            gone, cleared = undone(made, written, runs)
            _drop(cursor, gone)
            if cleared:
                cursor.executemany(
                    f"DELETE FROM checkpoint_writes WHERE ({_PLACE}) = (%s, %s, %s) "  # noqa: S608 - our own
                    "AND run_id = ANY(%s)",
                    [(*place, list(runs)) for place in cleared],
                )

    def _forget(self, places: Sequence[Place]) -> None:
        with lend(self._pool, whole=True) as cursor:
            _drop(cursor, places)


def _named(row: DictRow) -> Place:
    return row["thread_id"], row["checkpoint_ns"], row["checkpoint_id"]


def _drop(cursor: Cursor[DictRow], places: Sequence[Place]) -> None:
    """Delete checkpoints, what was written to them, and values that no other one has.

    A value that stayed would be taken for that of a later checkpoint, whose versions count on
    from the same number.
    """
    if not places:
        return
    for table in ("checkpoints", "checkpoint_writes"):
        cursor.executemany(
            f"DELETE FROM {table} WHERE ({_PLACE}) = (%s, %s, %s)",  # noqa: S608 - our own
            places,
        )
    cursor.execute(
        "DELETE FROM checkpoint_blobs WHERE thread_id = ANY(%(threads)s) "
        "AND (thread_id, checkpoint_ns, channel, version) NOT IN ("
        "SELECT thread_id, checkpoint_ns, version.key, version.value FROM checkpoints, "
        "jsonb_each_text(checkpoint->'channel_versions') AS version "
        "WHERE thread_id = ANY(%(threads)s))",
        {"threads": list({place[0] for place in places})},
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
