"""Where a command writes: plain lines into a pipe, styled ones and a spinner on a terminal."""

import json
import logging
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphs.cli.failures import PipeClosedError, complain, is_closed_pipe

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

# Whatever could move the cursor, colour the screen, ring the bell, turn the order of letters or be
# there unseen, but tabs, line ends and the joiners that scripts and emoji need.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
PIPED_WIDTH = 200
PATIENCE = 8.0
"""Seconds of waiting, where no spinner shows it, until a line on stderr says what for."""


def prepare_streams(*, debug: bool) -> None:
    """Make sure that no character, warning or log line of a library can spoil the output."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream := getattr(sys, name), TextIOWrapper):
            stream.reconfigure(errors="replace")
    if debug:
        logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s", force=True)
        return
    logging.getLogger().addHandler(logging.NullHandler())
    warnings.simplefilter("ignore")


def clean(text: str) -> str:
    """Take out what a terminal would obey rather than show."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Put a text on one line, control characters taken out."""
    return clean(" ".join(text.split()))


def shorten(text: str, width: int) -> str:
    """Put a text on one line of at most `width` characters, its end cut off where it is longer."""
    line = one_line(text)
    return line if len(line) <= width else line[: max(width - 3, 0)] + "..."


def plural(count: int, what: str) -> str:
    """Count things in words."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


class Screen:
    """What the user sees on stdout.

    It keeps true that
    * what the user, a tool or a model wrote is shown as text, not as markup or terminal control;
    * a silent screen writes nothing but `data` and `text(..., always=True)`;
    * a reader who has gone ends the command with `PipeClosedError`.

    Args:
        silent: Write no lines.
    """

    def __init__(self, *, silent: bool = False) -> None:
        self.silent = silent
        self._console = self._open_console()
        self._status: Status | None = None
        self._waiting: threading.Timer | None = None
        self._told: set[str] = set()
        self._next_progress = time.monotonic() + PATIENCE
        self._lock = threading.RLock()  # tools tell their progress from threads of their own

    def _open_console(self) -> "Console | None":
        if self.silent or not sys.stdout.isatty():
            return None
        from rich.console import Console

        return Console(highlight=False, markup=False, emoji=False)

    @property
    def width(self) -> int:
        """How many characters a shortened line may have."""
        return max(self._console.width, 20) if self._console else PIPED_WIDTH

    def text(
        self, text: str = "", style: str = "", *, always: bool = False, whole: bool = False
    ) -> None:
        """Write a text as it is, then end the line; a `whole` one is left to the terminal to wrap.

        So a command can be copied: at a line's end of ours, a shell would take it for two.
        """
        if self.silent and not always:
            return
        with _pipe():
            if self._console is None:
                sys.stdout.write(clean(text) + "\n")
                sys.stdout.flush()
                return
            from rich.text import Text

            how: Any = {"soft_wrap": True} if whole else {"overflow": "fold"}
            self._console.print(Text(clean(text), style=style), **how)

    def data(self, value: Any) -> None:
        """Write a value as one line of JSON."""
        plain = (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
        with _pipe():
            sys.stdout.write(json.dumps(value, ensure_ascii=plain) + "\n")
            sys.stdout.flush()

    def note(self, text: str) -> None:
        """Tell what is going on, in the spinner or on stderr; safe in a signal handler."""
        if self._status is not None:
            self.wait(text)
        else:
            os.write(2, f"rungs: {one_line(text)}\n".encode("utf-8", "replace"))

    def wait(self, what: str) -> None:
        """Show what is being waited for, until the next call or `settle`.

        On a terminal a spinner does; elsewhere one line on stderr, once, if it takes long.
        """
        if self._console is None:
            self._wait_without_spinner(what)
            return
        label = shorten(what, max(self.width - 4, 1))
        from rich.text import Text

        with self._lock:
            if self._status is None:
                spinner = "dots" if self._console.encoding.startswith("utf") else "line"
                self._status = self._console.status(Text(label), spinner=spinner)
                self._status.start()
            else:
                self._status.update(Text(label))

    def progress(self, what: str) -> None:
        """Show how far a tool is: in the spinner, elsewhere a line on stderr now and then."""
        if self._console is not None:
            self.wait(what)
            return
        now = time.monotonic()
        if now >= self._next_progress and not self.silent:
            self._next_progress = now + PATIENCE
            complain(what)

    def _wait_without_spinner(self, what: str) -> None:
        self.settle()
        if what in self._told:
            return

        def tell() -> None:
            self._told.add(what)
            complain(what)

        self._waiting = threading.Timer(PATIENCE, tell)
        self._waiting.daemon = True
        self._waiting.start()

    def settle(self) -> None:
        """Wait no longer."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        with self._lock:
            if self._status is not None:
                self._status.stop()
                self._status = None


@contextmanager
def _pipe() -> Iterator[None]:
    """Turn the error of a closed pipe into the one that ends the command quietly."""
    try:
        yield
    except OSError as error:
        if is_closed_pipe(error):
            raise PipeClosedError from error
        raise
