"""The same call again and again: no progress, and no end but a limit.

The third such call in a row is answered with a warning instead of run, and a fourth ends the tools
(seed "AI Tool Calling"). A call in a row is one of the replies before, without a reply between that
made none, or one of the same reply. A tool that only reads may be polled: there, calls whose
results differ are none in a row. What may change something counts whatever it says, for a result
with a number of its own is no progress but one more effect.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
)

from graphs.calls import Asked, made
from graphs.reach import Reach, Resolved
from tools import Contract

WARNED = "warned_of_repeat"
"""Where a result's record tells that it warned."""
NO_TOOL = "no_such_tool"
"""Where it tells that the call was of a tool that does not exist."""
WARNING = (
    "not executed: the same call gave the same result twice in a row; use that result, "
    "change the arguments, or answer. The tools end if it comes once more"
)
WARNING_OF_EFFECT = (
    "not executed: the same call came twice in a row before, and what it does may have been done "
    "twice; use its results, change the arguments, or answer. The tools end if it comes once more"
)
ENDED = "not executed: the same call came for the fourth time in a row, and the tools are off now"
ENDED_BY = "not executed: the tools were ended by {name}, which came for the fourth time in a row"

_MOST = 2
"""Equal calls in a row after which one is not run again."""


def without_repeats(
    messages: Sequence[BaseMessage],
    asked: Sequence[Asked],
    found: Sequence[Resolved],
    reach: Reach,
) -> tuple[list[Resolved], bool]:
    """Turn away what comes again and again.

    Where a call comes once more that was warned of in an earlier reply, nothing of the reply runs.
    A fourth in one reply, whose warning nobody has read yet, ends the tools after it.

    Args:
        messages: The transcript.
        asked: The calls of the newest reply, as the model made them.
        found: What each comes to: two calls are the same where either is.
        reach: The tools that exist.

    Returns:
        The calls, and whether the tools end.
    """
    judged: list[Resolved] = []
    ended_by, ends = None, False
    for place, (call, one) in enumerate(zip(asked, found, strict=True)):
        tool = reach.contract_of(one.call)
        polls = tool is not None and tool.effect == "read_only"
        before, warned = _in_a_row(messages, call, one.call, polls=polls)
        before += _beside(asked[:place], found[:place], call, one.call)
        if warned:
            ended_by = ended_by or one
        if warned or before > _MOST:
            judged.append(_refused(one, ENDED))
            ends = True
        elif before == _MOST:
            warning = WARNING if polls else WARNING_OF_EFFECT
            told = {WARNED: True, **({NO_TOOL: True} if _is_of_none(one, tool) else {})}
            judged.append(replace(_refused(one, warning), told=told))
        else:
            judged.append(one)
    if ended_by is not None:
        why = ENDED_BY.format(name=ended_by.call["name"])
        judged = [one if one.code == "repeated" else _refused(one, why) for one in judged]
    return judged, ends


def _refused(one: Resolved, why: str) -> Resolved:
    said = f"{one.error}; " if one.error else ""
    return replace(one, error=f"{said}{why}", code="repeated")


def _is_of_none(one: Resolved, tool: Contract | None) -> bool:
    return tool is None and one.code == "unknown_tool"


def _in_a_row(
    messages: Sequence[BaseMessage], asked: Asked, call: ToolCall, *, polls: bool
) -> tuple[int, bool]:
    """Count the equal calls of the replies before, and tell whether one was warned of."""
    count, newest = 0, None
    for result in _earlier_results(messages, asked, call):
        if result.additional_kwargs.get(WARNED):
            return count, True
        if polls and newest is not None and result.text != newest:
            # The newest result is news: what comes after it is the first of a row.
            return (count if count > 1 else 0), False
        newest = result.text
        count += 1
        if count == _MOST + 1:
            break
    return count, False


def _beside(
    asked: Sequence[Asked], found: Sequence[Resolved], call: Asked, resolved: ToolCall
) -> int:
    """Count the equal calls that stand before a call in its own reply."""
    return sum(
        _is_equal(other, call) or _is_equal(one.call, resolved)
        for other, one in zip(asked, found, strict=True)
    )


def _earlier_results(
    messages: Sequence[BaseMessage], asked: Asked, call: ToolCall
) -> Iterator[ToolMessage]:
    """Yield the results of equal calls, newest first, as far as replies made one without a gap."""
    results: dict[str, ToolMessage] = {}
    newest_seen = False
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            return
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
                return
            yield from reversed(equal)


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
