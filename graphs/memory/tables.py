"""The tables of the file, and the connections to them."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.sqlite import SqliteStore

APPLICATION_ID = 0x52_4E_47_53
"""Marks a file as ours (`PRAGMA application_id`): the letters RNGS."""

LAYOUT = 1
"""Layout of the file (`PRAGMA user_version`); a higher one was written by a newer version."""

BUSY_SECONDS = 30.0
"""How long a connection waits for another one's write before it gives up."""

PAGE_BYTES = 4096
"""Page size of a new file: a checkpoint's row of some 1.2 kB would waste a third of half of it."""

_LANGGRAPHS = {
    "checkpoints": {"thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint", "metadata"},
    "writes": {"thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "value"},
    "store": {"prefix", "key", "value"},
    "store_migrations": {"v"},
    "store_vectors": {"prefix", "key", "embedding"},
    "vector_migrations": {"v"},
    "cache": {"ns", "key", "expiry", "encoding", "val"},
}

LOG_PAGES = 4096
"""Pages of 4 kB that the log may hold before they are moved into the file."""

Result = TypeVar("Result")


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection in autocommit mode; threads may share it, each use under a lock.

    `synchronous=NORMAL` loses no finished step when the process is killed and leaves a whole file
    when the power fails. It saves one fsync a write, half of what a write costs. Moving the log
    into the file costs two more, and is done every 16 MB of log instead of every 2.
    """
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA wal_autocheckpoint={LOG_PAGES}").fetchone()
    return connection


def patiently(action: Callable[[], Result]) -> Result:
    """Do something again while the file is locked, where SQLite itself does not wait.

    Switching a file to WAL is such a place: two processes that open a new one may meet a lock.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def is_langgraphs(table: str, connection: sqlite3.Connection) -> bool:
    """Tell whether a table is one of LangGraph's, by its name and columns."""
    expected = _LANGGRAPHS.get(table)
    if expected is None:
        return False
    found = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return expected <= {name for (name,) in found}


def set_up(path: Path) -> None:
    """Create and migrate LangGraph's tables, all or nothing.

    LangGraph's own set-up commits after every statement: killed half-way, or run by two processes
    at once, it leaves a file whose next migration fails for ever.
    """
    with closing(
        sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, factory=_OneTransaction)
    ) as connection:
        connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
        patiently(lambda: connection.execute("PRAGMA journal_mode=WAL"))
        connection.execute("BEGIN IMMEDIATE")
        SqliteSaver(connection).setup()
        SqliteStore(connection).setup()
        _note_runs(connection)
        _mark(connection, "application_id", APPLICATION_ID)
        _mark(connection, "user_version", LAYOUT)
        connection.execute("COMMIT")


def _note_runs(connection: sqlite3.Connection) -> None:
    """Have a column for the run that wrote: one that is rolled back takes its writes along.

    LangGraph's savers, which name their columns, leave it empty.
    """
    found = connection.execute("SELECT name FROM pragma_table_info('writes')")
    if ("run_id",) not in found.fetchall():
        connection.execute("ALTER TABLE writes ADD COLUMN run_id TEXT")


class _OneTransaction(sqlite3.Connection):
    """A connection whose scripts run in the open transaction; sqlite3's own commit it first."""

    def executescript(self, sql_script: str, /) -> sqlite3.Cursor:
        cursor = self.cursor()
        for statement in _statements(sql_script):
            cursor.execute(statement)
        return cursor


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for piece in script.split(";"):
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _mark(connection: sqlite3.Connection, pragma: str, value: int) -> None:
    """Set a mark, unless it is set: a file that is up to date is not written to."""
    if connection.execute(f"PRAGMA {pragma}").fetchone() != (value,):
        connection.execute(f"PRAGMA {pragma} = {value}")
