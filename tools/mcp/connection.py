"""The way to one server: a session, opened at first use, kept, and renewed when it is lost."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import logging
from typing import Any

from mcp.shared.session import ProgressFnT
from mcp.types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ClientRequest,
    EmptyResult,
    ListToolsRequest,
    PaginatedRequestParams,
    PingRequest,
)
from pydantic import BaseModel, Field

from tools.errors import StoppedError
from tools.mcp.errors import LostError, NotSentError, ServerError
from tools.mcp.loop import kill_servers, submit
from tools.mcp.reaping import reaper
from tools.mcp.session import Answer, Session, live_sessions
from tools.mcp.settings import ServerSettings
from tools.progress import Progress

PING_SECONDS = 2.0
"""How long a server that let a call run out of time may take to show that it lives."""

PEACE_SECONDS = 3.0
"""How long a server may take to end by itself once it is no longer needed."""

MOST_PAGES = 100

logger = logging.getLogger("rungs.mcp")


class _Page(BaseModel):
    """A page of a server's tools as they come: one that is ill-formed must not cost the others."""

    tools: list[Any] = Field(default_factory=list)
    nextCursor: str | None = None  # noqa: N815 - the protocol's word


class Connection:
    """The way to one server; its coroutines run on the servers' loop.

    Args:
        settings: How it is reached.

    Attributes:
        changed: Whether the server has said that its tools have changed.
        in_doubt: Whether a call was given up, so that the server may hang.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.changed = False
        self.in_doubt = False
        self._session: Session | None = None
        self._lock: asyncio.Lock | None = None

    async def tools(self) -> list[Any]:
        """Return what the server lists, tool by tool, as it comes.

        Raises:
            ServerError: It can't be reached, or does not answer in its `startup_timeout`.
        """
        try:
            async with asyncio.timeout(self.settings.startup_timeout):
                return await self._pages()
        except TimeoutError:
            raise self._out_of_time("list its tools") from None

    async def _pages(self) -> list[Any]:
        self.changed = False
        found: list[Any] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            params = PaginatedRequestParams(cursor=cursor) if cursor else None
            page = await self._ask(ListToolsRequest(params=params), _Page)
            found += page.tools
            cursor = page.nextCursor
            if not cursor:
                return found
        raise ServerError(f"its list of tools has more than {MOST_PAGES} pages")

    async def call(self, tool: str, arguments: dict[str, Any], tell: Progress) -> CallToolResult:
        """Call a tool by the server's own name for it, and tell of the progress it tells.

        Raises:
            LostError: The connection was lost meanwhile, or can't be made.
            RefusedError: The server answers with an error of the protocol.
        """
        params = CallToolRequestParams(name=tool, arguments=arguments)

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            with contextlib.suppress(StoppedError):  # the server is told of that by itself
                tell(self.settings.clean(message or ""), done=progress, total=total)

        return await self._ask(CallToolRequest(params=params), CallToolResult, hear)

    async def close(self) -> None:
        """Close the session, and end the server's process; it is opened anew when it is needed."""
        session, self._session = self._session, None
        if session is not None:
            await _end_in_peace({session})

    async def _ask(
        self, request: Any, answer: type[Answer], hear: ProgressFnT | None = None
    ) -> Answer:
        """Ask; once more where it is known that nothing was sent."""
        try:
            session = await self._open()
            return await session.ask(ClientRequest(request), answer, hear)
        except NotSentError:
            session = await self._open()
            return await session.ask(ClientRequest(request), answer, hear)

    async def _open(self) -> Session:
        """Return a session that can be asked."""
        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            session = self._session
            doubt, self.in_doubt = self.in_doubt, False
            if session is not None and doubt and not await self._answers(session):
                session.was_told = True
                session.kill()
                session.close()
                session = None
            if session is None or not session.is_open:
                if session is not None:
                    await self._part(session)
                self._session = session = Session(self.settings, self._on_change)
                await self._wait_for(session)
            return session

    async def _part(self, session: Session) -> None:
        """Close a session that has ended, and say so where no call has told it."""
        await session.ended()
        if session.served and not session.was_told:
            name, why = self.settings.name, session.why()
            logger.warning("MCP server '%s' ended between calls: %s; it is started anew", name, why)

    async def _wait_for(self, session: Session) -> None:
        try:
            async with asyncio.timeout(self.settings.startup_timeout):
                await session.opened()
        except TimeoutError:
            raise self._out_of_time("start") from None
        finally:
            if not session.is_open:
                session.close()

    def _out_of_time(self, what: str) -> LostError:
        session = self._session
        what = what if session is not None and session.is_open else "start"
        said = f": {session.unread}" if session is not None and session.unread else ""
        return LostError(f"it did not {what} within {self.settings.startup_timeout:g} s{said}")

    async def _answers(self, session: Session) -> bool:
        """Tell whether a server lives that let a call run out of time."""
        try:
            async with asyncio.timeout(PING_SECONDS):
                await session.ask(ClientRequest(PingRequest()), EmptyResult)
        except (TimeoutError, ServerError):
            return False
        return True

    def _on_change(self) -> None:
        self.changed = True


async def _end_in_peace(sessions: set[Session]) -> None:
    """Close sessions; what does not end by itself is ended."""
    for session in sessions:
        session.close()
    tasks = {session.task for session in sessions}
    _, left = await asyncio.wait(tasks, timeout=PEACE_SECONDS)
    if left:
        for session in sessions:
            session.kill()
            session.task.cancel()
        await asyncio.wait(left, timeout=1)


@atexit.register
def _end() -> None:
    """End every server, in peace where it goes, before the interpreter ends."""
    if sessions := set(live_sessions):
        with contextlib.suppress(concurrent.futures.TimeoutError, RuntimeError):
            submit(_end_in_peace(sessions)).result(PEACE_SECONDS + 2)
    kill_servers()
    reaper.close()
