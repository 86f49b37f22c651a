"""Run tools side by side, each within its own time.

A sync tool runs in a daemon thread. An async tool runs on the caller's loop, or on one background
loop where the caller has none. A thread can't be stopped: when its time is up its result is no
longer waited for and reaches nobody, and the process may still end while it hangs.
"""

import asyncio
import contextlib
import contextvars
import functools
import inspect
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from graphs.waiting import Wait


@dataclass(frozen=True, slots=True)
class Job:
    """One call to run.

    Attributes:
        sync: Runs it in a thread; None where it is async only.
        asynchronous: Starts it on a loop; None where it is sync only.
        timeout: Seconds it may take.
    """

    sync: Callable[[], Any] | None
    asynchronous: Callable[[], Awaitable[Any]] | None
    timeout: float


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended: with a value, with an exception, or out of time.

    Attributes:
        value: What it returned.
        error: What it raised.
        seconds: How long it took.
        out_of_time: Whether its time was up, so that its outcome is unknown.
    """

    value: Any
    error: BaseException | None
    seconds: float
    out_of_time: bool = False


def run_all(jobs: Sequence[Job]) -> Wait[list[Ended]]:
    """Wait for all jobs, which run at the same time; the answers come in the order of the jobs."""
    return Wait(lambda: _wait_in_thread(jobs), lambda: _wait_on_loop(jobs))


def _wait_in_thread(jobs: Sequence[Job]) -> list[Ended]:
    started = time.monotonic()
    answers: list[queue.SimpleQueue[Ended]] = []
    for job in jobs:
        answer: queue.SimpleQueue[Ended] = queue.SimpleQueue()
        if job.sync is not None:
            _in_daemon_thread(job.sync, answer.put)
        else:
            _on_background_loop(job, answer.put)
        answers.append(answer)
    ended = []
    for job, answer in zip(jobs, answers, strict=True):
        left = max(0.0, started + job.timeout - time.monotonic())
        try:
            ended.append(answer.get(timeout=left))
        except queue.Empty:
            ended.append(_out_of_time(job))
            if job.sync is None:
                _background.forget_if_stuck()
    return ended


async def _wait_on_loop(jobs: Sequence[Job]) -> list[Ended]:
    if len(jobs) == 1:
        return [await _on_this_loop(jobs[0])]
    return list(await asyncio.gather(*(_on_this_loop(job) for job in jobs)))


async def _on_this_loop(job: Job) -> Ended:
    started = time.perf_counter()
    limit = asyncio.timeout(job.timeout)
    try:
        async with limit:
            if job.asynchronous is None:
                return await _thread_of_loop(job)
            value = await job.asynchronous()
    except BaseException as error:
        if limit.expired():
            return _out_of_time(job)
        if isinstance(error, asyncio.CancelledError) and _is_cancelled():
            raise
        return Ended(None, error, time.perf_counter() - started)
    return Ended(value, None, time.perf_counter() - started)


def _is_cancelled() -> bool:
    """Tell a cancel of this task from a `CancelledError` that a tool raised itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _thread_of_loop(job: Job) -> Ended:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Ended] = loop.create_future()

    def answer(ended: Ended) -> None:
        if not future.done():
            future.set_result(ended)

    def hand_over(ended: Ended) -> None:
        # A tool may end after its loop did; nobody waits for it then.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(answer, ended)

    if job.sync is None:
        raise ValueError("a job needs a function to run")
    _in_daemon_thread(job.sync, hand_over)
    return await future


def _in_daemon_thread(body: Callable[[], Any], done: Callable[[Ended], None]) -> None:
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


def _on_background_loop(job: Job, done: Callable[[Ended], None]) -> None:
    context = contextvars.copy_context()

    async def main() -> None:
        done(await _on_this_loop(job))

    _background.loop().call_soon_threadsafe(_spawn, main(), context)


_running: set[asyncio.Task[None]] = set()  # a loop holds its tasks weakly


def _spawn(coroutine: Coroutine[Any, Any, None], context: contextvars.Context) -> None:
    task = asyncio.get_running_loop().create_task(coroutine, context=context)
    _running.add(task)
    task.add_done_callback(_running.discard)


class _Background:
    """The loop that serves async tools of sync callers, so that their clients outlive a call.

    A tool that blocks it, or ends its thread, costs the calls that are on it and no later one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop, started anew where there is none that answers."""
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="rungs-async-tools", daemon=True
                )
                self._thread.start()
            return self._loop

    def forget_if_stuck(self) -> None:
        """Leave a loop that does not answer to the tool that blocks it."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is None:
            return
        answers = threading.Event()
        with contextlib.suppress(RuntimeError):  # it may be closed
            loop.call_soon_threadsafe(answers.set)
        if answers.wait(_ANSWER_SECONDS):
            with self._lock:
                self._loop = self._loop or loop


_ANSWER_SECONDS = 0.2
_background = _Background()


def _out_of_time(job: Job) -> Ended:
    return Ended(None, None, job.timeout, out_of_time=True)
