"""A tool that pauses the run by itself, with LangGraph's `interrupt`."""

from dataclasses import replace

from langgraph.types import Interrupt
from langgraph.errors import GraphInterrupt

from graphs.jobs import Ended
from tools import redact_data


def paused(end: Ended, *, alone: bool) -> Ended:
    """Let a tool that calls `interrupt` pause the run, where no other call would run again for it.

    Raises:
        GraphBubbleUp: The pause.
    """
    if alone and end.error is not None:
        raise _clean(end.error)
    return replace(
        end, error=ValueError("it waits for a person, which it may do only as the reply's one call")
    )


def _clean(pause: BaseException) -> BaseException:
    """Redact what a pause asks a person: it is stored and streamed."""
    if not isinstance(pause, GraphInterrupt) or not pause.args:
        return pause
    return GraphInterrupt(
        [
            Interrupt(redact_data(one.value), one.id, response_schema=one.response_schema)
            for one in pause.args[0]
        ]
    )
