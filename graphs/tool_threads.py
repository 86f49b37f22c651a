"""Daemon threads that run sync tools, one after another: the process may end while one hangs."""

import asyncio
import contextlib
import contextvars
import functools
import inspect
import os
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from graphs.jobs import Ended


def in_daemon_thread(body: Callable[[], Any], done: Callable[[Ended], None]) -> None:
    """Run a body in a daemon thread, and tell in that thread how it ended."""

    def main() -> None:
        started = time.perf_counter()
        try:
            value = body()
            if inspect.isawaitable(value):
                value = asyncio.run(_result_of(value))
        except BaseException as error:  # noqa: BLE001 - a thread has nobody else to tell
            done(Ended(None, error, time.perf_counter() - started))
        else:
            done(Ended(value, None, time.perf_counter() - started))

    _threads.do(functools.partial(contextvars.copy_context().run, main))


class _Threads:
    """Daemon threads that take work from one queue.

    It keeps true that
    * where work waits, a thread is on its way that takes it: none waits for a tool that hangs;
    * no more than one is on its way at a time, and it calls the next: where hundreds of short tools
      are called at once, one thread does many in a row, which is far quicker than to wake a thread
      for each.
    """

    most_idle = 256
    """Threads that are kept; with few, many runs at once begin and end one for most calls."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._work: deque[Callable[[], None]] = deque()
        self._idle: list[threading.Lock] = []
        self._on_its_way = False

    def do(self, work: Callable[[], None]) -> None:
        """Have a thread do it.

        Raises:
            RuntimeError: The system gives no thread more; the work is not done.
        """
        with self._guard:
            if not self._on_its_way:
                self._call_one()
            self._work.append(work)

    def _call_one(self) -> None:
        if self._idle:
            self._idle.pop().release()
        else:
            threading.Thread(target=self._live, name="rungs-tool", daemon=True).start()
        self._on_its_way = True

    def _live(self) -> None:
        called = threading.Lock()
        called.acquire()
        came = True
        while True:
            with self._guard:
                if came:
                    self._on_its_way = came = False
                work = self._work.popleft() if self._work else None
                if self._work and not self._on_its_way:
                    with contextlib.suppress(RuntimeError):  # then this one does it afterwards
                        self._call_one()
                if work is None:
                    if len(self._idle) >= self.most_idle:
                        return
                    self._idle.append(called)
            if work is None:
                came = called.acquire()
            else:
                work()
                del work  # let go of arguments and results while waiting


_threads = _Threads()


def _begin_anew() -> None:
    global _threads  # noqa: PLW0603 - a child has none of its parent's threads
    _threads = _Threads()


os.register_at_fork(after_in_child=_begin_anew)


async def _result_of(value: Awaitable[Any]) -> Any:
    return await value
