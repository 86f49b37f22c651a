"""The documents indexes of this process: one a folder, and one a part of it."""

import os
import threading
from pathlib import Path

from tools.docs_file import default_database
from tools.docs_folder import resolve_folder
from tools.docs_index import DocsIndex, Progress
from tools.docs_parts import Part

_shared: dict[tuple[Path, Part | None, Path | None], DocsIndex] = {}
_shared_lock = threading.Lock()


def shared_index(folder: str | os.PathLike[str], part: Part | None = None) -> DocsIndex:
    """Return this process's index of `folder`, or of a part of it; raises as `DocsIndex` does."""
    path = resolve_folder(folder)
    key = path, part, default_database(path, part)
    with _shared_lock:
        if key not in _shared:
            _shared[key] = DocsIndex(path, part=part)
        return _shared[key]


def build(folder: str | os.PathLike[str], *, progress: Progress | None = None) -> DocsIndex:
    """Bring the shared index of `folder` up to date, telling `progress` (done, total) as it goes.

    Raises:
        DocsFolderError: the folder can't be searched.
    """
    index = shared_index(folder)
    index.refresh(progress)
    return index
