"""The same call again and again, with the same result: no progress, and no end but a limit.

A call whose results differ is polling and may go on. Limits: the third such call in a row is
answered with a warning instead of run, and a fourth ends the tools (seed "AI Tool Calling").
"""

from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

WARNED = "warned_of_repeat"
WARNING = (
    "not executed: the same call gave the same result twice in a row; use that result, "
    "change the arguments, or answer. The tools end if it comes once more"
)
ENDED = "not executed: the same call came for the fourth time in a row, and the tools are off now"

_MOST = 2
"""Equal results in a row after which a call is not run again."""


def judge(messages: Sequence[BaseMessage], call: ToolCall) -> Literal["run", "warn", "end"]:
    """Say what becomes of a call of the newest reply, by the replies before it in the run."""
    seen: list[str] = []
    for result in _earlier_results(messages, call):
        if result.additional_kwargs.get(WARNED):
            return "end"
        if seen and result.text != seen[-1]:
            break
        seen.append(result.text)
        if len(seen) == _MOST:
            return "warn"
    return "run"


def _earlier_results(messages: Sequence[BaseMessage], call: ToolCall) -> list[ToolMessage]:
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
            equal = [c for c in message.tool_calls if _is_equal(c, call) and c["id"] in results]
            if not equal:
                break
            found.append(results[equal[0]["id"] or ""])
    return found


def _is_equal(one: ToolCall, other: ToolCall) -> bool:
    return one["name"] == other["name"] and one["args"] == other["args"]
