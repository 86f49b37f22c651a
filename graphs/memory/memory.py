"""What every database offers that a graph can run on, whichever it is."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Any, Self

from langgraph.cache.base import BaseCache
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore


class Memory(ABC):
    """Saver, store and cache of one database; a context manager, sync and async, that closes them.

    Attributes:
        shown: Where it is, as it may be told: a path, or a URL without its password.
        saver: The checkpoints, for `compile(checkpointer=...)`.
        store: Notes, search log and ledger, for `compile(store=...)`.
        cache: Results of cached calls, for `compile(cache=...)`.
    """

    shown: str
    saver: BaseCheckpointSaver[str]
    store: BaseStore
    cache: BaseCache[Any]
    _opened: ExitStack

    @abstractmethod
    def take(self, thread_id: str) -> None:
        """Hold a thread for one run, against all other runs on this database.

        Raises:
            ThreadInUseError: Another run is in it.
        """

    @abstractmethod
    async def atake(self, thread_id: str) -> None:
        """Do `take`; a stream that was broken off lets go of its thread a loop's turn later."""

    @abstractmethod
    def let_go(self, thread_id: str) -> None:
        """Let go of a thread; it does not wait, and an event loop may call it."""

    @contextmanager
    def alone_in(self, thread_id: str) -> Iterator[None]:
        """Hold a thread for a while, as `take` does."""
        self.take(thread_id)
        try:
            yield
        finally:
            self.let_go(thread_id)

    @asynccontextmanager
    async def aalone_in(self, thread_id: str) -> AsyncIterator[None]:
        """Hold a thread for a while, as `atake` does."""
        await self.atake(thread_id)
        try:
            yield
        finally:
            self.let_go(thread_id)

    def close(self) -> None:
        """Finish what async callers have begun, and close it; closing twice does nothing."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)
