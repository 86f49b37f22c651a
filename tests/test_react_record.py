"""What a ReAct run records: each turn once, whatever of it the model is shown."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from graphs import open_graph
from graphs.models import ScriptedModel
from graphs.transcript import COMPACTION
from tests.reacting import Log, observations, sent
from tests.support import MODES, Mode

TURNS = 12
VARIANTS: dict[str, dict[str, Any]] = {
    "react_transcript": {"max_turns": 20},
    "react_todo_notes": {"kept_turns": 2},
    "react_compaction": {"kept_turns": 2, "context_window": 1000, "compact_at": 0.5},
}
CONFIG: Any = {"configurable": {"thread_id": "t"}}


def counted(messages: list[BaseMessage]) -> int:
    """Count 600 of 1,000 tokens where five turns or more are shown."""
    return 600 if sum(isinstance(message, AIMessage) for message in messages) >= 5 else 100


def playing() -> ScriptedModel:
    turn = iter(range(1, TURNS + 1))

    def reply(messages: Any, _: Any) -> str:
        if "compress the history" in str(messages[0].text):
            return "Goal: search."
        number = next(turn, None)
        if number is None:
            return "Final Answer: done"
        if "update_notes[text]" in str(messages[0].text) and number % 4 == 0:
            return f"Action: update_notes[up to {number}]"
        return f"Thought: turn {number}\nAction: search[item {number}]"

    return ScriptedModel(replies=[reply] * 100)


def states_of(mode: Mode, graph: Any, context: dict[str, Any]) -> list[list[BaseMessage]]:
    """Run, and return the transcript as it was after each step, copied: nothing can change it."""
    given = {"messages": [{"role": "user", "content": "?"}]}
    how: Any = {"context": context, "stream_mode": "values"}

    async def run() -> list[list[BaseMessage]]:
        return [copied(state) async for state in graph.astream(given, CONFIG, **how)]

    if mode == "ainvoke":
        return asyncio.run(run())
    return [copied(state) for state in graph.stream(given, CONFIG, **how)]


def copied(state: dict[str, Any]) -> list[BaseMessage]:
    return [message.model_copy(deep=True) for message in state["messages"]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", VARIANTS)
def test_each_turn_is_recorded_once_and_never_rewritten_whatever_the_model_is_shown(
    mode: Mode, name: str, tmp_path: Path
) -> None:
    log, model = Log(), playing()
    more: dict[str, Any] = {"token_counter": counted} if name == "react_compaction" else {}
    tools = [log.tool("search")]
    with open_graph(name, db=tmp_path / "r.sqlite", model=model, tools=tools, **more) as graph:
        states = states_of(mode, graph, VARIANTS[name])
        read_back = graph.get_state(CONFIG).values["messages"]
        written = [
            message.id
            for checkpoint in graph.memory.saver.list(CONFIG)
            for _, channel, value in checkpoint.pending_writes or ()
            if channel == "messages"
            for message in (value if isinstance(value, list) else [value])
        ]
    # It only grows: what was recorded stands there at the end, to the letter.
    last = states[-1]
    assert all(state == last[: len(state)] for state in states)
    assert read_back == last
    # And on disk each message was written once.
    once = Counter(written)
    assert [once[message.id] for message in last] == [1] * len(last)
    assert once.total() == len(last)
    # All of it is there, of which the last prompt shows a part.
    turns = [m for m in last if isinstance(m, AIMessage) and COMPACTION not in m.additional_kwargs]
    found = [m.text for m in last if m.type == "tool" and m.text != "notes saved"]
    assert len(turns) == TURNS + 1
    assert found == [f"about {text}" for _, text in log]
    shown = len(observations(model.requests[-1].messages))
    assert (shown < TURNS) == (name != "react_transcript")


@pytest.mark.parametrize("mode", MODES)
def test_window_notes_and_summary_are_in_the_prompt_and_not_in_the_turns(
    mode: Mode, tmp_path: Path
) -> None:
    for name, heading in (("react_todo_notes", "Notes:"), ("react_compaction", "Progress so far:")):
        model = playing()
        more: dict[str, Any] = {"token_counter": counted} if name == "react_compaction" else {}
        db, tools = tmp_path / f"{name}.sqlite", [Log().tool("search")]
        with open_graph(name, db=db, model=model, tools=tools, **more) as graph:
            last = states_of(mode, graph, VARIANTS[name])[-1]
        assert heading in sent(model.requests[-1])
        assert not any(heading in str(message.text) for message in last)
        assert [message.text for message in last if message.type == "human"] == ["?"]
