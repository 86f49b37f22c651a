"""Tool calls from the raw text a server sent: put together, then parsed strictly.

Streaming clients close unfinished JSON, drop the second of two glued objects and run a call with
`{}` where fragments got lost. So the pieces are gathered here as they arrived, for any provider,
and the calls are made from them instead.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessageChunk, BaseMessage, InvalidToolCall, ToolCall
from langchain_core.messages.tool import invalid_tool_call, tool_call
from langchain_core.runnables import RunnableConfig

from tools.arguments import ArgumentsError, parse_arguments

NO_NAME = "the call names no tool"
LOST_PIECES = (
    "the arguments came in pieces that can't be matched to a call (no index, no id);"
    " send the whole call again"
)


heard: ContextVar[RawCalls | None] = ContextVar("heard", default=None)
"""Who is handed the calls of a reply as they came, which a guard redacts on the way."""


@dataclass(slots=True)
class RawCall:
    """One tool call as it came: `arguments` is text, never parsed; `fault` says what spoilt it."""

    id: str | None
    name: str
    arguments: str
    fault: str | None = None


@dataclass(slots=True)
class _Open:
    id: str | None
    index: Hashable
    names: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    fault: str | None = None

    def add(self, piece: Mapping[str, Any]) -> None:
        self.id = self.id or piece.get("id") or None
        if name := piece.get("name"):
            self.names.append(name)
        if arguments := piece.get("args"):
            self.pieces.append(arguments)

    def close(self) -> RawCall:
        # Some servers repeat the whole name in each piece, others split it.
        name = self.names[0] if len(set(self.names)) == 1 else "".join(self.names)
        return RawCall(self.id, name, "".join(self.pieces), self.fault)


def assemble(pieces: Iterable[Mapping[str, Any]]) -> list[RawCall]:
    """Put streamed pieces together into calls, in order of arrival; as `assemble_indexed`."""
    return [call for _, call in assemble_indexed(pieces)]


def assemble_indexed(pieces: Iterable[Mapping[str, Any]]) -> list[tuple[Hashable, RawCall]]:
    """Put streamed pieces (`index`, `id`, `name`, `args`) together into calls, in order of arrival.

    * The same index continues a call, unless the piece has a name and another id: a new call.
    * Without an index, the id decides; a piece with a name or a new id starts a call.
    * A piece with none of the three spoils the call it may belong to, which is then not run.
    """
    calls: list[_Open] = []
    for piece in pieces:
        index, call_id, name = piece.get("index"), piece.get("id"), piece.get("name")
        if index is None:
            known = next((c for c in reversed(calls) if call_id and c.id == call_id), None)
            if known is None and not call_id and not name:
                known = calls[-1] if calls else _start(calls, None)
                known.fault = LOST_PIECES
        else:
            known = next((c for c in reversed(calls) if c.index == index), None)
            if known and name and call_id and known.id and call_id != known.id:
                known = None
        (known or _start(calls, index)).add(piece)
    return [(call.index, call.close()) for call in calls]


def _start(calls: list[_Open], index: Hashable) -> _Open:
    calls.append(_Open(id=None, index=index))
    return calls[-1]


def from_openai(raw: Any) -> list[RawCall]:
    """Read the `tool_calls` list of a chat completion's message, whatever its arguments are."""
    import json

    calls = []
    for item in raw if isinstance(raw, list) else []:
        function = item.get("function") if isinstance(item, Mapping) else None
        if not isinstance(function, Mapping):
            continue
        arguments = function.get("arguments")
        if arguments is None:
            arguments = ""
        elif not isinstance(arguments, str):  # an object where the protocol has text
            arguments = json.dumps(arguments, ensure_ascii=False)
        name, call_id = function.get("name"), item.get("id")
        calls.append(
            RawCall(
                call_id if isinstance(call_id, str) else None,
                name if isinstance(name, str) else "",
                arguments,
            )
        )
    return calls


LOOSE = "loose_arguments"
"""Marks a reply (in `additional_kwargs`) whose arguments were no JSON object as they came."""


