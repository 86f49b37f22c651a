"""The same call again and again, with the same result: no progress, and no end but a limit.

A call whose results differ is polling and may go on. Limits: the third such call in a row is
answered with a warning instead of run, and a fourth ends the tools (seed "AI Tool Calling").
"""

from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
)

from graphs.calls import Asked, made
from graphs.reach import Resolved

WARNED = "warned_of_repeat"
WARNING = (
    "not executed: the same call gave the same result twice in a row; use that result, "
    "change the arguments, or answer. The tools end if it comes once more"
)
ENDED = "not executed: the same call came for the fourth time in a row, and the tools are off now"

_MOST = 2
"""Equal results in a row after which a call is not run again."""


def judge(
    messages: Sequence[BaseMessage], asked: Asked, found: Resolved
) -> Literal["run", "warn", "end"]:
    """Say what becomes of a call of the newest reply, by the replies before it in the run.

    Args:
        messages: The transcript.
        asked: The call as the model made it.
        found: What it comes to: two calls are the same where either is.
    """
    seen: list[str] = []
    for result in _earlier_results(messages, asked, found.call):
        if result.additional_kwargs.get(WARNED):
            return "end"
        if seen and result.text != seen[-1]:
            break
        seen.append(result.text)
        if len(seen) == _MOST:
            return "warn"
    return "run"


def _earlier_results(
    messages: Sequence[BaseMessage], asked: Asked, call: ToolCall
) -> list[ToolMessage]:
    """List the results of equal calls, newest first, as far as replies made one without a gap."""
    results: dict[str, ToolMessage] = {}
    found: list[ToolMessage] = []
    newest_seen = False
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        if isinstance(message, ToolMessage):
            results[message.tool_call_id] = message
        elif isinstance(message, AIMessage):
            if not newest_seen:
                newest_seen = True
                continue
            equal = [
                results[c["id"] or ""]
                for c in made(message)
                if c["id"] in results and (_is_equal(c, asked) or _was(results[c["id"]], c, call))
            ]
            if not equal:
                break
            found.append(equal[0])
    return found


def _is_equal(one: Asked, other: Asked) -> bool:
    same = one["name"] == other["name"] and one["args"] == other["args"]
    # equal secrets are equal when they are sealed
    return same and one.get("sealed") == other.get("sealed")


def _was(result: ToolMessage, asked: Asked, call: ToolCall) -> bool:
    """Tell whether an earlier call came to this one, by what its result records."""
    told = result.additional_kwargs
    return bool(
        told.get("tool", asked["name"]) == call["name"]
        and told.get("arguments", asked["args"]) == call["args"]
        and told.get("sealed", asked.get("sealed")) == call.get("sealed")
    )
