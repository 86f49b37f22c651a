"""Open the SQLite file of a document index, and make it anew when it is damaged."""

import contextlib
import hashlib
import logging
import os
import sqlite3
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from tools.docs_folder import DocsIndexError, shown

log = logging.getLogger("rungs.docs")


_APPLICATION_ID: Final = 0x52554E47  # "RUNG": only a file that bears it is ever replaced
_VERSION: Final = 1
_SCHEMA: Final = (
    "DROP TABLE IF EXISTS file",
    "DROP TABLE IF EXISTS passage",
    """CREATE TABLE file (
        id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
        first INTEGER NOT NULL, last INTEGER NOT NULL, skipped TEXT)""",
    """CREATE VIRTUAL TABLE passage USING fts5(
        title, text, extra, file UNINDEXED, tokenize = 'porter unicode61 remove_diacritics 2')""",
    "INSERT INTO passage (passage, rank) VALUES ('hashsize', 16777216)",
    f"PRAGMA application_id = {_APPLICATION_ID}",
    f"PRAGMA user_version = {_VERSION}",
)
_BUSY_SECONDS: Final = 30
# A missing table is a plain error; a damaged FTS5 table shows up as a broken constraint.
_BROKEN: Final = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_ERROR,
}
_UNWRITABLE: Final = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
_T = TypeVar("_T")


def default_database(folder: Path, part: object = None) -> Path | None:
    """Return where the index of `folder` is kept: the user's cache directory, if there is one.

    A part of the folder, of which only its `repr` matters, has an index of its own.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    base = cache if cache.is_absolute() else Path(os.path.expanduser("~/.cache"))  # noqa: PTH111
    if not base.is_absolute():  # a user without a home
        return None
    named = os.fsencode(folder) + (f"\0{part!r}".encode() if part is not None else b"")
    digest = hashlib.blake2b(named, digest_size=16).hexdigest()
    return base / "rungs" / f"docs-{digest}.sqlite"


class IndexFile:
    """Hold the connection to an index file, and make the file anew when it is damaged.

    * A file without our application id is never written to or deleted.
    * A file in the cache directory that can't be used is replaced by memory, with a warning; one
      that the caller named is an error.

    Args:
        path: the file; None is in memory.
        given: the caller named the file.
        on_open: called when a connection is new, so that nothing remembered outlives the old one.

    Raises:
        DocsIndexError: the given file can't be used.
    """

    def __init__(self, path: Path | None, *, given: bool, on_open: Callable[[], None]) -> None:
        self.path = path
        self._given = given
        self._on_open = on_open
        self._inode = 0
        self.connection = sqlite3.connect(":memory:")
        self.close = weakref.finalize(self, self.connection.close)
        try:
            try:
                self._open()
            except sqlite3.DatabaseError as error:
                if error_code(error) not in _BROKEN:
                    raise
                self._discard()
        except (OSError, sqlite3.Error, DocsIndexError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            if given:
                raise DocsIndexError(f"{self}: {reason}") from None
            self._go_without(reason)

    def __str__(self) -> str:
        return f"the document index {shown(self.path or 'in memory')} can't be used"

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Hold SQLite's write lock: what is done inside is kept as a whole or not at all."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
            raise

    def recovering(self, work: Callable[[], _T]) -> _T:
        """Do `work`, and once more with a fresh index if this one turns out to be unusable."""
        try:
            return work()
        except sqlite3.DatabaseError as error:
            if error_code(error) in _BROKEN:
                log.warning("the document index is damaged and is made anew: %s", self.path)
                self._discard()
            elif error_code(error) in _UNWRITABLE and not self._given and self.path:
                self._go_without(str(error))
            else:
                raise DocsIndexError(f"{self}: {error}; try again") from error
        try:
            return work()
        except sqlite3.DatabaseError as error:
            raise DocsIndexError(f"{self}: {error}") from error

    def _open(self) -> None:
        self.close()
        self._on_open()
        if self.path:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self._inode = self.path.stat().st_ino
            _check_ours(self.path)
        self.connection = sqlite3.connect(
            self.path or ":memory:",
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        self.close = weakref.finalize(self, self.connection.close)
        if self._version() != _VERSION:
            with self.writing():
                if self._version() != _VERSION:
                    for statement in _SCHEMA:
                        self.connection.execute(statement)
        # Readers go on while another process writes. Where that can't be had, they wait.
        with contextlib.suppress(sqlite3.OperationalError):
            self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("PRAGMA journal_size_limit = 16777216")

    def _version(self) -> int:
        return int(self.connection.execute("PRAGMA user_version").fetchone()[0])

    def _discard(self) -> None:
        """Delete the index file and begin a new one, unless another process has just done so."""
        self.close()
        if self.path and self.path.exists() and self.path.stat().st_ino == self._inode:
            _check_ours(self.path)
            for suffix in ("", "-wal", "-shm", "-journal"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        self._open()

    def _go_without(self, reason: str) -> None:
        log.warning("%s (%s): the index is kept in memory", self, reason)
        self.path = None
        self._open()


def _check_ours(path: Path) -> None:
    with path.open("rb") as file:
        header = file.read(100)
    mark = header[:16] + header[68:72]
    if header and mark != b"SQLite format 3\0" + _APPLICATION_ID.to_bytes(4, "big"):
        raise DocsIndexError("it is another file, not a document index; name another one")


def error_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code, 0 where there is none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
