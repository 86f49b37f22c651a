"""Progress bars, on stderr, where somebody may watch."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from graphs.cli.screen import one_line

Show = Callable[[int, int], None]
"""Shows how many are done, and of how many."""


@contextmanager
def progress_bar(label: str, *, wanted: bool = True) -> Iterator[Show]:
    """Lend a progress bar on stderr if that is a terminal and one is wanted, else nothing.

    What is written to stdout meanwhile goes there as it is: into a pipe or a file.
    """
    if not wanted or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task(escape(one_line(label)), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
