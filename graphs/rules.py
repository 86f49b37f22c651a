"""Stop rules: the conditions on the edges of a state machine."""

from collections.abc import Callable
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig, RunnableLambda

from graphs.calls import ids_of
from graphs.state import Replied, Standing, current
from graphs.transcript import newest_reply


class Rule(RunnableLambda[Any, str]):
    """A condition that is called as it is, without a trace run of its own.

    LangGraph would open one for each edge of each step, which costs more than most rules and tells
    no more than the edge that was taken.
    """

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> str:  # noqa: A002
        """Apply the rule."""
        return self.func(_with_room(input, config))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> str:  # noqa: A002
        """Apply the rule, which waits for nothing."""
        return self.func(_with_room(input, config))


_RUN = "__pregel_runtime"
"""What LangGraph passes on while a graph runs, and not where a person edits its state."""

_EDIT_STEPS = 2
_ROOM = 1_000_000


def _with_room(state: Any, config: RunnableConfig | None) -> Any:
    """Let an edited state go where a run would: at an edit, LangGraph counts two steps left."""
    at_an_edit = config is not None and _RUN not in config.get("configurable", {})
    if at_an_edit and state.get("remaining_steps") == _EDIT_STEPS:
        return {**state, "remaining_steps": _ROOM}
    return state


def rule(condition: Callable[[Any], str]) -> Rule:
    """Make a rule of a function from the state, as far as its annotation names it, to a word."""
    return Rule(condition)


Onward = Literal["valid calls", "next round", "out of rounds"]
"""What follows once it is known which calls of a reply may run."""


AfterReply = Literal["tool calls", "answer", "ask again", "out of rounds"]
"""What follows a reply."""


def after_check(state: Standing, *, over: bool) -> Literal["needs a yes"] | Onward:
    """Say what follows the check of a reply's calls: a person is asked where one needs it.

    Args:
        state: How the run stands.
        over: Whether the run has no round left.
    """
    progress = current(state)
    return "needs a yes" if progress and progress["to_approve"] else onward(state, over=over)


def onward(state: Standing, *, over: bool) -> Onward:
    """Run the calls that are left; without one the model goes on, if it has a round left."""
    if state.get("calls"):
        return "valid calls"
    return "out of rounds" if over else "next round"


def over_budget(state: Standing, *counted: Literal["rounds", "calls"], steps_to_end: int) -> bool:
    """Tell whether a run may call no more tools.

    So it is where its budget is spent, where the same call came again and again, and where
    LangGraph's own limit leaves no room for another round.

    Args:
        state: How the run stands.
        counted: What counts against the cap; the larger one does.
        steps_to_end: Steps from a reply with calls to the end at a cap.
    """
    progress = current(state)
    if progress is None or progress["stuck"]:
        return True
    spent = max(progress[what] for what in counted)
    return spent >= progress["cap"] or state["remaining_steps"] <= steps_to_end + 1


def after_checked_reply(
    state: Replied, *, steps_to_end: int, over: bool
) -> Literal["sound calls"] | AfterReply:
    """Say what follows a reply whose calls were checked: where all may run, they run at once.

    Takes what `after_reply` takes.
    """
    word = after_reply(state, steps_to_end=steps_to_end, over=over)
    return "sound calls" if word == "tool calls" and _are_all_checked(state) else word


def _are_all_checked(state: Replied) -> bool:
    """Tell whether the checked calls are those of the reply, which a person may have replaced."""
    checked: Any = state.get("calls")
    if not checked or not isinstance(checked, list):
        return False
    reply = newest_reply(state["messages"])
    made = [call["id"] for call in reply.tool_calls]
    return not reply.invalid_tool_calls and made == ids_of(checked)


def after_reply(state: Standing, *, steps_to_end: int, over: bool) -> AfterReply:
    """Say what follows a reply: its calls, the end, or another try where it said nothing.

    Args:
        state: How the run stands.
        steps_to_end: Steps from a reply with calls to the end at a cap; where LangGraph's own limit
            leaves no more, the run ends now.
        over: Whether the run has no round left.
    """
    if state.get("status"):
        return "answer"
    progress = current(state)
    # A state that was written by hand may have no record of a run: then it is at its end.
    if progress is None or state["remaining_steps"] <= steps_to_end:
        return "out of rounds"
    if progress["open_calls"]:
        return "tool calls"
    return "out of rounds" if over else "ask again"