def are_loose(raw: Iterable[RawCall]) -> bool:
    """Say whether a call's text is no JSON object as it stands: empty, null, or encoded twice.

    `parse_calls` reads it as one all the same, which is a guess that some callers don't want.
    """
    return any(call.fault is None and call.arguments.lstrip()[:1] != "{" for call in raw)


def parse_calls(raw: Iterable[RawCall]) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """Parse each call's arguments strictly; what does not parse is invalid, with a sentence why."""
    good: list[ToolCall] = []
    bad: list[InvalidToolCall] = []
    for call in raw:
        fault = call.fault or (None if call.name else NO_NAME)
        arguments: dict[str, Any] = {}
        if fault is None:
            try:
                arguments = parse_arguments(call.arguments)
            except ArgumentsError as error:
                fault = str(error)
        if fault is None:
            good.append(tool_call(name=call.name, args=arguments, id=call.id))
        else:
            bad.append(
                invalid_tool_call(name=call.name, args=call.arguments, id=call.id, error=fault)
            )
    return good, bad


class TextCut(Protocol):
    """Takes the text of a reply in pieces, and lets go what of it counts."""

    @property
    def ended(self) -> bool:
        """Whether nothing that may still come counts: the rest need not be read."""

    def push(self, piece: str) -> str:
        """Take a piece, and return what can be let go by now."""

    def flush(self) -> str:
        """Return the rest: the text is whole."""


class RawCalls(BaseCallbackHandler):
    """Gather the tool-call pieces of one streamed reply; a new attempt starts it afresh.

    Args:
        cut: Makes, for each attempt, what tells which of the reply's text counts: a guard tells
            nobody of the rest, and stops reading a stream of which nothing more does.

    Attributes:
        stopped: Whether a guard stopped reading before the reply was whole.
        whole: The reply as it came, where it was not streamed and a guard heard it.
        said: The pieces of its text as they came, where a guard heard them.
        found: Counts by kind of what a guard took out of its text.
    """

    run_inline = True
    ignore_chain = True
    ignore_agent = True
    ignore_retriever = True
    ignore_retry = True
    ignore_custom_event = True

    def __init__(self, cut: Callable[[], TextCut] | None = None) -> None:
        self.cut = cut
        self.stopped = False
        self._pieces: list[Mapping[str, Any]] = []
        self._last: Any = None
        self._lock = Lock()
        self.whole: BaseMessage | None = None
        self.said: list[str] = []
        self.found: dict[str, int] = {}

    def begin(self) -> None:
        """Forget an attempt that failed half-way."""
        self._pieces, self.whole, self.said, self.stopped = [], None, [], False
        self.found.clear()

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **kwargs: Any
    ) -> None:
        """Forget the pieces of an attempt that failed half-way."""
        del serialized, messages, kwargs
        self.begin()

    def on_llm_new_token(self, token: str | list[Any], *, chunk: Any = None, **kwargs: Any) -> None:
        """Keep the raw pieces of this chunk."""
        del token, kwargs
        message = getattr(chunk, "message", None)
        if chunk is self._last or not isinstance(message, AIMessageChunk):
            return
        self._last = chunk
        self.take(message)

    def take(self, message: AIMessageChunk) -> None:
        """Keep the raw pieces of calls in one piece of a reply."""
        if message.tool_call_chunks:
            with self._lock:
                self._pieces.extend(dict(piece) for piece in message.tool_call_chunks)

    def calls(self) -> list[RawCall]:
        """Return the calls that were streamed; none when the reply was not streamed."""
        return assemble(self._pieces)

    def indexed(self) -> list[tuple[Hashable, RawCall]]:
        """Return the calls, each with the index that its pieces had, None where they had none."""
        return assemble_indexed(self._pieces)

    def watching(self, config: RunnableConfig) -> RunnableConfig:
        """Return `config` with this collector beside the callbacks it has."""
        callbacks: Any = config.get("callbacks")
        if callbacks is None or isinstance(callbacks, list):
            callbacks = [*(callbacks or ()), self]
        else:
            callbacks = callbacks.copy()
            callbacks.add_handler(self)
        return {**config, "callbacks": callbacks}
