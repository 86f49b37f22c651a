"""The parts of a documents folder, as its `parts.toml` declares them: what each search covers.

    products = ["*-earbuds.md", "acme-and-globex.md"]
    policy = ["*"]

A document belongs to the first part with a pattern that its path matches, so that no document is
in two. A folder without the file is one whole, and each part of it is all of it.
"""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from tools.docs_folder import DocsFolderError, Stamp, shown

PARTS_FILE: Final = "parts.toml"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a folder.

    Attributes:
        name: What it is called.
        patterns: Its documents, by path relative to the folder; `*` and `?` as in a shell.
        earlier: The patterns of the parts before it, whose documents are theirs.
    """

    name: str
    patterns: tuple[str, ...]
    earlier: tuple[str, ...] = ()

    def holds(self, path: str) -> bool:
        """Tell whether a document belongs to it."""
        return _matches(path, self.patterns) and not _matches(path, self.earlier)


def check_parts(folder: Path) -> None:
    """Check the declaration of a folder's parts, where it has one.

    Raises:
        DocsFolderError: It can't be read.
    """
    _parts(folder)


def part_of(folder: Path, name: str) -> Part | None:
    """Return a part of a folder; None where the folder declares no parts.

    Raises:
        DocsFolderError: The declaration can't be read, or has no such part.
    """
    parts = _parts(folder)
    if parts is None:
        return None
    if name not in parts:
        raise DocsFolderError(
            f"{shown(folder / PARTS_FILE)} has no part {name!r}: add a line such as "
            f'{name} = ["*.md"], or remove the file to search the whole folder'
        )
    return parts[name]


def _parts(folder: Path) -> dict[str, Part] | None:
    file = folder / PARTS_FILE
    try:
        stamp = file.stat()
    except OSError:
        return None
    return _read(file, stamp.st_mtime_ns, stamp.st_size)


def held_by(part: Part, folder: Path, found: Mapping[str, Stamp]) -> dict[str, Stamp]:
    """Return those of the documents found in a folder that belong to a part.

    Raises:
        DocsFolderError: None does.
    """
    held = {path: stamp for path, stamp in found.items() if part.holds(path)}
    if not held:
        raise DocsFolderError(
            f"no document in {shown(folder)} belongs to its part {part.name!r}: "
            f"name one in {PARTS_FILE}, or remove that file to search the whole folder"
        )
    return held


@functools.lru_cache(maxsize=64)
def _read(file: Path, _changed: int, _size: int) -> dict[str, Part]:
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DocsFolderError(
            f"{shown(file)} can't be read: {' '.join(str(error).split())}"
        ) from None
    parts: dict[str, Part] = {}
    earlier: tuple[str, ...] = ()
    for name, patterns in read.items():
        if not isinstance(patterns, list) or not all(isinstance(p, str) and p for p in patterns):
            raise DocsFolderError(
                f'{shown(file)}: {name} must be a list of file names or patterns, such as ["*.md"]'
            )
        parts[name] = Part(name, tuple(patterns), earlier)
        earlier += tuple(patterns)
    return parts


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)
