"""Writes that come at the same time, in one transaction of the thread that writes."""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Generic, TypeVar

Row = TypeVar("Row")
"""What one call saves, in whatever form a database takes it."""


class _Write(Generic[Row]):
    """A write that waits, of an async caller.

    Attributes:
        make: Makes the row.
        error: What was wrong with it, once it has ended.
    """

    def __init__(self, make: Callable[[], Row], future: "asyncio.Future[None]") -> None:
        self.make = make
        self.future = future
        self.error: Exception | None = None

    def settle(self) -> None:
        """Let the caller go on; called on its loop."""
        if self.future.done():
            return  # its caller was cancelled
        if self.error is None:
            self.future.set_result(None)
        else:
            self.future.set_exception(self.error)


class _BlockingWrite(Generic[Row]):
    """A write that waits, of a caller whose thread waits with it.

    Attributes:
        leads: Whether its thread is the one that writes.
        ended: Whether it was done, or has failed.
    """

    def __init__(self, row: Row) -> None:
        self._row = row
        self._turn = threading.Lock()
        self._turn.acquire()
        self.leads = self.ended = False
        self.error: Exception | None = None

    def make(self) -> Row:
        """Return the row."""
        return self._row

    def wait(self) -> None:
        """Wait until it has ended, or leads."""
        self._turn.acquire()

    def wake(self) -> None:
        """Let its thread go on."""
        self._turn.release()


class GroupCommit(Generic[Row]):
    """Writes of async and of blocking callers.

    A call that goes to another thread and back costs more than the write itself, most of all while
    the interpreter's lock is asked for by many threads, or by a busy event loop. Hundreds of runs
    at once share the way. It keeps true that
    * a write is on disk, or has failed, when its caller goes on;
    * writes are done in the order in which they were asked for, so that no run is overtaken;
    * one that fails takes no other with it;
    * one thread writes at a time: one of the executor's, or the one whose write waits longest.

    Args:
        executor: Where the writes of async callers are done.
        commit: Saves rows, all or none; what is saved twice is there once.
    """

    def __init__(self, executor: Executor, commit: Callable[[Sequence[Row]], None]) -> None:
        self._executor, self._commit = executor, commit
        self._guard = threading.Lock()
        self._waiting: deque[_Write[Row] | _BlockingWrite[Row]] = deque()
        self._at_work = False

    async def write(self, make: Callable[[], Row]) -> None:
        """Save what `make` returns; it is called off the event loop.

        Raises:
            Exception: What `make` or the database raised.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._guard:
            if not self._at_work:
                self._executor.submit(self._work)
                self._at_work = True
            self._waiting.append(_Write(make, future))
        await future

    def write_now(self, row: Row) -> None:
        """Save a row, and wait until it is there.

        Raises:
            Exception: What the database raised.
        """
        mine = _BlockingWrite(row)
        with self._guard:
            self._waiting.append(mine)
            mine.leads = not self._at_work
            self._at_work = True
        try:
            if not mine.leads:
                mine.wait()
            if mine.leads:
                self._write_what_waits()
        finally:
            self._leave(mine)
        if mine.error is not None:
            raise mine.error

    def _leave(self, mine: _BlockingWrite[Row]) -> None:
        """Let the next one write; a thread that was interrupted takes its own write back."""
        with self._guard:
            if not mine.ended and mine in self._waiting:
                self._waiting.remove(mine)
        if mine.leads:
            self._pass_on()

    def _pass_on(self) -> None:
        """Let the thread write whose write waits longest, or one of the executor's for a loop."""
        with self._guard:
            first = self._waiting[0] if self._waiting else None
            if first is None:
                self._at_work = False
            elif isinstance(first, _BlockingWrite):
                first.leads = True
        if isinstance(first, _BlockingWrite):
            first.wake()
        elif first is not None:
            try:
                self._executor.submit(self._work)
            except RuntimeError:  # the memory was closed: this thread tells those who wait
                self._work()

    def _work(self) -> None:
        """Write what waits, until nothing does or it is a blocking caller's turn."""
        while True:
            self._write_what_waits()
            with self._guard:
                first = self._waiting[0] if self._waiting else None
            if not isinstance(first, _Write):
                return self._pass_on()

    def _write_what_waits(self) -> None:
        with self._guard:
            writes = list(self._waiting)
            self._waiting.clear()
        try:
            self._save(writes)
        except BaseException:  # the leader was interrupted: the others' writes are done by the next
            with self._guard:
                self._waiting.extendleft(reversed(writes))
            raise
        _tell(writes)

    def _save(self, writes: Sequence[_Write[Row] | _BlockingWrite[Row]]) -> None:
        """Save the rows, and note what was wrong with each."""
        made: list[tuple[_Write[Row] | _BlockingWrite[Row], Row]] = []
        for write in writes:
            try:
                made.append((write, write.make()))
            except Exception as error:  # noqa: BLE001 - its caller raises it
                write.error = error
        try:
            self._commit([row for _, row in made])
        except Exception:  # noqa: BLE001 - found out one by one
            for write, row in made:
                try:
                    self._commit([row])
                except Exception as error:  # noqa: BLE001 - its caller raises it
                    write.error = error


def _tell(writes: Sequence[_Write[Row] | _BlockingWrite[Row]]) -> None:
    """Let the callers go on, those of a loop with one call into it."""
    ended: dict[asyncio.AbstractEventLoop, list[_Write[Row]]] = {}
    for write in writes:
        if isinstance(write, _BlockingWrite):
            write.ended = True
            if not write.leads:
                write.wake()
        else:
            ended.setdefault(write.future.get_loop(), []).append(write)
    for loop, those in ended.items():
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, those)


def _settle(ended: Sequence[_Write[Row]]) -> None:
    for write in ended:
        write.settle()
