"""The SQLite file: what may be opened, and how a new one comes to be."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

from graphs.errors import UsageError
from graphs.memory.tables import APPLICATION_ID, BUSY_SECONDS, LAYOUT, is_langgraphs, set_up

_SMALLEST = 512  # bytes of SQLite's smallest page


class MemoryFileError(UsageError):
    """A file that can't serve as memory: its path and what to do in one line; it is untouched."""


def prepare(path: str | os.PathLike[str]) -> Path:
    """Check that a path may serve as memory, create the file if there is none, set up its tables.

    * Nothing is modified before the check has passed. The check reads, and leaves the bytes as
      they are.
    * A missing or zero-byte file is a new database. Its folder must exist: a mistyped path makes
      no folders.
    * The file gets mode 0600 when it becomes ours, before SQLite writes to it, and SQLite gives
      `-wal` and `-shm` the same. A mode that its owner sets later is left alone.
    * A file with LangGraph's own tables and nothing else is taken over; LangGraph's savers can
      still read it.

    Args:
        path: Where the file is or shall be; a leading `~` is the home folder.

    Returns:
        The absolute path, symbolic links resolved.

    Raises:
        MemoryFileError: The path names something else than a database this version may write.
    """
    target = _locate(path)
    try:
        if not target.exists():
            _create(target)
        if not _check(target):
            _make_private(target)
        set_up(target)
    except (OSError, sqlite3.Error) as error:
        raise _refusal(target, error) from None
    return target


def _locate(path: str | os.PathLike[str]) -> Path:
    text = os.fspath(path)
    if not text.strip():
        raise MemoryFileError("the memory file's path is empty: name a file, such as rungs.sqlite")
    if text == ":memory:" or "\0" in text:
        raise MemoryFileError(f"{text!r} is no memory file: name a file, such as rungs.sqlite")
    try:
        target = Path(text).expanduser().resolve()
        has_folder = target.parent.is_dir()
    except (OSError, RuntimeError) as error:
        raise MemoryFileError(f"{text}: {_reason(error)}: name another file") from None
    if not has_folder:
        raise MemoryFileError(
            f"{target}: there is no folder {target.parent}: create it or name another file"
        )
    return target


def _create(target: Path) -> None:
    """Create the file for its owner alone, before SQLite could create it for everybody."""
    _refuse_a_leftover_log(target)
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return  # another process was first


def _check(target: Path) -> bool:
    """Tell whether the file is ours already; one that is nobody's may become ours.

    Raises:
        MemoryFileError: It is neither.
    """
    status = target.stat()
    if stat.S_ISDIR(status.st_mode):
        example = target / "rungs.sqlite"
        raise MemoryFileError(f"{target} is a folder: name a file in it, such as {example}")
    if not stat.S_ISREG(status.st_mode):
        raise MemoryFileError(f"{target} is not a regular file: name another file")
    if not os.access(target, os.R_OK | os.W_OK):
        raise MemoryFileError(
            f"{target}: no permission to read and write it: change its mode or name another file"
        )
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise MemoryFileError(
            f"{target}: no permission to write in its folder, where SQLite keeps its log: "
            "name another file"
        )
    if status.st_size == 0:
        _refuse_a_leftover_log(target)
        return False
    if status.st_size < _SMALLEST:  # SQLite takes a file of one byte for an empty one
        raise _refusal(target, sqlite3.DatabaseError("file is not a database"))
    # SQLite itself reads the file: opening and closing it by hand would drop the locks that other
    # connections of this process hold on it.
    with closing(sqlite3.connect(_read_only(target), uri=True, timeout=BUSY_SECONDS)) as connection:
        ours = _is_ours(target, connection)
        (page,) = connection.execute("PRAGMA page_size").fetchone()
    if status.st_size % page:  # SQLite notices missing pages, and no missing part of one
        raise _refusal(target, sqlite3.DatabaseError("malformed"))
    return ours


def _read_only(target: Path) -> str:
    """Name the file such that reading it leaves nothing behind.

    A log that lies beside it holds a part of the file and is read too, which takes locks.
    """
    in_use = any(_beside(target, suffix).exists() for suffix in ("-wal", "-shm"))
    return f"{target.as_uri()}?mode=ro" + ("" if in_use else "&immutable=1")


def _is_ours(target: Path, connection: sqlite3.Connection) -> bool:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    named = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    if application == APPLICATION_ID:
        if layout > LAYOUT:
            raise MemoryFileError(
                f"{target} was written by a newer version of rungs: update rungs "
                "or name another file"
            )
        return True
    tables = [name for (name,) in named if not name.startswith("sqlite_")]
    foreign = [name for name in tables if not is_langgraphs(name, connection)]
    if application or layout or foreign:
        known_by = f" (its table {foreign[0]} is not ours)" if foreign else ""
        raise MemoryFileError(
            f"{target} is another application's database{known_by}: name another file"
        )
    return False


def _refuse_a_leftover_log(target: Path) -> None:
    """Keep SQLite from deleting a log that holds the data of a file that was lost or emptied."""
    log = _beside(target, "-wal")
    if log.exists() and log.stat().st_size:
        raise MemoryFileError(
            f"{target} is missing or empty but its log {log.name} is not: "
            "restore the file, or move the log away"
        )


def _make_private(target: Path) -> None:
    for file in (target, _beside(target, "-wal"), _beside(target, "-shm")):
        if file.exists():
            file.chmod(0o600)


def _beside(target: Path, suffix: str) -> Path:
    return target.with_name(target.name + suffix)


def _refusal(target: Path, error: OSError | sqlite3.Error) -> MemoryFileError:
    if "not a database" in str(error):
        return MemoryFileError(
            f"{target} is not a SQLite database: name another file, or move this one away"
        )
    if "malformed" in str(error):
        return MemoryFileError(
            f"{target} is damaged or cut short: restore it from a copy, or move it away"
        )
    return MemoryFileError(f"{target}: {_reason(error)}: name another file")


def _reason(error: Exception) -> str:
    return " ".join((getattr(error, "strerror", None) or str(error)).lower().split())
