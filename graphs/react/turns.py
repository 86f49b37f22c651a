"""The turns of a run, read from the transcript, where each is recorded once.

A turn is a reply and the result that answers it. The reply keeps its text as it was said; its one
tool call is derived from that text, so that a ReAct action is checked, approved, run and logged as
any other call is. A reply that could not be read as an action carries an invalid call.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from graphs.calls import made, sealed
from graphs.models.quirks import answer_text
from graphs.places import place_of
from graphs.react.parser import FinalAnswer, parse
from graphs.reading import Reading
from graphs.transcript import COMPACTION


class Turn(NamedTuple):
    """A reply and the result of its action; None where the action has none yet."""

    reply: AIMessage
    result: ToolMessage | None

    @property
    def action(self) -> str:
        """What the turn did, for telling whether another did the same: both as they are recorded.

        What was taken out of the arguments is equal where it is equal sealed.
        """
        calls = [[call["name"], call["args"], sealed(call)] for call in made(self.reply)]
        return json.dumps(calls, sort_keys=True, default=str)


class Exchange(NamedTuple):
    """An earlier question of the thread, and the answer it got."""

    question: str
    answer: str


@dataclass(slots=True)
class _Run:
    """The run that answers the newest question of a transcript.

    Attributes:
        question: Id of the question.
        turns: Its turns, oldest first.
        compaction: Its newest summary.
        waiting: Places of the turns that have no result yet, by call id.
        results: Results by call id, the first of each.
    """

    question: str | None = None
    turns: list[Turn] = field(default_factory=list)
    compaction: AIMessage | None = None
    waiting: dict[str, int] = field(default_factory=dict)
    results: dict[str, ToolMessage] = field(default_factory=dict)

    def take(self, message: BaseMessage, _: int = 0) -> None:
        """Take one more message in; a question begins a new run, and what is before it is none."""
        if isinstance(message, HumanMessage):
            self.question = message.id
            self.turns, self.waiting, self.results = [], {}, {}
            self.compaction = None
        elif self.question is None:
            return
        elif isinstance(message, ToolMessage):
            result = self.results.setdefault(message.tool_call_id, message)
            if (place := self.waiting.pop(message.tool_call_id, None)) is not None:
                self.turns[place] = Turn(self.turns[place].reply, result)
        elif isinstance(message, AIMessage):
            self._take_reply(message)

    def _take_reply(self, reply: AIMessage) -> None:
        if COMPACTION in reply.additional_kwargs:
            if isinstance(reply.additional_kwargs[COMPACTION], dict):
                self.compaction = reply
            return
        call = _call_id(reply)
        if call not in self.results:
            self.waiting[call] = len(self.turns)
        self.turns.append(Turn(reply, self.results.get(call)))


_runs = Reading(_Run, _Run.take)


def turns_of(messages: Sequence[BaseMessage], question: str) -> list[Turn]:
    """Read the turns of the run that answers a question, oldest first."""
    return _run_of(messages, question)[0]


def compaction_of(messages: Sequence[BaseMessage], question: str) -> AIMessage | None:
    """Return the newest summary of the run that answers a question."""
    return _run_of(messages, question)[1]


def _run_of(messages: Sequence[BaseMessage], question: str) -> tuple[list[Turn], AIMessage | None]:
    newest = _runs.of(messages, lambda run: _told(run) if run.question == question else None)
    if newest is not None:
        return newest
    run, place = _Run(question), place_of(messages, question)
    for message in messages[place + 1 :] if place is not None else ():
        if isinstance(message, HumanMessage):
            break
        run.take(message)
    return _told(run)


def _told(run: _Run) -> tuple[list[Turn], AIMessage | None]:
    return list(run.turns), run.compaction


def _call_id(reply: AIMessage) -> str:
    calls = (*reply.tool_calls, *reply.invalid_tool_calls)
    return calls[0]["id"] or "" if calls else ""


def repeats(turns: Sequence[Turn], newest: Turn) -> int:
    """Count how often in a row an action came, the newest one included."""
    count = 1
    for turn in reversed(turns):
        if turn.action != newest.action:
            break
        count += 1
    return count


def exchanges(messages: Sequence[BaseMessage], question: str) -> Iterator[Exchange]:
    """Read the earlier questions that were answered, newest first.

    One that was not answered is left out: it would read as if it were still open.
    """
    answer = ""
    for message in reversed(messages[: place_of(messages, question) or 0]):
        if isinstance(message, HumanMessage):
            if answer:
                yield Exchange(str(message.text), answer)
            answer = ""
        elif isinstance(message, AIMessage) and not answer and _may_answer(message):
            answer = _answer(message)


def _may_answer(reply: AIMessage) -> bool:
    calls = reply.tool_calls or reply.invalid_tool_calls
    return not calls and COMPACTION not in reply.additional_kwargs


def _answer(reply: AIMessage) -> str:
    text = answer_text(reply)
    parsed = parse(text)
    return parsed.text if isinstance(parsed, FinalAnswer) else text
