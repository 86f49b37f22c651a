"""How a long tool tells how far it is, and learns that it should stop.

A tool that has a parameter annotated `Progress` is given one; the model never sees it:

    def export(rows: int, progress: Progress) -> str:
        \"\"\"Export rows; use it for a whole table.\"\"\"
        for row in range(rows):
            progress(f"row {row}", done=row, total=rows)

It is called the same way in a function and in a coroutine, and never blocks. What it is told goes
to whoever streams `custom`, secrets filtered, on one line of at most 300 characters, and at most
ten times a second: what comes sooner is dropped. When the call was cancelled, or its time is up, it
raises `StoppedError`, which stops the tool where it stands: a thread can't be stopped otherwise.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from tools.errors import StoppedError
from tools.redact import redact_result
from tools.text import one_line, shorten

__all__ = ["Progress", "StoppedError"]

CHARACTERS = 300
SECONDS_APART = 0.1


class Progress:
    """Tells how far a tool is.

    Args:
        tell: Takes what is told: `text`, and `done` and `total` where they were given.
        stopped: Whether the tool should stop.
    """

    __slots__ = ("_next", "_stopped", "_tell")

    def __init__(
        self,
        tell: Callable[[dict[str, Any]], None] | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> None:
        self._tell, self._stopped = tell, stopped
        self._next = 0.0

    @property
    def stopped(self) -> bool:
        """Whether the call was cancelled, or its time is up; for a tool that wants to tidy up."""
        return self._stopped is not None and self._stopped()

    def __call__(
        self, text: object = "", *, done: float | None = None, total: float | None = None
    ) -> None:
        """Tell how far the tool is.

        Args:
            text: What it is at, in a few words.
            done: How much of it is done, in any unit.
            total: How much there is, in the same unit.

        Raises:
            StoppedError: The call was cancelled, or its time is up.
        """
        if self.stopped:
            raise StoppedError
        now = time.monotonic()
        if self._tell is None or (now < self._next and not (done is not None and done == total)):
            return
        self._next = now + SECONDS_APART
        told: dict[str, Any] = {"text": shorten(redact_result(one_line(str(text)), {}), CHARACTERS)}
        numbers = {"done": done, "total": total}
        self._tell(told | {key: n for key, n in numbers.items() if _is_number(n)})


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
