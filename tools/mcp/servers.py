"""The MCP servers of a tools file: asked for their tools once, at first use, side by side.

It keeps true that

* nothing is started, contacted or imported before `ask` is called, and `ask` takes no longer than
  the slowest `startup_timeout`;
* a server that fails costs its own tools and one warning; it is asked again half a minute later;
* graphs that name the same server share one session with it, and its process ends with the last.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tools.contract import Contract
from tools.mcp.offers import offers
from tools.mcp.settings import ServerSettings
from tools.progress import Progress

if TYPE_CHECKING:
    from tools.mcp.connection import Connection

AGAIN_SECONDS = 30.0
"""How long a server that failed is left alone before it is asked for its tools again."""

logger = logging.getLogger("rungs.mcp")


@dataclass(slots=True)
class _Listed:
    """What is known of one server's tools."""

    contracts: list[Contract] = field(default_factory=list)
    failure: str = ""
    again: float = float("inf")


class Servers:
    """The servers of one graph.

    Args:
        settings: What the tools file says of each.
    """

    def __init__(self, settings: Sequence[ServerSettings]) -> None:
        self._settings = tuple(settings)
        self._listed: dict[str, _Listed] = {}
        self._told: set[str] = set()
        self._lock = threading.Lock()
        weakref.finalize(self, _release, self._settings, id(self)).atexit = False

    @property
    def is_listed(self) -> bool:
        """Whether nothing is to be asked: all have been, and none is due to be asked again."""
        return not self._due()

    def ask(self) -> bool:
        """Ask the servers that are due; blocks, and never fails.

        Returns:
            Whether anything was asked.
        """
        with self._lock:
            due = self._due()
            if not due:
                return False
            from tools.mcp.loop import submit

            connections = [_pool.get(settings, id(self)) for settings in due]
            answers = submit(_list_all(connections)).result()
            for settings, answer in zip(due, answers, strict=True):
                self._take(settings, answer)
            return True

    def contracts(self) -> list[Contract]:
        """Return what the servers offer, in the order of the file."""
        return [made for s in self._settings for made in self._known(s).contracts]

    @property
    def failures(self) -> list[str]:
        """Say which servers could not be asked, and why."""
        return [f for s in self._settings if (f := self._known(s).failure)]

    def warn(self, warning: str) -> None:
        """Log a warning, once."""
        if warning not in self._told:
            self._told.add(warning)
            logger.warning("%s", warning)

    def close(self) -> None:
        """Let go of the servers; a later call opens them anew."""
        _release(self._settings, id(self), wait=True)

    async def _call(
        self, settings: ServerSettings, tool: str, arguments: dict[str, Any], progress: Progress
    ) -> Any:
        """Call a tool, from whatever loop the caller is on."""
        from tools.mcp.errors import LostError, NotSentError, RefusedError
        from tools.mcp.loop import submit
        from tools.mcp.results import result_of

        connection = _pool.get(settings, id(self))
        try:
            answer = await asyncio.wrap_future(submit(connection.call(tool, arguments, progress)))
        except asyncio.CancelledError:
            connection.in_doubt = True
            raise
        except NotSentError as error:
            raise LostError(f"MCP server '{settings.name}' can't be reached: {error}") from None
        except LostError as error:
            lost = f"MCP server '{settings.name}' was lost in the middle of the call: {error}"
            raise LostError(f"{lost}; whether the call took effect is unknown") from None
        except RefusedError as error:
            raise RefusedError(f"MCP server '{settings.name}' refused the call: {error}") from None
        return result_of(answer, settings.clean)

    def _known(self, settings: ServerSettings) -> _Listed:
        return self._listed.get(settings.name) or _Listed()

    def _due(self) -> Sequence[ServerSettings]:
        now = time.monotonic()
        return [
            s
            for s in self._settings
            if s.name not in self._listed
            or self._listed[s.name].again <= now
            or _pool.has_changed(s)
        ]

    def _take(self, settings: ServerSettings, answer: Any) -> None:
        """Keep what a server answered; a failed one keeps the tools that it had."""
        if isinstance(answer, BaseException):
            reason = settings.clean(str(answer)) or type(answer).__name__
            failure = f"MCP server '{settings.name}' can't be used: {reason}"
            known = self._known(settings).contracts
            self._listed[settings.name] = _Listed(known, failure, time.monotonic() + AGAIN_SECONDS)
            left = "" if known else "; its tools are left out"
            self.warn(f"{failure}{left}")
            return
        contracts, warnings = offers(settings, answer, self._call)
        self._listed[settings.name] = _Listed(contracts)
        for warning in warnings:
            self.warn(warning)


class _Pool:
    """The connections of this process, each with the graphs that use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: dict[str, Connection] = {}
        self._users: dict[str, set[int]] = {}

    def get(self, settings: ServerSettings, user: int | None = None) -> Connection:
        from tools.mcp.connection import Connection

        key = _key(settings)
        with self._lock:
            if user is not None:
                self._users.setdefault(key, set()).add(user)
            if key not in self._connections:
                self._connections[key] = Connection(settings)
            return self._connections[key]

    def has_changed(self, settings: ServerSettings) -> bool:
        if not self._connections:
            return False
        connection = self._connections.get(_key(settings))
        return connection is not None and connection.changed

    def drop(self, settings: ServerSettings, user: int) -> Connection | None:
        """Forget a user; return the connection when that was the last one."""
        key = _key(settings)
        with self._lock:
            users = self._users.get(key, set())
            users.discard(user)
            return None if users else self._connections.pop(key, None)


_pool = _Pool()


def _key(settings: ServerSettings) -> str:
    return json.dumps([settings.name, settings.connection], sort_keys=True, default=str)


def _release(settings: Sequence[ServerSettings], user: int, *, wait: bool = False) -> None:
    """Close what nobody uses any more."""
    closed = [c for s in settings if (c := _pool.drop(s, user)) is not None]
    if closed:
        from tools.mcp.loop import submit

        done = submit(_close_all(closed))
        if wait:
            done.result()


async def _close_all(connections: Sequence[Connection]) -> None:
    await asyncio.gather(*(connection.close() for connection in connections))


async def _list_all(connections: Sequence[Connection]) -> list[Any]:
    listed = (connection.tools() for connection in connections)
    return list(await asyncio.gather(*listed, return_exceptions=True))
