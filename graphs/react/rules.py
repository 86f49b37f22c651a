"""The stop rules of the ReAct variants."""

from typing import Literal

from graphs.rules import rule
from graphs.state import Standing, current

STEPS_TO_END = 4
"""Steps from a reply to the end: `validate_calls`, `approve`, `run_tools` and the last node."""

Onward = Literal["valid action", "next turn", "out of turns"]


@rule
def after_model(state: Standing) -> Literal["action", "ended", "next turn", "out of turns"]:
    """End at a final answer, a stuck run or a silent model; an action goes on."""
    progress = current(state)
    if state.get("status"):
        return "ended"
    if progress is None or state["remaining_steps"] <= STEPS_TO_END:
        return "out of turns"
    if progress["open_calls"]:
        return "action"
    return next_turn(state)


@rule
def after_validation(state: Standing) -> Literal["needs a yes"] | Onward:
    """Ask a person where the action needs it, run it, or let the model see what was wrong."""
    progress = current(state)
    return "needs a yes" if progress and progress["to_approve"] else _onward(state)


@rule
def after_approval(state: Standing) -> Onward:
    """Run the action, unless it was turned down."""
    return _onward(state)


@rule
def after_tools(state: Standing) -> Literal["next turn", "out of turns"]:
    """Let the model see the Observation, if it has a turn left."""
    return next_turn(state)


def _onward(state: Standing) -> Onward:
    return "valid action" if state.get("calls") else next_turn(state)


def next_turn(state: Standing) -> Literal["next turn", "out of turns"]:
    """Tell whether the run has a turn left, by its own cap and by LangGraph's."""
    progress = current(state)
    spent = progress is None or progress["rounds"] >= progress["cap"]
    over = spent or state["remaining_steps"] <= STEPS_TO_END + 1
    return "out of turns" if over else "next turn"
