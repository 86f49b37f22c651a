"""The store (notes, search log, ledger) and the cache: LangGraph's own on SQLite."""

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langgraph.cache.base import FullKey, Namespace
from langgraph.cache.sqlite import SqliteCache
from langgraph.store.base import Op, PutOp, Result
from langgraph.store.sqlite import SqliteStore

from graphs.memory.off_loop import off_loop
from graphs.memory.tables import BUSY_SECONDS, connect, patiently


class Store(SqliteStore):
    """Items by namespace and key in the memory file.

    It keeps true that
    * a batch is done all or not at all;
    * a batch that writes takes the write lock first, and so waits for other writers instead of
      failing on them;
    * `abatch`, which every other async method comes down to, runs no SQL on the event loop.
    """

    def __init__(self, path: Path, executor: Executor) -> None:
        super().__init__(connect(path))
        self.is_setup = True  # `prepare` did it
        self._executor = executor
        self._batching = threading.RLock()
        self._begin: str | None = None

    def close(self) -> None:
        """Close the connection."""
        with self.lock:
            self.conn.close()

    @contextmanager
    def _cursor(self, *, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        with self.lock:
            cursor = self.conn.cursor()
            try:
                if transaction and self._begin:
                    cursor.execute(self._begin)
                yield cursor
                if self.conn.in_transaction:
                    cursor.execute("COMMIT")
            except BaseException:
                if self.conn.in_transaction:
                    cursor.execute("ROLLBACK")
                raise
            finally:
                cursor.close()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the operations in one transaction; one that is one statement needs none around it."""
        ops = list(ops)
        puts = any(isinstance(op, PutOp) for op in ops)
        with self._batching:
            if len(ops) == 1:
                self._begin = None
            else:
                self._begin = "BEGIN IMMEDIATE" if puts else "BEGIN"
            return super().batch(ops)

    def put_if_absent(self, namespace: tuple[str, ...], key: str, value: dict[str, Any]) -> bool:
        """Put an item where there is none, and tell whether there was none; one atomic step."""
        with self.lock:
            done = self.conn.execute(
                "INSERT OR IGNORE INTO store (prefix, key, value, created_at, updated_at) "
                "VALUES (?, ?, ?, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)",
                (".".join(namespace), key, json.dumps(value, ensure_ascii=False)),
            )
            return done.rowcount == 1

    async def aput_if_absent(
        self, namespace: tuple[str, ...], key: str, value: dict[str, Any]
    ) -> bool:
        """Do `put_if_absent` off the event loop."""
        return await off_loop(self._executor, self.put_if_absent, namespace, key, value)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do `batch` off the event loop."""
        return await off_loop(self._executor, self.batch, list(ops))


class Cache(SqliteCache[Any]):
    """Results of cached calls in the memory file, with their time to live."""

    def __init__(self, path: Path, executor: Executor) -> None:
        patiently(lambda: super(Cache, self).__init__(path=str(path)))
        self._conn.execute(f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}")
        self._conn.execute("PRAGMA synchronous=NORMAL")
        self._executor = executor

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, Any]:
        """Do `get` off the event loop."""
        return await off_loop(self._executor, self.get, keys)

    async def aset(self, mapping: Mapping[FullKey, tuple[Any, int | None]]) -> None:
        """Do `set` off the event loop."""
        await off_loop(self._executor, self.set, mapping)

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Do `clear` off the event loop."""
        await off_loop(self._executor, self.clear, namespaces)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._conn.close()
