"""A growing transcript is read once, and what was found is what reading it anew would find."""

import gc
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from graphs.growing import append_messages
from graphs.places import has_message, human_messages, newest_human, system_messages, with_call_ids
from graphs.react.turns import compaction_of, exchanges, turns_of
from graphs.reading import Reading
from graphs.transcript import COMPACTION


def question(ident: str = "q") -> HumanMessage:
    return HumanMessage("?", id=ident)


def turn(number: int) -> list[BaseMessage]:
    call = {"id": f"c{number}", "name": "f", "args": {}}
    return [
        AIMessage(f"Action: f[{number}]", id=f"a{number}", tool_calls=[call]),
        ToolMessage("done", tool_call_id=f"c{number}", id=f"t{number}"),
    ]


def all_of(messages: Sequence[BaseMessage]) -> Any:
    """Return all that is read of a transcript."""
    newest = newest_human(messages)
    ident = newest.id or "" if newest else ""
    return (
        ident,
        turns_of(messages, ident),
        compaction_of(messages, ident),
        list(exchanges(messages, ident)),
        human_messages(messages),
        system_messages(messages),
        with_call_ids(messages, set),
        [has_message(messages, f"a{number}") for number in range(9)],
    )


def anew(messages: Sequence[BaseMessage]) -> Any:
    """Read copies, of which nothing is known."""
    return all_of([message.model_copy() for message in messages])


class Read(list[Any]):
    """What was read, in order."""

    def take(self, message: BaseMessage, place: int) -> None:
        self.append((place, message.id))


def test_each_message_of_a_growing_transcript_is_read_once() -> None:
    taken: list[int] = []

    def take(found: Read, message: BaseMessage, place: int) -> None:
        taken.append(place)
        found.take(message, place)

    reading = Reading(Read, take)
    messages: list[BaseMessage] = [question()]
    for number in range(20):
        messages = append_messages(messages, [turn(number)])
        told = reading.of(messages, list)
        assert told == [(place, message.id) for place, message in enumerate(messages)]
    assert taken == list(range(len(messages)))


def test_what_is_carried_on_is_what_reading_anew_would_find() -> None:
    messages: list[BaseMessage] = []
    summary = AIMessage("so far", id="s", additional_kwargs={COMPACTION: {"through": 1}})
    open_call = AIMessage("", id="a7", tool_calls=[{"id": "c7", "name": "f", "args": {}}])
    late = ToolMessage("late", tool_call_id="c7", id="t7")
    for added in (
        [SystemMessage("be brief", id="y")],
        [question()],
        turn(1),
        [summary],
        [open_call],
        [late, ToolMessage("twice", tool_call_id="c7", id="t8")],
        [AIMessage("Final Answer: 7", id="a8")],
        [question("r")],
        turn(2),
    ):
        messages = append_messages(messages, [added])
        assert all_of(messages) == anew(messages)
    assert [result and result.id for _, result in turns_of(messages, "q")] == ["t1", "t7", None]
    assert compaction_of(messages, "q") == summary
    assert compaction_of(messages, "r") is None


@pytest.mark.parametrize(
    "edit",
    [
        [HumanMessage("another?", id="a1")],
        [AIMessage("Final Answer: 3", id="a1")],
        [RemoveMessage(id="t1")],
        [RemoveMessage(id="a1"), *turn(5)],
        [RemoveMessage(id="q"), question("r")],
        [RemoveMessage(id=REMOVE_ALL_MESSAGES), question(), *turn(3)],
        [AIMessage("changed", id="a1"), AIMessage("Final Answer: 3", id="a6")],
    ],
)
def test_a_transcript_that_was_edited_is_read_anew(edit: list[BaseMessage]) -> None:
    messages = append_messages([], [[question(), *turn(0), *turn(1), *turn(2)]])
    all_of(messages)
    edited = append_messages(messages, [edit])
    for _ in range(2):
        assert all_of(edited) == anew(edited)
        assert all_of(messages) == anew(messages)


def test_two_forks_of_a_transcript_are_kept_apart() -> None:
    base = append_messages([], [[question(), *turn(0)]])
    all_of(base)
    one, other = append_messages(base, [turn(1)]), append_messages(base, [turn(2), turn(1)])
    for _ in range(2):
        assert all_of(one) == anew(one)
        assert all_of(other) == anew(other)
        assert all_of(base) == anew(base)


def test_nothing_is_kept_of_a_transcript_that_is_gone() -> None:
    reading = Reading(Read, Read.take)
    messages: list[BaseMessage] = [SystemMessage("s", id="s"), question(), *turn(0)]
    assert len(reading.of(messages, list)) == 4
    assert reading._kept
    del messages
    gc.collect()
    assert not reading._kept


@pytest.mark.parametrize("first", [SystemMessage("s"), question(), *turn(0)], ids=lambda m: m.type)
def test_the_readings_of_this_project_let_every_transcript_go(first: BaseMessage) -> None:
    from graphs import places
    from graphs.react import turns

    gc.collect()
    before = len(turns._runs._kept), len(places.places._kept)
    messages = [first.model_copy(update={"id": "x"})]
    all_of(messages)
    assert len(places.places._kept) == before[1] + 1
    del messages
    gc.collect()
    assert (len(turns._runs._kept), len(places.places._kept)) == before
