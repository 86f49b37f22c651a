"""What a tool returned, or how it failed, as the one result that answers its call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.types import Command
from langchain_core.messages import ToolCall, ToolMessage

from graphs.calls import asked_name, recorded
from graphs.jobs import Ended, Job
from graphs.transcript import failed_result
from tools import StoppedError, describe_error, limit, render
from tools.hidden import without
from tools.redact import redact_result


@dataclass(frozen=True, slots=True)
class Shown:
    """What a tool returned, as text that anybody may see.

    Attributes:
        text: Filtered for secrets, and no longer than the run's limit.
        failed: Whether the tool itself says that it failed.
        found: Counts by kind of what was taken out of it.
    """

    text: str
    failed: bool
    found: dict[str, int] = field(default_factory=dict)


def show(value: Any, most: int, hidden: Mapping[str, str] | None = None) -> Shown:
    """Turn a value into at most so many characters of text.

    Args:
        value: What a tool returned.
        most: Characters.
        hidden: The secrets that the tool was called with, and what stands for each.

    Raises:
        TypeError: It is a LangGraph `Command`; a tool returns data, and edges say what is next.
    """
    if isinstance(value, Command):
        raise TypeError("it returned a Command, which a tool of these graphs may not")
    failed = isinstance(value, ToolMessage) and value.status == "error"
    found: dict[str, int] = {}
    text = redact_result(without(render(value), hidden or {}), found)
    return Shown(limit(text, most), failed, found)


def result_of(
    call: ToolCall, job: Job, end: Ended, *, most: int, once: bool, told: dict[str, Any]
) -> ToolMessage:
    """Make a call's one result of how it ended.

    Args:
        call: The call.
        job: What ran.
        end: How it ended, with a `Shown` where it ended well.
        most: Characters of a result.
        once: Whether the call may take effect only once, and so is not to be made again.
        told: What the record tells beside the text.
    """
    name = call["name"]
    if end.out_of_time:
        text = (
            f"{name} gave no result within {job.timeout:g} s and is no longer waited for; "
            "it may still finish: its outcome is unknown"
        )
        return failed_result(call, text, "timeout", retryable=not once, **told)
    if isinstance(end.error, StoppedError):
        unknown = ": whether it took effect is unknown" if once else ""
        text = f"{name} was stopped before it ended{unknown}"
        return failed_result(call, text, "interrupted", retryable=not once, **told)
    if end.error is not None:
        found: dict[str, int] = {}
        text = limit(f"{name} failed: {describe_error(end.error, found)}", most)
        told = {**told, "redacted": found} if found else told
        retryable = not once and isinstance(end.error, TimeoutError | ConnectionError)
        return failed_result(call, text, retryable=retryable, **told)
    shown: Shown = end.value
    told = _counted(shown, told)
    if shown.failed:
        return failed_result(call, shown.text, **told)
    return good_result(call, shown.text, told)


def cached_result(call: ToolCall, text: str, *, most: int, told: dict[str, Any]) -> ToolMessage:
    """Answer a call with text that another run was shown, as this run may show it."""
    shown = show(text, most)
    return good_result(call, shown.text, _counted(shown, told))


def _counted(shown: Shown, told: dict[str, Any]) -> dict[str, Any]:
    return {**told, "redacted": shown.found} if shown.found else told


def good_result(call: ToolCall, text: str, told: dict[str, Any]) -> ToolMessage:
    """Answer a call with text."""
    return ToolMessage(
        content=text,
        tool_call_id=call["id"] or "",
        name=asked_name(call),
        additional_kwargs={**recorded(call), **told},
    )
