"""Index a folder before the question is put to it, with a progress bar where somebody may watch."""

from graphs.cli.bars import progress_bar
from graphs.cli.failures import complain
from graphs.cli.screen import Screen, plural
from tools.docs_folder import resolve_folder
from tools.docs_parts import check_parts
from tools.docs_shared import build

NAMED = 5
"""Files that are named of those that were left out; the others are counted."""


def index_documents(folder: str, screen: Screen) -> None:
    """Bring the index of a folder up to date, and name what of it is not searched.

    Raises:
        DocsFolderError: The folder is missing, a file, unreadable or has no documents.
    """
    check_parts(resolve_folder(folder))
    files = 0
    with progress_bar(f"indexing {folder}") as show:

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
