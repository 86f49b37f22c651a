"""An async HTTP client that works in every event loop, one connection pool a loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import openai

# Of the process, not of a model: a model may be collected while its loop still runs.
_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Any, AsyncGenerator[None, None]]]
_clients = WeakKeyDictionary()
_lock = Lock()


class LoopBoundClient(openai.DefaultAsyncHttpxClient):
    """Send through the client of the running loop.

    Connections belong to the loop that opened them: a client kept over two `asyncio.run` calls
    meets a closed loop. Each loop's client is closed when the loop shuts its async generators
    down, as `asyncio.run` does at its end.
    """

    async def send(self, request: Any, **options: Any) -> Any:
        """Send the request with the running loop's own client."""
        loop = asyncio.get_running_loop()
        known = _clients.get(loop)
        if known is None or known[0].is_closed:
            client = openai.DefaultAsyncHttpxClient()
            guard = _close_at_the_end(client)
            known = (client, guard)
            with _lock:
                for old in [key for key in _clients if key.is_closed()]:
                    del _clients[old]
                _clients[loop] = known
            await anext(guard)
        return await known[0].send(request, **options)


async def _close_at_the_end(client: Any) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await client.aclose()
