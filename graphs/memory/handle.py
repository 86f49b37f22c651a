"""Open memory: a file, or a database by its URL; and the same for LangGraph's server."""

import asyncio
import os
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import overload

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from graphs import thread_locks
from graphs.database_url import default_place, driver, is_url
from graphs.memory.file import prepare
from graphs.memory.memory import Memory
from graphs.memory.saver import Saver
from graphs.memory.store import Cache, Store
from graphs.tracing import trace_by_environment

DEFAULT_FILE = "rungs.sqlite"

_TURNS, _TURN = 20, 0.01
"""How often, and how many seconds apart, an async caller asks for a thread that is in use."""


class FileMemory(Memory):
    """Memory in one SQLite file.

    Attributes:
        path: The file, absolute.
    """

    saver: Saver
    store: Store
    cache: Cache

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Path = prepare(path)
        self.shown = str(self.path)
        # One thread for each of the three connections, which serve one call at a time.
        executor = ThreadPoolExecutor(max_workers=3, thread_name_prefix="rungs-memory")
        with ExitStack() as opened:
            self.saver = opened.enter_context(closing(Saver(self.path, executor)))
            self.store = opened.enter_context(closing(Store(self.path, executor)))
            self.cache = opened.enter_context(closing(Cache(self.path, executor)))
            opened.callback(executor.shutdown)
            self._opened = opened.pop_all()

    def take(self, thread_id: str) -> None:
        """Hold a thread for one run, against runs of this process and, where possible, of others.

        Raises:
            ThreadInUseError: Another run is in it.
        """
        thread_locks.take(thread_id, self.path)

    async def atake(self, thread_id: str) -> None:
        """Do `take`; it waits a little for a stream that was broken off."""
        for _ in range(_TURNS - 1):
            try:
                return self.take(thread_id)
            except thread_locks.ThreadInUseError:
                await asyncio.sleep(_TURN)
        return self.take(thread_id)

    def let_go(self, thread_id: str) -> None:
        """Let go of a thread."""
        thread_locks.let_go(thread_id, self.path)


@overload
def open_memory(place: os.PathLike[str]) -> FileMemory: ...
@overload
def open_memory(place: str | os.PathLike[str] | None = None) -> Memory: ...
def open_memory(place: str | os.PathLike[str] | None = None) -> Memory:
    """Open memory, creating its file or its tables where there are none.

    It reads and writes: async code awaits `asyncio.to_thread(open_memory, place)`.

    Args:
        place: A file, or `postgresql://user:password@host/database`; None takes the database that
            `RUNGS_DATABASE_URL` names, else the file `rungs.sqlite`.

    Raises:
        MemoryFileError: The file can't serve as memory; nothing was modified.
        DatabaseError: The database can't; no message holds its password.
    """
    place = default_place(DEFAULT_FILE) if place is None else place
    if not is_url(place):
        return FileMemory(place)
    driver()
    from graphs.memory.postgres.handle import PostgresMemory

    return PostgresMemory(str(place))


@asynccontextmanager
async def server_checkpointer() -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Lend the server the saver of its memory (langgraph.json's `checkpointer`).

    That is the database of `RUNGS_DATABASE_URL`, else the file of `RUNGS_DB`, else `rungs.sqlite`.
    """
    trace_by_environment()
    async with await _open_for_server() as memory:
        yield memory.saver


@asynccontextmanager
async def server_store() -> AsyncIterator[BaseStore]:
    """Lend the server the store of its memory (langgraph.json's `store`)."""
    async with await _open_for_server() as memory:
        yield memory.store


def server_place() -> str:
    """Return where a server's memory is."""
    return default_place(os.environ.get("RUNGS_DB") or DEFAULT_FILE)


async def _open_for_server() -> Memory:
    return await asyncio.to_thread(open_memory, server_place())
