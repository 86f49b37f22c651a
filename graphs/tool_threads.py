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

    work = functools.partial(contextvars.copy_context().run, main)
    try:
        _idle.pop().put(work)
    except IndexError:
        threading.Thread(target=_work_on, args=(work,), name="rungs-tool", daemon=True).start()


_Work = Callable[[], None]
_idle: list[queue.SimpleQueue[_Work]] = []  # threads that wait for work; append and pop are atomic
_MOST_IDLE = 32
os.register_at_fork(after_in_child=_idle.clear)  # a child has none of its parent's threads


def _work_on(work: _Work) -> None:
    """Do one piece of work after another; a thread for each would cost more than most tools."""
    inbox: queue.SimpleQueue[_Work] = queue.SimpleQueue()
    while True:
        work()
        del work  # let go of arguments and results while waiting
        if len(_idle) >= _MOST_IDLE:
            return
        _idle.append(inbox)
        work = inbox.get()


async def _result_of(value: Awaitable[Any]) -> Any:
    return await value
