"""Writes that come at the same time, in one transaction of the thread that writes."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

Statement = tuple[str, Sequence[Any]]
"""SQL, and its values."""


class _Write(NamedTuple):
    make: Callable[[], Statement]
    future: asyncio.Future[None]
    loop: asyncio.AbstractEventLoop


class GroupCommit:
    """Writes for async callers.

    A call that goes to another thread and back costs more than the write itself, most of all while
    the event loop is busy: the thread must wait for the interpreter's lock at each. Hundreds of
    runs at once share the way. It keeps true that
    * a write is on disk, or has failed, when its caller goes on;
    * writes are done in the order in which they were asked for;
    * one that fails takes no other with it.

    Args:
        executor: Where the writing is done, by one of its threads at a time.
        commit: Does statements in one transaction, all or none.
    """

    def __init__(self, executor: Executor, commit: Callable[[Sequence[Statement]], None]) -> None:
        self._executor, self._commit = executor, commit
        self._guard = threading.Lock()
        self._waiting: list[_Write] = []
        self._at_work = False

    async def write(self, make: Callable[[], Statement]) -> None:
        """Do what `make` returns; it is called off the event loop.

        Raises:
            Exception: What `make` or the database raised.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        with self._guard:
            if not self._at_work:
                self._executor.submit(self._work)
                self._at_work = True
            self._waiting.append(_Write(make, future, loop))
        await future

    def _work(self) -> None:
        """Write whatever waits, until nothing does."""
        while True:
            with self._guard:
                writes, self._waiting = self._waiting, []
                if not writes:
                    self._at_work = False
                    return
            _tell(writes, self._done(writes))

    def _done(self, writes: Sequence[_Write]) -> list[Exception | None]:
        """Do the writes, and return what was wrong with each."""
        errors: list[Exception | None] = [None] * len(writes)
        made: dict[int, Statement] = {}
        for place, write in enumerate(writes):
            try:
                made[place] = write.make()
            except Exception as error:  # noqa: BLE001 - its caller raises it
                errors[place] = error
        try:
            self._commit(list(made.values()))
        except Exception:  # noqa: BLE001 - found out one by one
            for place, statement in made.items():
                try:
                    self._commit([statement])
                except Exception as error:  # noqa: BLE001 - its caller raises it
                    errors[place] = error
        return errors


def _tell(writes: Sequence[_Write], errors: Sequence[Exception | None]) -> None:
    """Let the callers go on, those of a loop with one call into it."""
    ended: dict[asyncio.AbstractEventLoop, list[tuple[_Write, Exception | None]]] = {}
    for write, error in zip(writes, errors, strict=True):
        ended.setdefault(write.loop, []).append((write, error))
    for loop, those in ended.items():
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, those)


def _settle(ended: Sequence[tuple[_Write, Exception | None]]) -> None:
    for write, error in ended:
        if write.future.done():
            continue  # its caller was cancelled
        if error is None:
            write.future.set_result(None)
        else:
            write.future.set_exception(error)
