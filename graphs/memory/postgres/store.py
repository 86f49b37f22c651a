"""The store (notes, search log, ledger) and the cache, on Postgres."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from langgraph.cache.base import BaseCache, FullKey, Namespace
from langgraph.store.base import GetOp, Item, Op, PutOp, Result, SearchItem
from langgraph.store.postgres import PostgresStore
from psycopg import Cursor
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from graphs.memory.off_loop import off_loop
from graphs.memory.postgres.connections import Pool, lend, persistently
from graphs.memory.postgres.texts import read_text, read_value, stored_text, stored_value


class Store(PostgresStore):
    """Items by namespace and key in the database.

    It keeps true that
    * a batch is done all or not at all, and again where Postgres ended it for another's sake;
    * whatever text the memory file holds, this store holds too;
    * `abatch`, which every other async method comes down to, runs no SQL on the event loop.
    """

    def __init__(self, pool: Pool, executor: Executor) -> None:
        super().__init__(pool)
        self._pool = pool
        self._executor = executor

    @contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Iterator[Cursor[DictRow]]:
        with lend(self._pool, whole=pipeline) as cursor:
            yield cursor

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the operations in one transaction."""
        fit = [_stored(op) for op in ops]
        return [_read(found) for found in persistently(lambda: super(Store, self).batch(fit))]

    def put_if_absent(self, namespace: tuple[str, ...], key: str, value: dict[str, Any]) -> bool:
        """Put an item where there is none, and tell whether there was none; one atomic step."""
        with lend(self._pool, whole=False) as cursor:
            done = cursor.execute(
                "INSERT INTO store (prefix, key, value) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                (".".join(namespace), stored_text(key), Jsonb(stored_value(value))),
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


def _stored(op: Op) -> Op:
    if isinstance(op, PutOp):
        value = None if op.value is None else stored_value(op.value)
        return op._replace(key=stored_text(op.key), value=value)
    return op._replace(key=stored_text(op.key)) if isinstance(op, GetOp) else op


def _read(found: Result) -> Result:
    if isinstance(found, Item):
        found.key, found.value = read_text(found.key), read_value(found.value)
    elif isinstance(found, list):
        for item in found:
            if isinstance(item, SearchItem):
                _read(item)
    return found


class Cache(BaseCache[Any]):
    """Results of cached calls in the database, with their time to live."""

    def __init__(self, pool: Pool, executor: Executor) -> None:
        super().__init__()
        self._pool = pool
        self._executor = executor

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, Any]:
        """Return what is kept and has not expired."""
        if not keys:
            return {}
        named = {(_label(namespace), stored_text(key)): (namespace, key) for namespace, key in keys}
        with lend(self._pool, whole=False) as cursor:
            rows = cursor.execute(
                "SELECT ns, key, encoding, val FROM rungs_cache "
                "JOIN unnest(%s::text[], %s::text[]) AS wanted (ns, key) USING (ns, key) "
                "WHERE expiry IS NULL OR expiry >= %s",
                ([ns for ns, _ in named], [key for _, key in named], time.time()),
            ).fetchall()
        return {
            named[row["ns"], row["key"]]: self.serde.loads_typed((row["encoding"], row["val"]))
            for row in rows
        }

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, Any]:
        """Do `get` off the event loop."""
        return await off_loop(self._executor, self.get, keys)

    def set(self, mapping: Mapping[FullKey, tuple[Any, int | None]]) -> None:
        """Keep results, each for as many seconds as it says, None for ever."""
        now = time.time()
        rows = [
            (
                _label(namespace),
                stored_text(key),
                None if seconds is None else now + seconds,
                *self.serde.dumps_typed(value),
            )
            for (namespace, key), (value, seconds) in mapping.items()
        ]
        persistently(lambda: self._set(rows, now))

    def _set(self, rows: Sequence[tuple[Any, ...]], now: float) -> None:
        with lend(self._pool, whole=True) as cursor:
            cursor.execute("DELETE FROM rungs_cache WHERE expiry < %s", (now,))
            cursor.executemany(
                "INSERT INTO rungs_cache (ns, key, expiry, encoding, val) "
                "VALUES (%s, %s, %s, %s, %s) ON CONFLICT (ns, key) DO UPDATE SET "
                "expiry = EXCLUDED.expiry, encoding = EXCLUDED.encoding, val = EXCLUDED.val",
                rows,
            )

    async def aset(self, mapping: Mapping[FullKey, tuple[Any, int | None]]) -> None:
        """Do `set` off the event loop."""
        await off_loop(self._executor, self.set, mapping)

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Forget what is kept under the namespaces; None forgets all."""
        labels = None if namespaces is None else [_label(each) for each in namespaces]
        with lend(self._pool, whole=False) as cursor:
            cursor.execute(
                "DELETE FROM rungs_cache WHERE %s::text[] IS NULL OR ns = ANY(%s::text[])",
                (labels, labels),
            )

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Do `clear` off the event loop."""
        await off_loop(self._executor, self.clear, namespaces)


def _label(namespace: Namespace) -> str:
    return stored_text(",".join(namespace))
