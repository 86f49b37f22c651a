"""What of a run the model is sent: a view of the transcript, which itself is never rewritten."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from graphs.asking import Asked
from graphs.node import Scope, Update
from graphs.places import system_messages
from graphs.react.keywords import behind_keyword
from graphs.react.turns import Exchange, Turn, exchanges
from graphs.state import State
from graphs.transcript import INTERRUPTED
from graphs.waiting import Steps
from prompts import Template
from tools import limit
from tools.limits import whole_size

EARLIER_CHARACTERS = 8_000
"""Characters of a thread's earlier questions and answers that are shown, the newest first."""


@dataclass(frozen=True, slots=True)
class View:
    """A run as it is shown.

    Attributes:
        turns: The turns that are shown, word for word.
        above: What stands above the question.
        below: What stands below it.
        earlier: Earlier exchanges of the thread that are shown at most; None: as many as have room.
    """

    turns: Sequence[Turn]
    above: str = ""
    below: str = ""
    earlier: int | None = None


class Recall(Protocol):
    """How a variant recalls what it did: all of it, by its notes, or by a summary."""

    def begin(self, state: State, scope: Scope) -> Steps[Update]:
        """Make ready for a new run."""

    def view(self, turns: Sequence[Turn], state: State, scope: Scope) -> Steps[View]:
        """Choose what of the run is shown."""

    def told(self, state: State, scope: Scope) -> Steps[Update]:
        """Return what the run's end tells beside the answer."""

    def too_long(self, state: State, asked: Asked) -> Update | None:
        """Return what is done where the model refused a request as too long; None: nothing can."""


class WholeTranscript:
    """Every turn is shown."""

    def too_long(self, state: State, asked: Asked) -> Update | None:  # noqa: ARG002
        """Nothing can be left out."""
        return None

    def begin(self, state: State, scope: Scope) -> Steps[Update]:  # noqa: ARG002
        """There is nothing to make ready."""
        yield from ()
        return {}

    def view(self, turns: Sequence[Turn], state: State, scope: Scope) -> Steps[View]:  # noqa: ARG002
        """Show all of it."""
        yield from ()
        return View(turns)

    def told(self, state: State, scope: Scope) -> Steps[Update]:  # noqa: ARG002
        """There is nothing to tell."""
        yield from ()
        return {}


def messages_of(
    view: View,
    opening: Template,
    messages: Sequence[BaseMessage],
    question: HumanMessage,
    limit_to: int,
    *,
    closing: str = "",
) -> list[BaseMessage]:
    """Write a view as messages: earlier exchanges, the question, replies and Observations in turn.

    User and assistant take turns without exception, as strict chat templates want it.

    Args:
        view: What is shown.
        opening: The line with the question, and what follows it.
        messages: The transcript.
        question: The question of the run, which is kept byte for byte.
        limit_to: Characters of an Observation.
        closing: What is said last.
    """
    written = system_messages(messages)
    for told in reversed(earlier_of(messages, question.id or "", view.earlier)):
        written += [HumanMessage(told.question), AIMessage(told.answer)]
    asked = opening.render(question=str(question.text))
    parts = [part for part in (view.above, asked, view.below) if part]
    others = [] if isinstance(question.content, str) else _no_text(question.content)
    pending = "\n\n".join(parts)
    for turn in view.turns:
        said = str(turn.reply.text)
        if said.strip():
            written += [_human(pending, others), AIMessage(said)]
            pending, others = "", []
        shown = f"Observation: {observation(turn, limit_to)}"
        pending = f"{pending}\n{shown}" if pending else shown
    if closing:
        pending = f"{pending}\n{closing}" if pending else closing
    written.append(_human(pending, others))
    return written


def observation(turn: Turn, most: int) -> str:
    """Return a turn's result as it stands behind `Observation:`, in at most so many characters.

    It is cut first and then quoted, to the longest of the cuts that fit when they are quoted.
    """
    text = str(turn.result.text) if turn.result is not None else INTERRUPTED
    size = whole_size(text)

    def shown(room: int) -> str:
        return behind_keyword(limit(text, room, size=size))

    if len(whole := shown(most)) <= most:
        return whole
    # What bisection ends at it has measured, also where an even shorter cut is no shorter.
    return shown(bisect_right(range(most), most, key=lambda room: len(shown(room))) - 1)


def earlier_of(
    messages: Sequence[BaseMessage], question: str, most: int | None = None
) -> list[Exchange]:
    """Return the earlier exchanges of the thread that are shown, newest first.

    Args:
        messages: The transcript.
        question: Id of the question of the run.
        most: How many they may be; None: as many as have room.
    """
    shown: list[Exchange] = []
    room = EARLIER_CHARACTERS
    for exchange in exchanges(messages, question):
        room -= sum(map(len, exchange))
        if room < 0 or len(shown) == most:
            break
        shown.append(exchange)
    return shown


def _human(text: str, others: list[Any]) -> HumanMessage:
    return HumanMessage([{"type": "text", "text": text}, *others] if others else text)


def _no_text(content: list[str | dict[str, Any]]) -> list[Any]:
    """Return the images and files of a question."""
    return [block for block in content if isinstance(block, dict) and block.get("type") != "text"]
