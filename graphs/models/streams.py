"""Streams of the `openai` client as plain dicts, whatever types a server put into its chunks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Self


class DictStream:
    """A stream, sync or async, whose chunks are dicts.

    The stock model dumps each chunk itself, and warns of every field that is not of its type.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[Any]:
        for chunk in self._stream:
            yield chunk.model_dump(warnings=False)

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for chunk in self._stream:
            yield chunk.model_dump(warnings=False)

    def __enter__(self) -> Self:
        self._stream.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stream.__exit__(*exception)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._stream.__aexit__(*exception)


class Completions:
    """The client's `chat.completions`, with streams of dicts."""

    def __init__(self, completions: Any) -> None:
        self._completions = completions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._completions, name)

    def create(self, **request: Any) -> Any:
        """Create a completion or a stream of dicts."""
        made = self._completions.create(**request)
        return DictStream(made) if request.get("stream") else made


class AsyncCompletions(Completions):
    """The same for the async client."""

    async def create(self, **request: Any) -> Any:
        """Create a completion or a stream of dicts."""
        made = await self._completions.create(**request)
        return DictStream(made) if request.get("stream") else made
