"""One run at a time in a thread: two would lose the second one's messages."""

import importlib
import importlib.util
import os
import threading
import zlib
from pathlib import Path
from typing import Any

from graphs.errors import UsageError

# Windows has no fcntl: there only this process's own runs are kept apart.
fcntl: Any = importlib.import_module("fcntl") if importlib.util.find_spec("fcntl") else None

_guard = threading.Lock()
_held: dict[tuple[Path, int], set[str]] = {}  # the threads that hold each byte of each file
_files: dict[Path, int] = {}


class ThreadInUseError(UsageError):
    """Another run is in the thread."""


def take(thread_id: str, database: Path) -> None:
    """Hold a thread for one run, against runs of this process and, where possible, of others.

    The lock of another process is a byte range of a file beside the database, which the system
    itself lets go when the process ends, however it ends. The file stays open for good: closing it
    would let go of every lock in it.

    Raises:
        ThreadInUseError: Another run is in the thread.
    """
    place = _place(thread_id)
    with _guard:
        here = _held.setdefault((database, place), set())
        if thread_id in here or not (here or _lock(database, place)):
            raise in_use(thread_id)
        here.add(thread_id)


def let_go(thread_id: str, database: Path) -> None:
    """Let go of a thread that `take` holds."""
    place = _place(thread_id)
    with _guard:
        here = _held[database, place]
        here.discard(thread_id)
        if not here:
            del _held[database, place]
            _unlock(database, place)


def in_use(thread_id: str) -> ThreadInUseError:
    """Say that another run is in a thread."""
    return ThreadInUseError(
        f"thread {thread_id} is in use by another run: wait for its end or begin another thread"
    )


def _lock(database: Path, place: int) -> bool:
    if fcntl is None:
        return True
    if database not in _files:
        path = database.with_name(f"{database.name}-threads.lock")
        _files[database] = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.lockf(_files[database], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _unlock(database: Path, place: int) -> None:
    if fcntl is not None:
        fcntl.lockf(_files[database], fcntl.LOCK_UN, 1, place)


def _place(thread_id: str) -> int:
    """Return the byte that stands for a thread; two of them rarely share one."""
    return zlib.crc32(thread_id.encode("utf-8", "surrogatepass"))
