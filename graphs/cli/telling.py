"""Tell an event of a run in one line."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphs.cli.screen import shorten

if TYPE_CHECKING:
    from graphs.audit import Event

ARGUMENTS_WIDTH = 160
RESULT_WIDTH = 40
"""How many characters of a result are shown at least, however narrow the screen."""


def tell(
    event: "Event",
    width: int,
    *,
    calls: Sequence[tuple[str, Mapping[str, Any]]] = (),
    with_text: bool = False,
) -> str:
    """Tell an event in one line of about `width` characters.

    Args:
        event: A model call or a tool call.
        width: Characters; the end of a longer result is left out.
        calls: For a model call, name and arguments of each tool it asked for, where they are known.
        with_text: Whether a model's own words are shown.
    """
    if event.kind == "model_call":
        asked = ", ".join(tell_call(*call) for call in calls) or ", ".join(event.calls)
        head = f"model call {event.step}{_cost(event)}: "
        head += f"asked for {asked}" if asked else "answered"
        if not (with_text and event.result):
            return head
        head += ": "
    elif event.kind == "compaction":
        counted = f"{event.tokens_before:,} to {event.tokens_after:,} tokens"
        head = f"compaction{_cost(event)}: {counted} ({event.counted_by}): "
    else:
        failed = "" if event.status == "success" else "error: "
        head = f"  {tell_call(event.tool or 'unknown', event.arguments)}{_cost(event)}: {failed}"
    return head + shorten(event.result or "", max(width - len(head), RESULT_WIDTH))


def tell_call(name: str, arguments: Mapping[str, Any] | None) -> str:
    """Tell a call in one line: the tool's name and its arguments, long ones cut."""
    told = (
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in (arguments or {}).items()
    )
    return f"{name}({shorten(', '.join(told), ARGUMENTS_WIDTH)})"


def _cost(event: "Event") -> str:
    """Tell what a step cost, as far as it is known."""
    told = []
    if event.seconds is not None:
        told.append(f"{event.seconds:.2f} s")
    if event.input_tokens is not None and event.output_tokens is not None:
        told.append(f"{event.input_tokens:,} + {event.output_tokens:,} tokens")
    if event.redacted:
        told.append(
            "redacted: " + ", ".join(f"{count} {kind}" for kind, count in event.redacted.items())
        )
    if event.cached:
        told.append("from the cache")
    return f" ({', '.join(told)})" if told else ""
