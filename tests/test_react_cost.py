"""What a turn costs: as much late in a run as early, counted in bytecodes and not in seconds."""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from graphs import open_graph
from tests.support import MODES, Mode, compiled

FIRST, EARLY, LATE, SPAN = 30, 40, 120, 5
"""Turns that are measured, and how many from each on: as many as lie between two compactions.

Some Pythons count the first ones only in part: they are not compared with the others."""

HOME = Path(__file__).parents[1]
OWN = tuple(f"{HOME / name}{os.sep}" for name in ("graphs", "tools", "prompts"))
SHOWN = ("react/views", "react/keywords", "limits", "transcript.with_system")
"""What writes the turns that are shown, which in `react_transcript` are all."""

NOISE = 800
"""Bytecodes of what goes by the clock, by the digits of a lot, or of an id that could be a card's
number: some 120 each. Two for each message that came between the spans, in each turn of a span, are
twice as many."""


class Tracer:
    """Counts the bytecodes of this project's functions in spans of turns, by function."""

    def __init__(self) -> None:
        self.counts: dict[int, Counter[str]] = {FIRST: Counter(), EARLY: Counter(), LATE: Counter()}
        self._count: Counter[str] = Counter()
        self._before = sys.gettrace()

    def begin(self, turn: int) -> None:
        """Begin and end with the spans."""
        if turn in self.counts:
            self._count = self.counts[turn]
            sys.settrace(self._trace)
        elif turn - SPAN in self.counts:
            sys.settrace(self._before)

    def _trace(self, frame: FrameType, *_: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(OWN):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        module = Path(code.co_filename).relative_to(HOME).with_suffix("").as_posix()
        count, name = self._count, f"{module.partition('/')[2]}.{code.co_qualname}"

        def step(_frame: FrameType, event: str, _argument: Any) -> Any:
            count[name] += event == "opcode"
            return step

        return step


class LongModel(BaseChatModel):
    """Looks up one more thing each turn."""

    tracer: Any
    _turn: int = PrivateAttr(default=0)

    @property
    def _llm_type(self) -> str:
        return "long"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        text = "Goal: find the heaviest."
        if "compress the history" not in messages[0].text:
            self._turn += 1
            self.tracer.begin(self._turn)
            lot = f"lot-{self._turn:04}-of-the-northern-harbour"
            ends = self._turn == LATE + SPAN + 1
            text = "Final Answer: 7" if ends else f"Thought: on\nAction: look[{lot}]"
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return self._generate(messages)


def look(lot: str) -> str:
    """Look a lot up."""
    return (f"{lot} weighs 4 kg and is of a@example.com. " * 60)[:2000]


def number(messages: Sequence[BaseMessage]) -> int:
    return len(messages)


COMPACTING = {"context_window": 24, "kept_turns": 3}
"""Counted in messages: compacted at 18, of 8 turns, and anew 5 turns later."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "store"),
    [
        ("react_transcript", True),
        ("react_todo_notes", True),
        ("react_todo_notes", False),
        ("react_compaction", True),
    ],
)
def test_a_turn_late_in_a_run_costs_no_more_than_an_early_one(
    mode: Mode, name: str, store: bool, tmp_path: Path
) -> None:
    tracer = Tracer()
    more: dict[str, Any] = {"model": LongModel(tracer=tracer), "tools": [look]}
    context: dict[str, Any] = {"max_turns": 1000}
    if name == "react_compaction":
        more["token_counter"] = number
        context |= COMPACTING
    given: Any = {"messages": [{"role": "user", "content": "Which is the heaviest?"}]}
    config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 10_000}
    db = tmp_path / "memory.sqlite"
    opened: Any = open_graph(name, db=db, **more)
    if not store:
        opened = nullcontext(compiled(more["model"], more["tools"], name))
    with opened as graph:
        if mode == "ainvoke":
            output = asyncio.run(graph.ainvoke(given, config, context=context))
        else:
            output = graph.invoke(given, config, context=context)
    assert output["answer"] == "7"
    _, early, late = tracer.counts.values()
    assert early.total() > 10_000 * SPAN
    if name == "react_transcript":
        for counts in (early, late):
            for function in [key for key in counts if key.startswith(SHOWN)]:
                del counts[function]
    grown = {key: (early[key], late[key]) for key in late if late[key] > early[key] * 1.02 + NOISE}
    assert grown == {}
    assert late.total() <= early.total() * 1.02
