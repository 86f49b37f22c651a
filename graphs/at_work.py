"""A call whose tool is at work: what runs, who is told of it, and how it is stopped."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langgraph.errors import GraphBubbleUp

from graphs.control import current_control
from graphs.jobs import Ended, Job
from graphs.node import Scope
from graphs.running import Told
from graphs.tool_events import tell_ended, tell_started
from tools import Contract
from tools.injection import report_progress


@dataclass(frozen=True, slots=True)
class AtWork:
    """A call whose tool is to run.

    Attributes:
        call: The call.
        contract: Its tool.
        job: What runs.
        trace: What callback handlers were told, to be told the end.
        hidden: The secrets that it is called with, and what stands for each.
    """

    call: ToolCall
    contract: Contract
    job: Job
    trace: Any
    hidden: Mapping[str, str]

    @property
    def can_stop(self) -> bool:
        """Whether the tool can be stopped: as a coroutine, or by what it tells its progress by."""
        return self.job.sync is None or report_progress in self.contract.injected.values()


@contextlib.contextmanager
def told_of(
    scope: Scope, works: Sequence[AtWork], result: Callable[[AtWork, Ended], ToolMessage]
) -> Iterator[Told]:
    """Tell of the calls as they start and end; what still runs at the end is asked to stop.

    Yields:
        What is to be told how each job ended.
    """
    control = current_control()
    for work in works:
        tell_started(scope, work.call)
        if control is not None:
            call_id, name = work.call["id"] or "", work.call["name"]
            control.began(call_id, name, work.job.stopping, can_stop=work.can_stop)

    def ended(place: int, end: Ended) -> None:
        work = works[place]
        if control is not None:
            control.ended(work.call["id"] or "")
        if end.out_of_time:
            work.job.stopping.stop()
        if not isinstance(end.error, GraphBubbleUp):
            tell_ended(scope, work.call, result(work, end))

    try:
        yield ended
    finally:
        for work in works:
            work.job.stopping.stop()
