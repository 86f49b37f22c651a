"""The files of prompts, looked at again when they are used: an edit is seen without a restart."""

import asyncio
import os
import time
from collections.abc import Collection
from functools import cache
from pathlib import Path

from prompts.template import Template, TemplateError, parse

_FOLDER = Path(__file__).parent

LOOK_EVERY = 0.1
"""Seconds within which an event loop is not made to look again: that takes a thread each time."""


class PromptFile:
    """A prompt's file.

    It is read only where its time or size have changed; to see that takes some microseconds.

    Args:
        name: Of `prompts/<name>.md`.

    Attributes:
        source: What errors call it.
        text: As it was found last, without line ends behind it.

    Raises:
        TemplateError: It can't be read.
    """

    def __init__(self, name: str) -> None:
        self.source = f"prompts/{name}.md"
        self.text = ""
        self._path = str(_FOLDER / f"{name}.md")
        self._seen: tuple[int, int, int] | None = None
        self._looked = 0.0
        self.look()

    def look(self) -> str:
        """Return its text as it is now; this reads a disk.

        Raises:
            TemplateError: It can't be read any more.
        """
        try:
            about = os.stat(self._path)  # noqa: PTH116 - in half the time of Path.stat
            seen = about.st_mtime_ns, about.st_size, about.st_ino
            if seen != self._seen:
                text = Path(self._path).read_text("utf-8")
                self.text, self._seen = text.rstrip("\n"), seen
        except OSError as error:
            raise TemplateError(f"{self.source} can't be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise TemplateError(f"{self.source} can't be read: it is not UTF-8") from error
        return self.text

    async def alook(self) -> str:
        """Return its text as it was a tenth of a second ago, or is now.

        While one caller looks, all others take what was seen before.
        """
        now = time.monotonic()
        if now - self._looked >= LOOK_EVERY:
            self._looked = now  # at once: of hundreds of runs one looks
            await asyncio.to_thread(self.look)
        return self.text

    def look_soon(self) -> str:
        """Return its text as it is now; on an event loop, as it was, and look meanwhile."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return self.look()
        loop.run_in_executor(None, self.look).add_done_callback(_heard)
        return self.text


def _heard(looked: "asyncio.Future[str]") -> None:
    """Take notice of a file that can't be read, which the next run says."""
    if not looked.cancelled():
        looked.exception()


@cache
def prompt_file(name: str) -> PromptFile:
    """Return the one object that looks at a file.

    Raises:
        TemplateError: There is no such prompt.
    """
    return PromptFile(name)


def load(name: str, *, names: Collection[str]) -> Template:
    """Read `prompts/<name>.md` as it is now, and parse it.

    Raises:
        TemplateError: There is no such prompt, or it is wrong.
    """
    file = prompt_file(name)
    return parse(file.look(), names=names, source=file.source)
