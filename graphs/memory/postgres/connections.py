"""Connections to a database: opened, lent, and what is said where that fails."""

import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from re import search
from typing import Any, TypeVar

import psycopg
from psycopg import Capabilities, Connection, Cursor
from psycopg.errors import DeadlockDetected, SerializationFailure
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool

from graphs.database_url import Address, DatabaseError

Rows = Connection[DictRow]
Pool = ConnectionPool[Rows]

POOL = 10
"""Connections of one memory at the most; a step's write holds one for some milliseconds."""

_ATTEMPTS = 3
"""How often a transaction that met another one is tried: Postgres ends one of two that wait."""

Result = TypeVar("Result")


def connect(address: Address) -> Rows:
    """Open a connection in autocommit mode.

    Raises:
        DatabaseError: The server can't be reached, or does not let this user in.
    """
    try:
        connection: Rows = psycopg.connect(**_settings(address))
    except (psycopg.Error, OSError, UnicodeError) as error:
        raise refusal(address, error) from None
    return connection


def open_pool(address: Address) -> Pool:
    """Open a pool, whose connections are made as they are needed."""
    return ConnectionPool(
        kwargs=_settings(address),
        min_size=0,
        max_size=POOL,
        check=_check,
        open=True,
        name="rungs-memory",
    )


@contextmanager
def lend(pool: Pool, *, whole: bool) -> Iterator[Cursor[DictRow]]:
    """Lend a cursor; `whole`: what is done with it is done all or not at all, in one round trip."""
    with pool.connection() as connection:
        if not whole:
            with connection.cursor(binary=True) as cursor:
                yield cursor
        elif Capabilities().has_pipeline():
            with (
                connection.pipeline(),
                connection.transaction(),
                connection.cursor(binary=True) as cursor,
            ):
                yield cursor
        else:
            with connection.transaction(), connection.cursor(binary=True) as cursor:
                yield cursor


def persistently(action: Callable[[], Result]) -> Result:
    """Do a transaction again that Postgres ended for another one's sake; nothing of it was kept."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return action()
        except (DeadlockDetected, SerializationFailure):
            continue
    return action()


def refusal(address: Address, error: Exception) -> DatabaseError:
    """Say in a line why a database can't be used, and what to do; never with its password."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = " ".join(lines)
    for known, what in _REASONS.items():
        if search(known, text.lower()):
            return DatabaseError(f"{address.shown}: {what.format(address=address)}")
    last = lines[-1] if lines else type(error).__name__
    if address.password:
        last = last.replace(address.password, "[redacted]")
    return DatabaseError(f"{address.shown}: {last}: name another database, or mend this one")


_REASONS = {
    "password authentication failed": "the server refuses this user or password: check the URL",
    "no password supplied": "the server wants a password: put it into the URL, or into PGPASSWORD",
    'role ".*" does not exist': "the server knows no such user: check the URL",
    'database ".*" does not exist': "there is no such database: createdb {address.database}",
    "no pg_hba.conf entry": "the server lets nobody in like this: see its pg_hba.conf",
    "database system is": "the server is starting or stopping: try again in a moment",
    "refused|no such file": "no server listens there: start Postgres, or check host and port",
    "resolve|not known|translate host name": "there is no host {address.host}: check the URL",
    "timeout": "the server does not answer: check host, port and firewall",
    "permission denied": "this user may not create tables here: let it, or name another database",
    "read-only": "this server only reads: name the primary one",
}
"""What libpq and the server say, in the order that it is looked for, and what we say."""


def _settings(address: Address) -> dict[str, Any]:
    return {
        **address.settings,
        "autocommit": True,
        "prepare_threshold": 0,
        "row_factory": dict_row,
    }


def _check(connection: Rows) -> None:
    """Refuse a connection that the server has closed; one that is silent costs no round trip."""
    if select.select([connection.fileno()], [], [], 0)[0]:
        ConnectionPool.check_connection(connection)
