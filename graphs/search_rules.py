"""The stop rules of the variants that search for their tools: the seeds' caps count searches."""

from typing import Literal

from graphs.rules import AfterReply, Onward, after_check, after_reply, onward, over_budget, rule
from graphs.search_calls import is_search
from graphs.state import Standing

STEPS_TO_END = 5
"""Steps from a reply to the end: validate, search, approve, run, and `finalize`."""


@rule
def after_model(state: Standing) -> AfterReply:
    """Stop at the first reply without tool calls."""
    return after_reply(state, steps_to_end=STEPS_TO_END, over=is_over(state))


@rule
def after_validation(state: Standing) -> Literal["searches", "needs a yes"] | Onward:
    """Search first, then ask a person where a call needs it, then run what may run."""
    if any(is_search(call) for call in state.get("calls") or ()):
        return "searches"
    return after_check(state, over=is_over(state))


@rule
def after_search(state: Standing) -> Literal["needs a yes"] | Onward:
    """Go on with the other calls of the reply, or let the model see what was found."""
    return after_check(state, over=is_over(state))


@rule
def after_approval(state: Standing) -> Onward:
    """Run what may run, if anything is left to run."""
    return onward(state, over=is_over(state))


@rule
def after_tools(state: Standing) -> Literal["next round", "out of rounds"]:
    """Let the model see the results, if it has a round left."""
    return "out of rounds" if is_over(state) else "next round"


def is_over(state: Standing) -> bool:
    """Tell whether the tool rounds are used up, the run is stuck, or LangGraph leaves no room."""
    return over_budget(state, "rounds", steps_to_end=STEPS_TO_END)
