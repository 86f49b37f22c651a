"""How a transcript grows: messages that are appended, and edits of those that are there."""

import hashlib
from collections.abc import Collection, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.messages import BaseMessage, RemoveMessage, convert_to_messages
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from graphs.errors import UsageError
from graphs.places import places

MADE_UP = "do-not-render-"
"""How Agent Chat UI begins the id of a result that it makes up and does not show."""


def append_messages(state: list[BaseMessage], writes: Sequence[Any]) -> list[BaseMessage]:
    """Apply a batch of writes to the transcript (the reducer of its `DeltaChannel`).

    A message is appended; one whose id is there already takes its place, and a `RemoveMessage`
    takes it out, so that Studio can edit and fork. Given the same writes it answers the same,
    however they are batched.

    Agent Chat UI sends a good result, made up, for each call that has none when a person types past
    it. Nothing was done, and the model must not read that it was: such a message is left out.

    Args:
        state: The messages so far.
        writes: Each a message, a dict or a list of either, in order.

    Raises:
        UsageError: One is no message.
    """
    added: list[Any] = []
    for write in writes:
        added.extend(write if isinstance(write, list) else [write])
    if not all(isinstance(message, BaseMessage) for message in added):
        added = read_messages(added)
    return places.of(state, lambda found: _appended(state, added, found.ids))


def read_messages(given: Sequence[Any]) -> list[BaseMessage]:
    """Read messages in every form that LangChain knows.

    Args:
        given: Each a message, a dict, a pair or a text.

    Raises:
        UsageError: One is no message. LangGraph's server tells it to who sent it.
    """
    try:
        return convert_to_messages(given)
    except (ValueError, TypeError, NotImplementedError, KeyError) as error:
        raise UsageError(f"messages can't be read: {str(error).splitlines()[0]}") from None


def _appended(
    state: list[BaseMessage], added: Sequence[Any], there: Collection[str | None]
) -> list[BaseMessage]:
    result, known, edited = list(state), there, False
    fresh: set[str | None] = set()
    for message in added:
        if message.id is None:
            message.id = _id_by_place(message, len(result))
        if message.type == "tool" and message.id.startswith(MADE_UP):
            continue
        new = message.id not in known and message.id not in fresh
        if new and not isinstance(message, RemoveMessage):
            fresh.add(message.id)
            result.append(message)
            continue
        result = [] if message.id == REMOVE_ALL_MESSAGES else _replace(result, message)
        known, fresh, edited = (), {kept.id for kept in result}, True
    if edited:  # and so no `Reading` of what it was goes on in it
        result[:1] = [message.model_copy() for message in result[:1]]
    return result


def _id_by_place(message: BaseMessage, place: int) -> str:
    """Name a message that came without an id, the same each time the writes are replayed."""
    digest = hashlib.sha256(f"{message.type}\n{message.content}".encode(errors="replace"))
    return f"{place}-{digest.hexdigest()[:24]}"


def with_ids(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Give each message without an id one of its own; what the caller passed is not changed."""
    return [m if m.id else m.model_copy(update={"id": str(uuid4())}) for m in messages]


def _replace(messages: list[BaseMessage], message: Any) -> list[BaseMessage]:
    if isinstance(message, RemoveMessage):
        return [kept for kept in messages if kept.id != message.id]
    return [message if kept.id == message.id else kept for kept in messages]
