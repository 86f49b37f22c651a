"""Streams of the `openai` client as plain dicts, whatever types a server put into its chunks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Self

from graphs.models.stream_watch import StreamWatch


class DictStream:
    """A stream, sync or async, whose chunks are dicts, and which ends well only if it is whole.

    The stock model dumps each chunk itself, and warns of every field that is not of its type.

    Raises, while it is read:
        ModelReplyError: the reply is cut, or there is none.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        # The one place where all bytes and events pass, sync and async.
        self._watch = StreamWatch(stream._decoder)  # noqa: SLF001
        stream._decoder = self._watch  # noqa: SLF001

    def __iter__(self) -> Iterator[Any]:
        for chunk in self._stream:
            yield self._watch.read(chunk)
        if (whole := self._watch.close()) is not None:
            yield whole

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for chunk in self._stream:
            yield self._watch.read(chunk)
        if (whole := self._watch.close()) is not None:
            yield whole

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


class _RawReply:
    """A reply with its headers, whose stream is one of dicts."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def parse(self) -> DictStream:
        """Return the stream."""
        return DictStream(self._raw.parse())


class Completions:
    """The client's `chat.completions`, or its `with_raw_response`, with streams of dicts."""

    def __init__(self, completions: Any, kind: Any = DictStream) -> None:
        self._completions = completions
        self._kind = kind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._completions, name)

    @property
    def with_raw_response(self) -> Any:
        """Return the same with the headers of its replies."""
        return type(self)(self._completions.with_raw_response, _RawReply)

    def create(self, **request: Any) -> Any:
        """Create a completion or a stream of dicts."""
        made = self._completions.create(**request)
        return self._kind(made) if request.get("stream") else made


class AsyncCompletions(Completions):
    """The same for the async client."""

    async def create(self, **request: Any) -> Any:
        """Create a completion or a stream of dicts."""
        made = await self._completions.create(**request)
        return self._kind(made) if request.get("stream") else made
