"""Where in a transcript what stands, looked up without going through it again."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage

from graphs.reading import Reading

Used = TypeVar("Used")


@dataclass(slots=True)
class Places:
    """Where in a transcript what stands.

    Attributes:
        ids: Ids of all messages.
        humans: Places of the human messages, in order.
        systems: Places of the system messages, in order.
        answered: Ids of the calls that have a result.
    """

    ids: set[str | None] = field(default_factory=set)
    humans: list[int] = field(default_factory=list)
    systems: list[int] = field(default_factory=list)
    answered: set[str] = field(default_factory=set)

    def take(self, message: BaseMessage, place: int) -> None:
        """Take one more message in."""
        self.ids.add(message.id)
        if isinstance(message, HumanMessage):
            self.humans.append(place)
        elif isinstance(message, ToolMessage):
            self.answered.add(message.tool_call_id)
        elif isinstance(message, SystemMessage):
            self.systems.append(place)


places = Reading(Places, Places.take)


def newest_human(messages: Sequence[BaseMessage]) -> HumanMessage | None:
    """Return the newest human message, whatever it says."""
    place = places.of(messages, lambda p: p.humans[-1] if p.humans else None)
    found = None if place is None else messages[place]
    return found if isinstance(found, HumanMessage) else None


def place_of(messages: Sequence[BaseMessage], question: str) -> int | None:
    """Return the place of the newest message with a question's id."""
    newest = places.of(messages, lambda p: p.humans[-1:])
    for place in newest:
        if messages[place].id == question:
            return place
    return next((p for p in range(len(messages) - 1, -1, -1) if messages[p].id == question), None)


def human_messages(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """List the human messages, oldest first."""
    return [messages[place] for place in places.of(messages, lambda p: [*p.humans])]


def system_messages(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """List the system messages that callers put into the transcript."""
    return [messages[place] for place in places.of(messages, lambda p: [*p.systems])]


def has_message(messages: Sequence[BaseMessage], message_id: str) -> bool:
    """Tell whether a message of the transcript has an id."""
    return places.of(messages, lambda p: message_id in p.ids)


def with_call_ids(messages: Sequence[BaseMessage], use: Callable[[Collection[str]], Used]) -> Used:
    """Use the ids of all calls of the transcript that have a result, for nothing longer."""
    return places.of(messages, lambda p: use(p.answered))
