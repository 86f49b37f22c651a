"""Ctrl-C: the first one stops the run where nothing is left half done, the second one quits."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NoReturn

from graphs.cli import CANCELLED, leave


@dataclass(slots=True)
class Stop:
    """Whether the user asked to stop."""

    requested: bool = False


@contextmanager
def stoppable(
    running: Callable[[], str],
    stop_tools: Callable[[], list[str]],
    say: Callable[[str], None],
    go_on: str,
) -> Iterator[Stop]:
    """Handle Ctrl-C while a run goes on.

    * A wait for the model is given up at once: asking it again later changes nothing.
    * Running tools are stopped where they can be (coroutines, and those that tell their progress);
      the others may have effects, and are waited for. What became of each is recorded, so that a
      resumed run knows of it. Nothing more is started, and nothing is rolled back.
    * The second Ctrl-C ends the process as it is; what was recorded stays.

    Args:
        running: Names the tools that run now; "" while the model is waited for.
        stop_tools: Asks them to stop, and names those that can only be waited for.
        say: Tells the user what is going on.
        go_on: The command that goes on with the thread, for whoever quits.

    Yields:
        The `Stop` to look at between two steps.
    """
    stop = Stop()

    def on_interrupt(_signal: int, _frame: object) -> None:
        if stop.requested:
            _quit(running(), go_on)
        stop.requested = True
        tools = running()
        if not tools:
            raise KeyboardInterrupt
        waited_for = ", ".join(stop_tools())
        told = f"stopping when {waited_for} has ended" if waited_for else f"stopping {tools}"
        say(f"{told}; Ctrl-C again quits at once")

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _quit(running: str, go_on: str) -> NoReturn:
    """End the process at once: Rich's locks may be held, so the last words are written plainly."""
    shown = b"\x1b[?25h\n" if sys.stderr.isatty() else b""  # the spinner had hidden the cursor
    left = f" while {running} ran: whether it took effect is unknown" if running else ""
    with suppress(OSError, ValueError):
        os.write(sys.stderr.fileno(), shown + f"rungs: quit{left}; go on with: {go_on}\n".encode())
    leave(CANCELLED)
