"""What a stream held, so that one that is cut, or is none, is told from a whole reply."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from langchain_core.outputs import ChatGenerationChunk

from graphs.models.chat_result import NO_CHOICES, chat_result, read_json, unreadable
from graphs.models.errors import ModelReplyError

EMPTY_STREAM = "the model server sent an empty stream"
CUT_STREAM = "the stream ended early: the model server closed it before the reply was whole"

# The parsing client asserts that there was a chunk, and reads chunks as if they had their shape.
_PARSER_FAULTS = (AssertionError, AttributeError, KeyError, TypeError)
_DONE = b"data:[DONE]"
_FIELDS = (b"data:", b"event:", b"id:", b"retry:")


class StreamWatch:
    """Stand in for the client's decoder of server-sent events, and see what it drops.

    The client ends a stream at `[DONE]` and at a closed connection alike, and passes over all that
    is no event: a page, or a completion sent whole.
    """

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder
        self._before = bytearray()  # what came before the first event
        self._tail = b""
        self._events = False
        self._chunks = False
        self._choices = False
        self._finished = False

    def iter_bytes(self, pieces: Iterator[bytes]) -> Iterator[Any]:
        """Decode the events of a sync stream."""
        for event in self._decoder.iter_bytes(self._seen(piece) for piece in pieces):
            yield self._noted(event)

    async def aiter_bytes(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[Any]:
        """Decode the events of an async stream."""
        async for event in self._decoder.aiter_bytes(self._seen(piece) async for piece in pieces):
            yield self._noted(event)

    def _seen(self, piece: bytes) -> bytes:
        if not self._events:
            self._before += piece
        self._tail = (self._tail + piece)[-len(_DONE) - 8 :]
        return piece

    def _noted(self, event: Any) -> Any:
        if not self._events:
            self._events = True
            self._before.clear()
        self._finished = self._finished or event.data.startswith("[DONE]")
        return event

    def read(self, chunk: Any) -> dict[str, Any]:
        """Return the chunk as a dict, and note whether it says that the reply is whole.

        Raises:
            ModelReplyError: it is no object, or tells an error.
        """
        if not hasattr(chunk, "model_dump"):
            raise unreadable(TypeError(f"a piece of the stream is {str(chunk)[:80]}"))
        self._chunks = True
        data: dict[str, Any] = chunk.model_dump(warnings=False)
        if data.get("object") == "error":
            chat_result(data, "", {})
        choices = data.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            self._choices = True
            if isinstance(choice, Mapping) and choice.get("finish_reason"):
                self._finished = True
        return data

    def close(self) -> dict[str, Any] | None:
        """Judge the stream at its end, and return a completion that was sent in its place.

        A reply is whole when a finish reason or `[DONE]` came: servers leave out one or the other.

        Returns:
            The completion as one chunk; None where the stream is whole.

        Raises:
            ModelReplyError: the reply is cut, or there is none.
        """
        if not self._events:
            return self._instead()
        if self._choices:
            # The last line may lack the blank line that would make it an event.
            if self._finished or self._tail.replace(b" ", b"").rstrip().endswith(_DONE):
                return None
            raise ModelReplyError(CUT_STREAM)
        raise ModelReplyError(NO_CHOICES if self._chunks else EMPTY_STREAM)

    def _instead(self) -> dict[str, Any] | None:
        """Read what came and was no event."""
        lines = bytes(self._before).splitlines()
        told = [line for line in lines if line.strip() and not line.startswith(b":")]
        if not told:
            raise ModelReplyError(EMPTY_STREAM)
        if told[0].startswith(_FIELDS):
            raise ModelReplyError(CUT_STREAM)
        data = read_json(b"\n".join(told))
        return whole_as_chunk(data)


def whole_as_chunk(data: Mapping[str, Any]) -> dict[str, Any]:
    """Make one chunk of a whole completion.

    Raises:
        ModelReplyError: it is none, as `chat_result`.
    """
    (generation, *_) = chat_result(data, "", {}).generations
    usage = getattr(generation.message, "usage_metadata", None)
    choice = data["choices"][0]
    message = dict(choice["message"])
    if calls := message.get("tool_calls"):
        message["tool_calls"] = [
            {**call, "index": place}
            for place, call in enumerate(calls)
            if isinstance(call, Mapping)
        ]
    first = {**choice, "delta": message}
    return {**data, "choices": [first], "usage": data.get("usage") if usage else None}


class Ending:
    """Judge a stream by the chunks made of it: the client reads one it parses by itself."""

    def __init__(self, *, parsed: bool) -> None:
        self._parsed = parsed
        self._empty = True
        self._finished = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: object, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._parsed and isinstance(error, _PARSER_FAULTS):
            raise ModelReplyError(EMPTY_STREAM) if self._empty else unreadable(error)

    def note(self, chunk: ChatGenerationChunk) -> None:
        """See one chunk."""
        self._empty = False
        if (chunk.generation_info or {}).get("finish_reason"):
            self._finished = True

    def check(self) -> None:
        """Raise where there was no chunk, or a parsed stream had no finish reason.

        Raises:
            ModelReplyError: the reply is cut, or there is none.
        """
        if self._empty:
            raise ModelReplyError(EMPTY_STREAM)
        if self._parsed and not self._finished:
            raise ModelReplyError(CUT_STREAM)
