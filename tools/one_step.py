"""The step of LangGraph in which a call is made, and which other calls it makes.

What pauses one call of a step makes LangGraph run the whole step again, and it hands answers to
whoever asks first. `create_agent` makes a step of each call; a `ToolNode` behind a plain edge makes
one of all calls of a reply. So who asks, or has an effect, must know what is made beside it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any, NoReturn

from langgraph.types import interrupt
from langchain_core.messages import AIMessage, ToolCall
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt import ToolRuntime

_CHECKPOINTER = "__pregel_checkpointer"
_INTERRUPTS = "__interrupt__"
_READ = "__pregel_read"
_SCRATCHPAD = "__pregel_scratchpad"
_TASKS = "__pregel_tasks"
_SENT = "__pregel_push"
"""LangGraph's keys: what a step finds in its config, and the channels of pauses and of `Send`s."""

_ATTEMPT = "attempt"
"""The field of a question that counts how often the step has asked, itself included."""

_answering = threading.Lock()
"""Held while an answer is taken in, or a pause raised: neither waits for anything."""


class OtherQuestionError(Exception):
    """What was answered is not what would be asked now."""


class Step:
    """The step that makes a call, in a graph that can pause.

    It keeps true that
    * an answer belongs to the question that was shown last: who asks any other is given none;
    * whichever call of the step asks first, what is asked and answered is the same.

    Args:
        config: The call's config.
        runtime: What LangGraph's tool node hands to the call; None where something else makes it.

    Attributes:
        calls: All calls of the step, this one among them; None where they can't be told.
    """

    def __init__(self, config: Mapping[str, Any], runtime: ToolRuntime | None) -> None:
        self._config, self._runtime = config, runtime
        here = config["configurable"]
        self._pad, self._saver = here[_SCRATCHPAD], here[_CHECKPOINTER]
        self.calls = None if runtime is None else _calls(config, runtime)

    @property
    def by_hand(self) -> bool:
        """Whether something other than a tool node makes the call."""
        return self._runtime is None

    @property
    def resumed(self) -> bool:
        """Whether a pause of the step has been answered: it has been made before."""
        return bool(self._pad.resume) or self._pad.get_null_resume(consume=False) is not None

    def shown(self) -> Any:
        """Return the question that was shown last, as it was stored; None before the first."""
        if (where := self._where()) is None:
            return None
        return self._question(self._saver.get_tuple(where))

    async def ashown(self) -> Any:
        """Do what `shown` does, without blocking the loop."""
        if (where := self._where()) is None:
            return None
        return self._question(await self._saver.aget_tuple(where))

    def answer(self, question: Mapping[str, Any], shown: Any) -> Any:
        """Return the newest answer, which is this question's; None before the first.

        LangGraph hands an answer out again when a run goes on without a new one. So a step has one
        question, from its first pause to its last, and no answer can be of another.

        Args:
            question: What is asked, without the number of the try.
            shown: What `shown` returned.

        Raises:
            OtherQuestionError: It was given to another one.
        """
        with _answering:
            with contextlib.suppress(GraphInterrupt):  # there is no answer that is not in yet
                self._interrupt(None)  # takes it in, for all calls of the step
            answers = self._pad.resume
        if not answers:
            return None
        expected = {**question, _ATTEMPT: len(answers)}
        given = shown if isinstance(shown, Mapping) else {}
        if any(given.get(key) != value for key, value in expected.items()):
            raise OtherQuestionError
        return answers[-1]

    def ask(self, question: Mapping[str, Any]) -> NoReturn:
        """Pause.

        Raises:
            GraphInterrupt: Always.
        """
        with _answering:
            self._interrupt({**question, _ATTEMPT: len(self._pad.resume) + 1})
        raise RuntimeError("LangGraph had an answer to a question that was not asked yet")

    def without_answers(self) -> dict[str, Any]:
        """Return a config in which a pause finds none of the step's answers, and takes none."""
        nothing = {"resume": [], "get_null_resume": lambda _=False: None}
        pad = dataclasses.replace(self._pad, interrupt_counter=count().__next__, **nothing)
        return self._with(pad)

    def _interrupt(self, value: Any) -> None:
        """Call LangGraph's `interrupt` as the one after all that were answered."""
        pad = dataclasses.replace(
            self._pad, interrupt_counter=count(len(self._pad.resume)).__next__
        )
        with entered(self._with(pad)):
            interrupt(value)

    def _with(self, pad: Any) -> dict[str, Any]:
        return {**self._config, "configurable": {**self._config["configurable"], _SCRATCHPAD: pad}}

    def _where(self) -> Any:
        """Say which checkpoint the step's pause is kept with, if there was one."""
        info = self._runtime.execution_info if self._runtime else None
        if info is None or not self.resumed:
            return None
        above = info.checkpoint_ns.rpartition("|")[0]
        kept = {"checkpoint_ns": above, "checkpoint_id": info.checkpoint_id}
        return {"configurable": {"thread_id": info.thread_id, **kept}}

    def _question(self, kept: Any) -> Any:
        info = self._runtime.execution_info if self._runtime else None
        if kept is None or info is None:
            return None
        for task, channel, value in kept.pending_writes or ():
            if task == info.task_id and channel == _INTERRUPTS and value:
                return value[-1].value
        return None


