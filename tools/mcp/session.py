"""One session with a server, in a task of its own that opens it, keeps it, and closes it.

Everything here runs on the servers' loop. It keeps true that

* a request ends: with its answer, with the server's error, or when the session is lost;
* what was lost before anything was sent says so (`NotSentError`), and may be sent again; of
  anything else it is not known whether it took effect;
* the task that opened the session closes it, however it ends, and its process with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
from langchain_mcp_adapters.sessions import create_session
from mcp import ClientSession, McpError
from mcp.shared.session import ProgressFnT
from mcp.types import (
    CONNECTION_CLOSED,
    CancelledNotification,
    CancelledNotificationParams,
    ClientNotification,
    ClientRequest,
    Implementation,
    ServerNotification,
    ToolListChangedNotification,
)
from pydantic import BaseModel, ValidationError

from tools.mcp.errors import LostError, NotSentError, RefusedError
from tools.mcp.loop import Child, forget, remember, starting
from tools.mcp.reasons import UNREADABLE, ended_with, is_unreachable, reason_of
from tools.mcp.settings import ServerSettings
from tools.text import shorten

Answer = TypeVar("Answer", bound=BaseModel)

_SESSION_UNKNOWN = 32600
"""What the SDK makes of a 404: the server does not know the session, and did nothing."""

_MOST_SAID = 1000
_LAST_WORDS_SECONDS = 0.5
_SENDING_FAILED = (anyio.ClosedResourceError, anyio.BrokenResourceError)

live_sessions: set[Session] = set()
"""The sessions that are open, or about to be."""

# The SDK logs what it can't read with a traceback; what matters of it is told in a sentence.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class Session:
    """A session with one server.

    Args:
        settings: How it is reached.
        on_change: Called when the server says that its tools have changed.

    Attributes:
        task: Ends when the session is closed.
        unread: What the server wrote and could not be read, in a sentence.
        served: Whether it was open.
        was_told: Whether the caller of a request was told that it ended.
    """

    def __init__(self, settings: ServerSettings, on_change: Callable[[], None]) -> None:
        self._settings, self._on_change = settings, on_change
        self._child = Child()
        self._closing = asyncio.Event()
        self._client: ClientSession | None = None
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting = 0
        self._parting: asyncio.Future[None] | None = None
        self._cause: BaseException | None = None
        self.unread = ""
        self.served = self.was_told = False
        # Not in the caller's context, which would keep the caller's graph as long as it lives.
        self.task = asyncio.create_task(self._live(), context=contextvars.Context())

    @property
    def is_open(self) -> bool:
        """Whether it can be asked something, as far as is known here."""
        going = self.task.done() or self._closing.is_set() or self._child.has_ended
        return self._client is not None and not going

    async def opened(self) -> None:
        """Wait until it is open.

        Raises:
            LostError: It can't be opened.
        """
        await asyncio.wait({self._opened, self.task}, return_when=asyncio.FIRST_COMPLETED)
        if not self._opened.done():
            raise LostError(self.why())

    async def ask(
        self, request: ClientRequest, answer: type[Answer], tell: ProgressFnT | None = None
    ) -> Answer:
        """Send a request and wait for its answer; `tell` is told of its progress meanwhile.

        Raises:
            NotSentError: The session was gone before.
            LostError: It went meanwhile.
            RefusedError: The server answers with an error.
        """
        client = self._client
        if client is None or not self.is_open:
            raise NotSentError(self.why())
        number = client._request_id  # noqa: SLF001 - the SDK tells nobody else which request it was
        asked = asyncio.ensure_future(client.send_request(request, answer, None, None, tell))
        self._waiting += 1
        try:
            await asyncio.wait({asked, self.task}, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return await self._read(asked)
            # Of one request alone it is known that it was the one that nobody took.
            if self._waiting == 1 and is_unreachable(self._cause):
                raise NotSentError(self.why())
            self.was_told = True
            raise LostError(self.why())
        except asyncio.CancelledError:
            if not asked.done():
                self._parting = asyncio.ensure_future(self._give_up(client, number))
            raise
        finally:
            self._waiting -= 1
            asked.cancel()

    def close(self) -> None:
        """Have it closed; its task ends when that is done."""
        self._closing.set()
        if not self._opened.done():
            self.task.cancel()

    def kill(self) -> None:
        """End the server's process at once."""
        self._child.kill()

    async def _live(self) -> None:
        starting.set(self._child)
        remember(self._child)
        live_sessions.add(self)
        options = {
            "message_handler": self._hear,
            "client_info": Implementation(name="rungs", version="0.1.0"),
        }
        connection: Any = {**self._settings.connection, "session_kwargs": options}
        try:
            async with create_session(connection) as client:
                await client.initialize()
                self._client, self.served = client, True
                self._opened.set_result(None)
                await self._closing.wait()
        except BaseException as error:
            self._cause = error
            if isinstance(error, asyncio.CancelledError | KeyboardInterrupt | SystemExit):
                raise
        finally:
            self._client = None
            forget(self._child)
            live_sessions.discard(self)

    async def _read(self, asked: asyncio.Future[Answer]) -> Answer:
        """Return the answer that came, or say what came instead."""
        try:
            return asked.result()
        except _SENDING_FAILED:
            await self.ended()
            raise NotSentError(self.why()) from None
        except McpError as error:
            code, message = error.error.code, error.error.message
            if code == _SESSION_UNKNOWN and "terminated" in message:
                self.close()
                raise NotSentError("it does not know the session any more") from None
            if code == CONNECTION_CLOSED:
                await self.ended()
                self.was_told = True
                raise LostError(self.why()) from None
            raise RefusedError(self._settings.clean(shorten(message, _MOST_SAID))) from None
        except ValidationError as error:
            raise RefusedError(f"its answer can't be read: {reason_of(error)}") from None

    async def ended(self) -> None:
        """Close what has ended, and give its process a moment to say how."""
        self.close()
        await asyncio.wait({self.task}, timeout=_LAST_WORDS_SECONDS)

    def why(self) -> str:
        """Say in a few words what became of the server."""
        code = self._child.code
        if UNREADABLE in self.unread:
            told = self.unread
        elif code is not None:
            told = ended_with(code, self._child.last_words)
        elif self._cause is not None and not isinstance(self._cause, asyncio.CancelledError):
            told = reason_of(self._cause)
        else:
            told = self.unread or "it closed the connection"
        return self._settings.clean(told)

    async def _hear(self, message: Any) -> None:
        """Take in what the server says unasked, and what could not be read."""
        if isinstance(message, ServerNotification):
            if isinstance(message.root, ToolListChangedNotification):
                self._on_change()
        elif isinstance(message, ValidationError):
            self.unread = reason_of(message)
            if UNREADABLE in self.unread:  # it may be an answer, for which nobody should wait
                self.close()

    async def _give_up(self, client: ClientSession, number: int) -> None:
        """Tell the server that nobody waits for a request any more."""
        params = CancelledNotificationParams(requestId=number, reason="timeout or cancel")
        notice = CancelledNotification(method="notifications/cancelled", params=params)
        with contextlib.suppress(Exception), anyio.move_on_after(1):
            await client.send_notification(ClientNotification(notice))
