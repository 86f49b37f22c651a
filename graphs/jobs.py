"""One call of a tool as something to run, and how it ended."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from graphs.control import Stopping


@dataclass(frozen=True, slots=True)
class Job:
    """One call to run.

    Attributes:
        sync: Runs it in a thread; None where it is async only.
        asynchronous: Starts it on a loop; None where it is sync only.
        timeout: Seconds it may take.
        stopping: The way to stop it, where it can be stopped.
    """

    sync: Callable[[], Any] | None
    asynchronous: Callable[[], Awaitable[Any]] | None
    timeout: float
    stopping: Stopping = field(default_factory=Stopping)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended: with a value, with an exception, or out of time.

    Attributes:
        value: What it returned.
        error: What it raised.
        seconds: How long it took.
        out_of_time: Whether its time was up, so that its outcome is unknown.
    """

    value: Any
    error: BaseException | None
    seconds: float
    out_of_time: bool = False
