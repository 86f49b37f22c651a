"""Connections to a database: opened, lent, and what is said where that fails."""

import logging
import select
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from re import search
from typing import Any, TypeVar

import psycopg
from psycopg import Capabilities, Connection, Cursor
from psycopg.errors import DeadlockDetected, OperationalError, SerializationFailure
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool, PoolTimeout

from graphs.database_url import Address, DatabaseError

Rows = Connection[DictRow]
Pool = ConnectionPool[Rows]

POOL = 10
"""Connections of one memory at the most; a step's write holds one for some milliseconds."""

POOL_SECONDS = 15.0
"""How long a call waits for a connection before it takes the server for lost."""

_ATTEMPTS = 3
"""How often a transaction that met another one is tried: Postgres ends one of two that wait."""

Result = TypeVar("Result")

# What the pool tells of its attempts goes to whoever configured logging, and to nobody else.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())


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
        timeout=POOL_SECONDS,
        check=_check,
        open=True,
        name=address.shown,
    )


@contextmanager
def lend(pool: Pool, *, whole: bool) -> Iterator[Cursor[DictRow]]:
    """Lend a cursor; `whole`: what is done with it is done all or not at all, in one round trip.

    Raises:
        ConnectionError: The server is lost; what was not told to be done may be done all the same.
    """
    try:
        with pool.connection() as connection, ExitStack() as opened:
            if whole and Capabilities().has_pipeline():
                opened.enter_context(connection.pipeline())
            if whole:
                opened.enter_context(connection.transaction())
            yield opened.enter_context(connection.cursor(binary=True))
    except PoolTimeout:
        raise _lost(pool) from None
    except OperationalError as error:
        if not connection.closed:
            raise
        raise _lost(pool) from error


def _lost(pool: Pool) -> ConnectionError:
    return ConnectionError(
        f"{pool.name}: the database does not answer any more: see to it, then go on with the thread"
    )


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
