"""Whether a call that a toolkit makes may run: a yes that is its own, and an effect only once.

Two calls of one step must not pause it one after the other: with the second answer the first runs
again. So all calls of a step are asked about in one question, what changes state waits for its
answer, and whatever may pause at any other time is not made beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from langchain_core.messages import ToolCall

from tools import yes
from tools.contract import Contract
from tools.failed import FailedError
from tools.one_step import OtherQuestionError, Step, is_question
from tools.search_tools import TOOL_CALL, TOOL_SEARCH

CHANGED = (
    "not executed: the calls of the reply that need a yes are no longer those that were asked "
    "about; make the call again"
)

UNKNOWN = (
    "something beside it paused, and whether it took effect before is unknown; look, before you "
    "make the call again"
)

Needing = Callable[[Iterable[ToolCall]], list[yes.Waiting]]
"""Returns those of a reply's calls that need a yes and could run with it."""


class Permission:
    """What one call may do in its step.

    It keeps true that
    * a yes is of the call that was shown with its name, its arguments and its id, and of no other;
    * nothing that changes state has run when a step pauses for a yes, or for another tool;
    * what can't be told for sure is not run: the call's result says why.

    Args:
        mine: The call, with its valid arguments.
        step: The step that makes it; None where nothing can pause.
        needing: Tells which calls need a yes.
    """

    def __init__(self, mine: yes.Waiting, step: Step | None, needing: Needing) -> None:
        self._mine, self._step = mine, step
        self._needing = needing
        tool = mine.tool
        self._matters = tool.requires_confirmation or tool.once
        self._others = _others(step, mine.call_id)

    @property
    def shares(self) -> bool:
        """Whether other calls are made in the same step, as far as can be told."""
        return self._others is None or bool(self._others)

    @property
    def looks(self) -> Step | None:
        """The step whose last question decides about this call."""
        return self._step if self._matters and self._others else None

    def given(self, shown: Any) -> yes.Verdict:
        """Return what is decided about the call, or pause for it.

        Args:
            shown: The last question of the step that `looks` returned.

        Raises:
            FailedError: It may not run.
            GraphInterrupt: The call, or one beside it that must come first, needs a yes.
        """
        verdict = self._verdict(shown)
        if not verdict.approved:
            said = f": {verdict.said}" if verdict.said else ""
            raise FailedError("rejected", f"not executed, it was not approved{said}")
        return verdict

    def _verdict(self, shown: Any) -> yes.Verdict:
        from langgraph.types import interrupt

        mine, step = self._mine, self._step
        free = yes.Verdict(approved=True, arguments=mine.arguments)
        if not self._matters:
            return free
        if step is None:
            return _needs_no_yes(
                mine.tool, free, "because there is no checkpointer with which to wait"
            )
        if step.by_hand:
            return _needs_no_yes(
                mine.tool, free, "because no tool node of LangGraph makes the call"
            )
        if self._others is None:
            said = "it can't be told what other calls are made in its step, and may pause"
            raise FailedError("not_permitted", f"not executed: {mine.tool.name}: {said}")
        if any(call["name"] != TOOL_CALL for call in self._others):
            why = "needs a yes" if mine.tool.requires_confirmation else "may change something"
            raise _alone(mine.tool, why)
        if not self._others:
            return yes.ask(mine, interrupt) if mine.tool.requires_confirmation else free
        if step.resumed and not is_question(shown):
            raise FailedError("interrupted", f"not executed: {mine.tool.name}: {UNKNOWN}")
        waiting = self._needing(step.calls or ())
        return _answers(step, waiting, shown).get(mine.call_id, free) if waiting else free

    def paused(self) -> FailedError:
        """Say that the tool paused by itself where it can't."""
        return _alone(self._mine.tool, "pauses by itself")


def _others(step: Step | None, call_id: str) -> list[ToolCall] | None:
    """Return the calls of the step that may pause it or change something; None: can't be told."""
    if step is None or step.by_hand:
        return []
    if step.calls is None:
        return None
    return [call for call in step.calls if call["id"] != call_id and call["name"] != TOOL_SEARCH]


def _answers(step: Step, waiting: Sequence[yes.Waiting], shown: Any) -> dict[str, yes.Verdict]:
    """Return what was decided about all that waits, or ask for it."""
    try:
        answer = step.answer(yes.request(waiting), shown)
    except OtherQuestionError as error:
        raise FailedError("not_permitted", CHANGED, retryable=True) from error
    problem = None
    if answer is not None:
        try:
            verdicts = yes.read(waiting, answer)
        except yes.AnswerError as error:
            problem = str(error)
        else:
            return {call.call_id: one for call, one in zip(waiting, verdicts, strict=True)}
    return step.ask(yes.request(waiting, problem))


def _needs_no_yes(tool: Contract, free: yes.Verdict, why: str) -> yes.Verdict:
    if tool.requires_confirmation:
        said = f"not executed: {tool.name} needs a yes; nobody could be asked, {why}"
        raise FailedError("not_permitted", said)
    return free


def _alone(tool: Contract, why: str) -> FailedError:
    said = (
        f"not executed: {tool.name} {why}, and the other calls of the reply may pause, after which "
        "all of them are made again: make this call in a reply of its own"
    )
    return FailedError("not_permitted", said, retryable=True)
