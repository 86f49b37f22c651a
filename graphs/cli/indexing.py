"""Index a folder before the question is put to it, with a progress bar where somebody may watch."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from graphs.cli.failures import complain
from graphs.cli.screen import Screen, one_line, plural
from tools.docs_shared import build

Show = Callable[[int, int], None]

NAMED = 5
"""Files that are named of those that were left out; the others are counted."""


def index_documents(folder: str, screen: Screen) -> None:
    """Bring the index of a folder up to date, and name what of it is not searched.

    Raises:
        DocsFolderError: The folder is missing, a file, unreadable or has no documents.
    """
    files = 0
    with _bar(folder) as show:

        def progress(done: int, total: int) -> None:
            nonlocal files
            files = done
            show(done, total)

        index = build(folder, progress=progress)
    if files:
        screen.text(f"indexed {plural(files, 'file')} of {folder}", "dim")
    skipped = sorted(index.skipped().items())
    for path, reason in skipped[:NAMED]:
        complain(f"skipped {path}: {reason}")
    if len(skipped) > NAMED:
        complain(f"skipped {len(skipped) - NAMED:,} more of {folder}")


@contextmanager
def _bar(folder: str) -> Iterator[Show]:
    """Lend a progress bar on stderr if that is a terminal, else nothing."""
    if not sys.stderr.isatty():
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
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(f"indexing {one_line(folder)}"), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
