"""What a caller in the same process may do while tools run: hear of them, and stop them.

    with controlled(hear) as control:
        graph.invoke(...)          # hear(event) is called with what `custom` streams tell
        ...
        control.stop()             # from a signal handler, or another thread

Streaming `custom` tells the same, but LangGraph then runs the steps in another thread, where Ctrl-C
ends no wait.
"""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

Event = dict[str, Any]


class Stopping:
    """The way to stop one job, from any thread; asked for twice it does nothing more.

    Attributes:
        requested: Whether the job was asked to stop.
    """

    __slots__ = ("_cancel", "requested")

    def __init__(self) -> None:
        self.requested = False
        self._cancel: Callable[[], None] | None = None

    def by(self, cancel: Callable[[], None] | None) -> None:
        """Say how the job is stopped; None once it has ended."""
        self._cancel = cancel
        if self.requested and cancel is not None:
            cancel()

    def is_requested(self) -> bool:
        """Tell whether the job was asked to stop."""
        return self.requested

    def stop(self) -> None:
        """Ask the job to stop."""
        if not self.requested:
            self.requested = True
            if self._cancel is not None:
                self._cancel()


class Control:
    """Hears of the tools of the runs made under it, and can stop those that run.

    Args:
        hear: Takes each event; called from the threads of tools too.
    """

    def __init__(self, hear: Callable[[Event], None]) -> None:
        self.hear = hear
        self._running: dict[str, tuple[str, Stopping, bool]] = {}

    def began(self, call_id: str, tool: str, stopping: Stopping, *, can_stop: bool) -> None:
        """Note that a tool runs."""
        self._running[call_id] = (tool, stopping, can_stop)

    def ended(self, call_id: str) -> None:
        """Note that it no longer does."""
        self._running.pop(call_id, None)

    def stop(self) -> list[str]:
        """Ask all tools that run to stop; return the names of those that can only be waited for."""
        running = list(self._running.values())
        for _, stopping, _ in running:
            stopping.stop()
        return [tool for tool, _, can_stop in running if not can_stop]


_control: ContextVar[Control | None] = ContextVar("rungs_control", default=None)


def current_control() -> Control | None:
    """Return the control that this code runs under, if it does."""
    return _control.get()


@contextlib.contextmanager
def controlled(hear: Callable[[Event], None]) -> Iterator[Control]:
    """Hear of the tools that run within, and be able to stop them."""
    control = Control(hear)
    token = _control.set(control)
    try:
        yield control
    finally:
        _control.reset(token)
