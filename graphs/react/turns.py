"""The turns of a run, read from the transcript, where each is recorded once.

A turn is a reply and the result that answers it. The reply keeps its text as it was said; its one
tool call is derived from that text, so that a ReAct action is checked, approved, run and logged as
any other call is. A reply that could not be read as an action carries an invalid call.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from graphs.models.quirks import answer_text
from graphs.react.parser import FinalAnswer, parse
from graphs.transcript import COMPACTION


class Turn(NamedTuple):
    """A reply and the result of its action; None where the action has none yet."""

    reply: AIMessage
    result: ToolMessage | None

    @property
    def action(self) -> str:
        """What the turn did, for telling whether another did the same."""
        made: list[Any] = [[call["name"], call["args"]] for call in self.reply.tool_calls]
        made += [[call["name"], call["args"]] for call in self.reply.invalid_tool_calls]
        return json.dumps(made, sort_keys=True, default=str)


class Exchange(NamedTuple):
    """An earlier question of the thread, and the answer it got."""

    question: str
    answer: str


def since(messages: Sequence[BaseMessage], question: str) -> Sequence[BaseMessage]:
    """Return what is recorded of the run that answers a question."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].id == question:
            return messages[place + 1 :]
    return ()


def turns_of(messages: Sequence[BaseMessage], question: str) -> list[Turn]:
    """Read the turns of the run that answers a question, oldest first."""
    results: dict[str, ToolMessage] = {}
    replies: list[AIMessage] = []
    for message in since(messages, question):
        if isinstance(message, ToolMessage):
            results.setdefault(message.tool_call_id, message)
        elif isinstance(message, AIMessage) and COMPACTION not in message.additional_kwargs:
            replies.append(message)
    return [Turn(reply, results.get(_call_id(reply))) for reply in replies]


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
    began = False
    for message in reversed(messages):
        if message.id == question:
            began = True
        elif not began:
            continue
        elif isinstance(message, HumanMessage):
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
