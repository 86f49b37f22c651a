"""Daemon threads that run sync tools, one after another: the process may end while one hangs."""

import asyncio
import contextvars
import functools
import inspect
import os
import queue
import threading
import time
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

    For each piece of work in the queue there is a thread that does nothing else, so that none waits
    for a tool that hangs. Which of them takes it is left open: where hundreds come at once, one
    thread does many short ones in a row, which is far quicker than to wake a thread for each.
    """

    most_idle = 256
    """Threads that are kept; with few, many runs at once begin and end one for most calls."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._waiting, self._free = 0, 0

    def do(self, work: Callable[[], None]) -> None:
        """Have a thread do it, a new one where the others are all taken.

        Raises:
            RuntimeError: The system gives no thread more; the work is not done.
        """
        with self._guard:
            if self._free <= self._waiting:
                threading.Thread(target=self._work, name="rungs-tool", daemon=True).start()
                self._free += 1
            self._waiting += 1
        self._queue.put(work)

    def _work(self) -> None:
        while True:
            work = self._queue.get()
            with self._guard:
                self._waiting -= 1
                self._free -= 1
            work()
            del work  # let go of arguments and results while waiting
            with self._guard:
                if self._free >= max(self.most_idle, self._waiting):
                    return
                self._free += 1


_threads = _Threads()


def _begin_anew() -> None:
    global _threads  # noqa: PLW0603 - a child has none of its parent's threads
    _threads = _Threads()


os.register_at_fork(after_in_child=_begin_anew)


async def _result_of(value: Awaitable[Any]) -> Any:
    return await value