@contextlib.contextmanager
def entered(config: Mapping[str, Any]) -> Iterator[None]:
    """Make a config what LangGraph finds in this thread or task."""
    found: Any = config
    token = var_child_runnable_config.set(found)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def is_question(shown: Any) -> bool:
    """Whether what a step showed was asked by `Step.ask`."""
    return isinstance(shown, Mapping) and isinstance(shown.get(_ATTEMPT), int)


def step_of(config: Mapping[str, Any], runtime: ToolRuntime | None) -> Step | None:
    """Return the step that makes a call; None where nothing can pause, or outside of a graph."""
    here = config.get("configurable") or {}
    if here.get(_CHECKPOINTER) is None or here.get(_SCRATCHPAD) is None:
        return None
    return Step(config, runtime)


def _calls(config: Mapping[str, Any], runtime: ToolRuntime) -> list[ToolCall] | None:
    """Return the calls that a tool node was given; None where that can't be told for sure."""
    given: Any = runtime.state
    path = (config.get("metadata") or {}).get("langgraph_path") or ()
    if path and path[0] == _SENT:
        if len(path) < 2 or not isinstance(path[1], int):  # noqa: PLR2004 - not a `Send`, but a task's call
            return None
        given = config["configurable"][_READ](_TASKS)[path[1]].arg
    calls = _given_calls(given, runtime.tool_call_id)
    ids = [call["id"] for call in calls]
    sure = runtime.tool_call_id in ids and len(set(ids)) == len(ids) and None not in ids
    return calls if sure else None


def _given_calls(given: Any, call_id: str | None) -> list[ToolCall]:
    """Read what a tool node takes: calls, one call in its context, messages, or a state."""
    if isinstance(given, Mapping) and given.get("__type") == "tool_call_with_context":
        return [given["tool_call"]]
    if isinstance(given, list):
        if given and isinstance(given[-1], Mapping) and given[-1].get("type") == "tool_call":
            return given
        return _newest_calls(given)
    found = [_newest_calls(value) for value in _values(given) if isinstance(value, list)]
    mine = [calls for calls in found if any(call["id"] == call_id for call in calls)]
    return mine[0] if mine and all(calls == mine[0] for calls in mine) else []


def _values(given: Any) -> Iterable[Any]:
    """Return the fields of a state, which is a mapping, a dataclass or a Pydantic model."""
    if isinstance(given, Mapping):
        return given.values()
    if dataclasses.is_dataclass(given):
        return [getattr(given, one.name) for one in dataclasses.fields(given)]
    return getattr(given, "__dict__", {}).values()


def _newest_calls(messages: list[Any]) -> list[ToolCall]:
    replies = (message for message in reversed(messages) if isinstance(message, AIMessage))
    newest = next(replies, None)
    return list(newest.tool_calls) if newest else []
