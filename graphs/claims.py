"""Enter an item in a store only where there is none, in one atomic step between processes."""

from importlib import import_module
from sys import modules
from typing import Any, Protocol, runtime_checkable

from langgraph.store.base import BaseStore


@runtime_checkable
class Claims(Protocol):
    """A store that can enter an item only where there is none, in one atomic step."""

    def put_if_absent(self, namespace: tuple[str, ...], key: str, value: dict[str, Any]) -> bool:
        """Put an item, and tell whether there was none."""

    async def aput_if_absent(
        self, namespace: tuple[str, ...], key: str, value: dict[str, Any]
    ) -> bool:
        """Put an item, and tell whether there was none."""


def claims_of(store: BaseStore) -> Claims | None:
    """Return what makes claims in a store; None where it has no such step.

    Our own stores have one. A server of several instances brings LangGraph's store on Postgres,
    whose table has: only async callers use it.
    """
    if isinstance(store, Claims):
        return store
    theirs = modules.get("langgraph.store.postgres.aio")
    if theirs is None or not isinstance(store, theirs.AsyncPostgresStore):
        return None
    pooled = isinstance(store.conn, import_module("psycopg_pool").AsyncConnectionPool)
    return _ServersClaims(store) if pooled else None


class _ServersClaims:
    """Claims in LangGraph's async store on Postgres."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def put_if_absent(self, namespace: tuple[str, ...], key: str, value: dict[str, Any]) -> bool:
        """Look, then put: a sync caller has no way to the connections of an event loop."""
        if self._store.get(namespace, key) is not None:
            return False
        self._store.put(namespace, key, value, index=False)
        return True

    async def aput_if_absent(
        self, namespace: tuple[str, ...], key: str, value: dict[str, Any]
    ) -> bool:
        """Put an item, and tell whether there was none."""
        json = import_module("psycopg.types.json")
        async with self._store.conn.connection() as connection:
            done = await connection.execute(
                "INSERT INTO store (prefix, key, value) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                (".".join(namespace), key, json.Jsonb(value)),
            )
            return bool(done.rowcount == 1)
