"""The one event loop of a process on which its MCP servers live, in a thread of its own.

A session belongs to the loop and to the task that opened it, while its callers come and go: sync
ones, and async ones on loops of their own, that of `langgraph dev` among them. So all of it is
here, and callers hand over what is to be done. The loop knows the processes it started, listens to
what they write to stderr, and can end them at once; should this process be killed, `reaping` does.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Coroutine
from contextvars import Context, ContextVar
from typing import Any, TypeVar

from tools.mcp.reaping import reaper

Result = TypeVar("Result")

_TAIL = 4000
_LOOK = 0 if sys.platform == "win32" else os.WEXITED | os.WNOHANG | os.WNOWAIT
"""Tells whether a process has ended, and leaves it to whoever waits for it."""

if sys.platform == "win32":
    _Loop = asyncio.ProactorEventLoop
else:
    _Loop = asyncio.SelectorEventLoop


class Child(asyncio.Protocol):
    """A server's process: whether it lives, and the end of what it wrote to stderr."""

    def __init__(self) -> None:
        self._said = b""
        self._process: asyncio.SubprocessTransport | None = None
        self._pipe: asyncio.ReadTransport | None = None

    def started(self, process: asyncio.SubprocessTransport, pipe: asyncio.ReadTransport) -> None:
        """Remember the process, and where its stderr is read."""
        self._process, self._pipe = process, pipe

    def data_received(self, data: bytes) -> None:
        """Keep the end of what was written."""
        self._said = (self._said + data)[-_TAIL:]

    @property
    def last_words(self) -> str:
        """The last line written to stderr."""
        lines = self._said.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs, or was never started."""
        return self._process.get_returncode() if self._process else None

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended, also where the loop has not heard of it yet."""
        if self._process is None or self.code is not None:
            return self.code is not None
        if sys.platform == "win32":
            return False
        try:
            how = os.waitid(os.P_PID, self._process.get_pid(), _LOOK)
        except ChildProcessError:  # and was waited for
            return True
        return how is not None

    def close(self) -> None:
        """Listen no longer."""
        if self._pipe is not None:
            self._pipe.close()

    def kill(self) -> None:
        """End it and all that it started, at once."""
        if self._process is None or self.code is not None:
            return
        if sys.platform == "win32":
            with contextlib.suppress(OSError):
                self._process.kill()
        else:
            self.kill_group()

    def kill_group(self) -> None:
        """End whatever runs in its group; nothing else has that number until it is empty."""
        if self._process is not None and sys.platform != "win32":
            with contextlib.suppress(OSError):
                os.killpg(self._process.get_pid(), signal.SIGKILL)


starting: ContextVar[Child | None] = ContextVar("starting", default=None)
"""Which server the process belongs to that a task is about to start."""


class ServersLoop(_Loop):
    """Starts processes with their stderr on a pipe, which the SDK would leave to the terminal."""

    async def subprocess_exec(
        self, protocol_factory: Any, *program: Any, **options: Any
    ) -> tuple[Any, Any]:
        """Start a process, as asyncio does; that of a server is remembered as its `Child`."""
        child = starting.get()
        if child is None:
            return await super().subprocess_exec(protocol_factory, *program, **options)
        read, write = os.pipe()
        source = os.fdopen(read, "rb", 0)
        try:
            options["stderr"] = write
            process, protocol = await super().subprocess_exec(protocol_factory, *program, **options)
        except BaseException:
            source.close()
            raise
        finally:
            os.close(write)
        pipe, _ = await self.connect_read_pipe(lambda: child, source)
        child.started(process, pipe)
        reaper.began(process.get_pid())
        told = protocol.process_exited

        def exited() -> None:
            child.kill_group()  # what it has started, and left behind
            reaper.ended(process.get_pid())
            told()

        protocol.process_exited = exited
        return process, protocol


class _Host:
    """The loop, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: ServersLoop | None = None
        self.children: set[Child] = set()

    def loop(self) -> ServersLoop:
        with self._lock:
            if self._loop is None:
                # Not in the caller's context, which a loop keeps, and the caller's graph with it.
                self._loop = Context().run(ServersLoop)
                run = self._loop.run_forever
                threading.Thread(target=run, name="rungs-mcp", daemon=True).start()
            return self._loop


_host = _Host()


def submit(work: Coroutine[Any, Any, Result]) -> concurrent.futures.Future[Result]:
    """Have something done on the servers' loop; cancelling the future cancels it there."""
    return asyncio.run_coroutine_threadsafe(work, _host.loop())


def remember(child: Child) -> None:
    """See to it that a process ends with this one."""
    _host.children.add(child)


def forget(child: Child) -> None:
    """Let go of a process that has ended."""
    child.close()
    _host.children.discard(child)


def kill_servers() -> None:
    """End every server's process at once: for one that is about to leave without a word."""
    for child in list(_host.children):
        child.kill()
