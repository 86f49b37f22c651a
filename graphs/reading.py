"""A growing transcript, read once: what was found in it is carried on from step to step."""

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from langchain_core.messages import BaseMessage

Found = TypeVar("Found")
Answer = TypeVar("Answer")


@dataclass(slots=True)
class _Kept(Generic[Found]):
    """What the first so many messages of a transcript hold."""

    first: weakref.ref[BaseMessage]
    last: weakref.ref[BaseMessage]
    read: int
    found: Found

    def begins(self, messages: Sequence[BaseMessage]) -> bool:
        """Tell whether the transcript begins with the messages that were read."""
        return (
            len(messages) >= self.read
            and self.first() is messages[0]
            and self.last() is messages[self.read - 1]
        )


class Reading(Generic[Found]):
    """Reads transcripts message by message, and each message of a growing one once.

    It keeps true that
    * an answer is what reading the whole transcript would give: a transcript goes on from another
      where it has the same messages, the very objects, at its beginning and where the other one
      ended. `append_messages` gives one that was edited in between a new first message;
    * nothing is kept longer than its transcript;
    * threads do not see each other's half-read transcripts.

    Args:
        begin: Makes what an empty transcript holds. It must hold no first message of a transcript,
            or it would live for ever.
        take: Takes one more message, and its place, into what was found.
    """

    def __init__(
        self, begin: Callable[[], Found], take: Callable[[Found, BaseMessage, int], None]
    ) -> None:
        self._begin, self._take = begin, take
        self._kept: dict[int, _Kept[Found]] = {}

    def of(self, messages: Sequence[BaseMessage], look: Callable[[Found], Answer]) -> Answer:
        """Read on to a transcript's end, and return what a look at what was found tells.

        Args:
            messages: The transcript.
            look: Must not keep what it is shown: the next reading goes on with it.
        """
        if not messages:
            return look(self._begin())
        first, key = messages[0], id(messages[0])
        # Taken out while it is read on: another thread then reads anew.
        kept = self._kept.pop(key, None)
        if kept is None or not kept.begins(messages):
            gone = weakref.ref(first, lambda _: self._kept.pop(key, None))
            kept = _Kept(gone, gone, 0, self._begin())
        for place in range(kept.read, len(messages)):
            self._take(kept.found, messages[place], place)
        answer = look(kept.found)
        kept.read, kept.last = len(messages), weakref.ref(messages[-1])
        self._kept[key] = kept
        return answer
