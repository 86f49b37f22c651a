"""A summary below the question, and the turns since (seed "ReAct", Context compaction)."""

from collections.abc import Sequence
from typing import Any, NamedTuple, NotRequired, cast

from langchain_core.messages import BaseMessage
from typing_extensions import TypedDict

from graphs.asking import Asked
from graphs.node import Scope, Update
from graphs.react.counting import CountedBy
from graphs.react.keywords import quoted
from graphs.react.turns import Turn, compaction_of
from graphs.react.views import View
from graphs.state import Output, Standing, State
from graphs.transcript import COMPACTION, newest_question
from graphs.usage import Spent, spent_beside, spent_on
from graphs.waiting import Steps

HEADING = "Progress so far:"


class Window(TypedDict):
    """How full the window is, for the stop rules.

    Attributes:
        tokens: Tokens of the next request.
        by: How they were counted.
        threshold: From how many on the history is summarized.
        ceiling: From how many on no turn is waited for any more, half-way to the window's end.
        droppable: Turns that a compaction could take out.
        compacted: Whether the run was compacted before.
        exhausted: Whether the run ends, because no compaction helps.
        overflowed: Whether the model refused the request as too long, whatever was counted.
    """

    tokens: int
    by: CountedBy
    threshold: int
    ceiling: int
    droppable: int
    compacted: bool
    exhausted: bool
    overflowed: bool


class CompactionOutput(Output):
    """What every run returns, and the newest summary; None where none was needed."""

    summary: str | None


class CompactionState(State):
    """The shared state, how full the window is, and the summary that the run ended with.

    `spent` are the run's model calls that left no reply: requests refused as too long, and
    summarizers that failed.
    """

    window: NotRequired[Window | None]
    spent: NotRequired[list[Spent]]
    summary: NotRequired[str | None]


class CompactionStanding(Standing):
    """What the stop rules of this variant look at."""

    window: NotRequired[Window | None]


class Compacted(NamedTuple):
    """The newest compaction of a run.

    Attributes:
        text: What stands for the turns that were taken out; "" before the first compaction.
        through: How many turns it stands for, from the first one on.
        earlier: Earlier exchanges of the thread that are shown at most; None: as many as have room.
    """

    text: str
    through: int
    earlier: int | None = None


NOT_COMPACTED = Compacted("", 0)


def compacted(messages: Sequence[BaseMessage], question: str) -> Compacted:
    """Read the newest compaction of a run out of the transcript, where each is recorded once."""
    newest = compaction_of(messages, question)
    if newest is None:
        return NOT_COMPACTED
    told = newest.additional_kwargs[COMPACTION]
    return Compacted(str(newest.text), int(told.get("through", 0)), told.get("earlier"))


class Summarized:
    """The question, the summary, and the turns since.

    It keeps true that
    * the question stands in every window, byte for byte, and is never summarized;
    * turns are shown whole, a reply with its Observation, or not at all;
    * no line of the summary can be read as a keyword.
    """

    def begin(self, state: State, scope: Scope) -> Steps[Update]:  # noqa: ARG002
        """Forget the summary of an earlier run."""
        yield from ()
        return {"summary": None}

    def view(self, turns: Sequence[Turn], state: State, scope: Scope) -> Steps[View]:  # noqa: ARG002
        """Show the summary and the turns behind it."""
        yield from ()
        question = newest_question(state["messages"]).id or ""
        return view_of(turns, compacted(state["messages"], question))

    def too_long(self, state: State, asked: Asked) -> Update | None:
        """Take the window for full: the model's own is smaller than the settings say."""
        window = window_of(state)
        if window is None:
            return None
        spent = [*spent_beside(state), spent_on(asked)]
        return {"window": {**window, "overflowed": True}, "spent": spent}

    def told(self, state: State, scope: Scope) -> Steps[Update]:  # noqa: ARG002
        """Return the newest summary."""
        yield from ()
        question = newest_question(state["messages"]).id or ""
        return {"summary": compacted(state["messages"], question).text or None}


def view_of(turns: Sequence[Turn], done: Compacted) -> View:
    """Show the turns that a compaction left, below what stands for the others."""
    if not done.through:
        return View(turns, earlier=done.earlier)
    below = f"{HEADING}\n{quoted(done.text)}"
    return View(turns[done.through :], below=below, earlier=done.earlier)


def window_of(state: Any) -> Window | None:
    """Return how full the window is, as it was counted last."""
    return cast("Window | None", state.get("window"))
