"""An opened memory file, and the same file for LangGraph's server."""

import asyncio
import os
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path
from types import TracebackType
from typing import Self

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from graphs.memory.file import prepare
from graphs.memory.saver import Saver
from graphs.memory.store import Cache, Store
from graphs.tracing import trace_by_environment

DEFAULT_FILE = "rungs.sqlite"


class Memory:
    """Saver, store and cache of one file; a context manager, sync and async, that closes them.

    Attributes:
        path: The file, absolute.
        saver: The checkpoints, for `compile(checkpointer=...)`.
        store: Notes, search log and ledger, for `compile(store=...)`.
        cache: Results of cached calls, for `compile(cache=...)`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Path = prepare(path)
        # One thread for each of the three connections, which serve one call at a time.
        executor = ThreadPoolExecutor(max_workers=3, thread_name_prefix="rungs-memory")
        with ExitStack() as opened:
            self.saver = opened.enter_context(closing(Saver(self.path, executor)))
            self.store = opened.enter_context(closing(Store(self.path, executor)))
            self.cache = opened.enter_context(closing(Cache(self.path, executor)))
            opened.callback(executor.shutdown)
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Finish what async callers have begun, and close the file; closing twice does nothing."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)


def open_memory(path: str | os.PathLike[str] = DEFAULT_FILE) -> Memory:
    """Open a memory file, creating it where there is none.

    It reads and writes the file: async code awaits `asyncio.to_thread(open_memory, path)`.

    Raises:
        MemoryFileError: The path can't serve as memory; nothing was modified.
    """
    return Memory(path)


@asynccontextmanager
async def server_checkpointer() -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Lend the server the saver of the file `RUNGS_DB` (langgraph.json's `checkpointer`)."""
    trace_by_environment()
    async with await _open_for_server() as memory:
        yield memory.saver


@asynccontextmanager
async def server_store() -> AsyncIterator[BaseStore]:
    """Lend the server the store of the file `RUNGS_DB` (langgraph.json's `store`)."""
    async with await _open_for_server() as memory:
        yield memory.store


async def _open_for_server() -> Memory:
    return await asyncio.to_thread(open_memory, os.environ.get("RUNGS_DB") or DEFAULT_FILE)
