"""Which calls of a reply may run: permission, schema, repeats and limits (SPEC section 4)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain_core.messages import BaseMessage, ToolCall

from graphs.calls import Asked, Call, as_asked, made, with_asked, without_seal
from graphs.context import Context
from graphs.reach import Reach, Resolved
from graphs.repeats import without_repeats
from graphs.sealing import opened, resealed
from graphs.state import Progress
from graphs.transcript import newest_reply
from graphs.vault import SealedError
from graphs.waiting import Steps
from tools import redact, redact_data
from tools.hidden import secrets_of, without
from tools.marks import MARKED, is_marked

MAX_CALLS = 20
"""Calls of one reply that may run, a fixed limit; the rest are answered with an error."""

TOO_MANY = f"not executed: a reply may hold at most {MAX_CALLS} tool calls; make this one again"
OVER_LIMIT = "not executed: the limit of tool calls for this question is reached"


@dataclass(frozen=True, slots=True)
class Checked:
    """What the calls of a reply come to.

    Attributes:
        calls: The calls as the model made them.
        found: What each comes to.
        stuck: Whether one came again and again, which ends the tools.
    """

    calls: list[Asked]
    found: list[Resolved]
    stuck: bool


class Check:
    """The check that every call passes before its tool runs.

    Args:
        reach: The tools that exist.
        approval: Whether a person can be asked for the yes that some tools need.
        stop_repeats: Whether the same call again and again is warned of, and then ends the tools.
    """

    def __init__(self, reach: Reach, *, approval: bool, stop_repeats: bool = True) -> None:
        self._reach, self._approval, self._stop_repeats = reach, approval, stop_repeats

    def of(
        self,
        messages: Sequence[BaseMessage],
        progress: Progress,
        context: Context,
        loaded: Sequence[str] = (),
    ) -> Steps[Checked]:
        """Check the calls of the newest reply of a transcript.

        Args:
            messages: The transcript.
            progress: How far the run is, the reply counted.
            context: The run's settings.
            loaded: Names of the tools that searches of the run loaded.
        """
        calls = made(newest_reply(messages))
        found: list[Resolved] = []
        for call in calls:
            how: Any = {"approval": self._approval, "loaded": loaded}
            found += [(yield from resolved(self._reach, call, context, **how))]
        stuck = False
        if self._stop_repeats:
            found, stuck = without_repeats(messages, calls, found, self._reach)
        allowed = min(MAX_CALLS, _calls_left(progress, context))
        return Checked(calls, _within(allowed, found), stuck)

    def sound(
        self,
        messages: Sequence[BaseMessage],
        progress: Progress,
        context: Context,
        loaded: Sequence[str] = (),
    ) -> Steps[list[ToolCall]]:
        """Return the calls of the newest reply where all of them may run; else none.

        A reply whose calls need nothing mended, answered or approved goes straight to the tools:
        a step between that changes nothing would cost a quarter of a round. Takes what `of` takes.
        """
        checked = yield from self.of(messages, progress, context, loaded)
        if any(one.error is not None or self._reach.needs_yes(one.call) for one in checked.found):
            return []
        return [one.call for one in checked.found]


def resolved(
    reach: Reach, asked: Asked, context: Context, *, approval: bool, loaded: Sequence[str]
) -> Steps[Resolved]:
    """Say what a call comes to by its real arguments; nothing secret of them is in the answer."""
    try:
        real = yield from opened(asked)
    except SealedError as why:
        return Resolved(as_asked(asked), f"not executed: {why}", "not_permitted")
    if real is not asked and redact_data(real["args"]) != asked["args"]:
        real = without_seal(asked)  # edited since it was sealed
    found = reach.resolve(real, context, approval=approval, loaded=loaded)
    if found.error is None and is_marked(found.call["args"]):
        found = replace(found, error=MARKED, code="invalid_arguments")
    if found.error is not None:  # the name may be one that a wrapper was given, of no tool
        nameless = cast("Call", {**found.call, "name": redact(found.call["name"])})
        found = replace(found, error=redact(found.error), call=nameless)
    # What is recorded is clean: arguments that came to nothing else need no second look.
    clean = real is asked and found.call["args"] == asked["args"]
    call = found.call if clean else (yield from resealed(found.call))
    error = found.error and without(found.error, secrets_of(found.call["args"], call["args"]))
    if isinstance(asked["args"], dict) and asked["args"] != call["args"]:
        call = with_asked(call, asked["args"])
    return replace(found, call=call, error=error)


def _within(allowed: int, found: Sequence[Resolved]) -> list[Resolved]:
    """Turn away the calls beyond those that the reply, or the run, may still make."""
    told = (TOO_MANY, True) if allowed == MAX_CALLS else (OVER_LIMIT, False)
    over = [replace(one, error=told[0], code="limit_reached") for one in found[allowed:]]
    if told[1]:
        over = [replace(one, retryable=True) for one in over]
    return [*found[:allowed], *over]


def _calls_left(progress: Progress, context: Context) -> int:
    """Return how many of the reply's calls the run may still make, by the cap it began with."""
    if context.max_calls is None:
        return MAX_CALLS
    return max(0, progress["cap"] - (progress["calls"] - progress["open_calls"]))
