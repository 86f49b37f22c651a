"""Run tools side by side, each within its own time.

A sync tool runs in a daemon thread. An async tool runs on the caller's loop, or on one background
loop where the caller has none. A thread can't be stopped: when its time is up its result is no
longer waited for and reaches nobody, and the process may still end while it hangs.
"""

import asyncio
import contextlib
import contextvars
import functools
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from graphs.control import current_control
from graphs.jobs import Ended, Job
from graphs.tool_threads import in_daemon_thread
from graphs.waiting import Wait
from tools.errors import StoppedError

Told = Callable[[int, Ended], None]
"""Is told of each job, by its place, how it ended, as soon as it has."""


def run_all(jobs: Sequence[Job], told: Told = lambda *_: None) -> Wait[list[Ended]]:
    """Wait for all jobs, which run at the same time; the answers come in the order of the jobs."""
    return Wait(lambda: _wait_in_thread(jobs, told), lambda: _wait_on_loop(jobs, told))


def _wait_in_thread(jobs: Sequence[Job], told: Told) -> list[Ended]:
    started = time.monotonic()
    answers: queue.SimpleQueue[tuple[int, Ended]] = queue.SimpleQueue()
    for place, job in enumerate(jobs):
        done = functools.partial(_put, answers, place)
        if job.sync is not None:
            in_daemon_thread(job.sync, done)
        else:
            _on_background_loop(job, done)
    ended: dict[int, Ended] = {}

    def end(place: int, how: Ended) -> None:
        if place not in ended:  # else it comes after its time was up
            ended[place] = how
            told(place, how)

    while len(ended) < len(jobs):
        waiting = [place for place in range(len(jobs)) if place not in ended]
        soonest = min(waiting, key=lambda place: _patience(jobs[place]))
        left = max(0.0, started + _patience(jobs[soonest]) - time.monotonic())
        try:
            end(*answers.get(timeout=left))
        except queue.Empty:
            end(soonest, _out_of_time(jobs[soonest]))
            if jobs[soonest].sync is None:
                _background.forget_if_stuck()
    return [ended[place] for place in range(len(jobs))]


def _patience(job: Job) -> float:
    """Return how long a job is waited for: one on a loop has its time there, and is stopped."""
    return job.timeout + (_ANSWER_SECONDS if job.sync is None else 0)


def _put(answers: "queue.SimpleQueue[tuple[int, Ended]]", place: int, ended: Ended) -> None:
    answers.put((place, ended))


async def _wait_on_loop(jobs: Sequence[Job], told: Told) -> list[Ended]:
    async def one(place: int) -> Ended:
        job = jobs[place]
        # A task of its own costs something, and nobody could stop it without a control.
        ended = await (_on_this_loop(job) if current_control() is None else _stoppable(job))
        told(place, ended)
        return ended

    if len(jobs) == 1:
        return [await one(0)]
    return list(await asyncio.gather(*(one(place) for place in range(len(jobs)))))


async def _on_this_loop(job: Job) -> Ended:
    started = time.perf_counter()
    limit = asyncio.timeout(None)
    try:
        async with limit:
            # In a context of its own: a loop keeps a timer that was stopped until its time has
            # come, and with the timer all that the run's context holds.
            deadline = asyncio.get_running_loop().time() + job.timeout
            contextvars.Context().run(limit.reschedule, deadline)
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
    in_daemon_thread(job.sync, hand_over)
    return await future


def _on_background_loop(job: Job, done: Callable[[Ended], None]) -> None:
    context = contextvars.copy_context()

    async def main() -> None:
        done(await _stoppable(job))

    _background.loop().call_soon_threadsafe(_spawn, main(), context)


async def _stoppable(job: Job) -> Ended:
    """Run a job as a task of its own, which its `stopping` can cancel from any thread."""
    loop, started = asyncio.get_running_loop(), time.perf_counter()
    task = loop.create_task(_on_this_loop(job))
    job.stopping.by(functools.partial(_cancel, loop, task))
    try:
        return await task
    except asyncio.CancelledError:
        if _is_cancelled():
            raise
        return Ended(None, StoppedError(), time.perf_counter() - started)
    finally:
        job.stopping.by(None)


def _cancel(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop may have been left to a tool that blocks it
        loop.call_soon_threadsafe(task.cancel)


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
                # Not in the caller's context, which a loop keeps, and the caller's graph with it.
                self._loop = contextvars.Context().run(asyncio.new_event_loop)
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
