"""The stop rules of the variant that compacts, beside those of every ReAct variant."""

from typing import Literal

from graphs.react.summary import CompactionStanding, window_of
from graphs.rules import rule

AGAIN = 2
"""Turns that a compaction after the first one waits for, so that it is not made at every turn."""

ROOM = 3
"""Steps for a model call, the last node, and LangGraph's own step to see that it is done."""


@rule
def after_count(state: CompactionStanding) -> Literal["fits", "near the limit", "out of turns"]:
    """Compact at or above the threshold, and where the model refused the request as too long.

    Between the threshold and the ceiling the run goes on where there is too little to take out:
    nothing, or after an earlier compaction a single turn.
    """
    window = window_of(state)
    if state["remaining_steps"] <= ROOM:
        return "out of turns"
    if window is not None and window["overflowed"]:
        return "near the limit"
    if window is None or window["tokens"] < window["threshold"]:
        return "fits"
    least = AGAIN if window["compacted"] else 1
    waits = window["droppable"] < least and window["tokens"] < window["ceiling"]
    return "fits" if waits else "near the limit"


@rule
def after_compaction(state: CompactionStanding) -> Literal["fits", "exhausted", "out of turns"]:
    """End where even the fresh window is over the threshold."""
    window = window_of(state)
    if window is None or window["exhausted"]:
        return "exhausted"
    return "out of turns" if state["remaining_steps"] <= ROOM else "fits"
