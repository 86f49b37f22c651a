"""Find the documents of a folder, and tell which of them changed."""

import contextlib
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

SUFFIXES: Final = (".md", ".markdown", ".txt", ".rst")
OUTSIDE: Final = "a link that leads out of the folder"
_NAMED: Final = 3


class DocsIndexError(ValueError):
    """Say in one line why an index can't be used, and what to do."""


class DocsFolderError(DocsIndexError):
    """Say in one line why a folder can't be searched, and what to do."""


class Stamp(NamedTuple):
    """Tell two versions of a file apart without reading it; ctime catches a kept mtime."""

    size: int
    mtime_ns: int
    ctime_ns: int


def shown(path: str | os.PathLike[str]) -> str:
    """Return a path as one printable line."""
    return "".join(c if c.isprintable() else "?" for c in os.fspath(path))


def resolve_folder(folder: str | os.PathLike[str]) -> Path:
    """Return the absolute path of `folder`, `~` and symlinks resolved.

    Raises:
        DocsFolderError: the name is empty or can't be a path.
    """
    if not os.fspath(folder).strip():
        raise DocsFolderError("no documents folder is named: give the path of a folder")
    try:
        return Path(folder).expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise DocsFolderError(f"{shown(folder)} can't be a documents folder: {error}") from None


def scan(folder: Path, on_skip: Callable[[str, str], None]) -> dict[str, Stamp]:
    """Return the stamp of each document under `folder`, by its path relative to it.

    Hidden files and folders are left out. A symlink is followed after all real folders, and only
    to what they did not hold, so that a loop ends and no document is there twice; and never out of
    the folder, so that nobody's answers quote what is not theirs to read.

    Args:
        folder: an absolute path without symlinks, as `resolve_folder` returns it.
        on_skip: gets the path and the reason of each folder that can't be read, and of each link
            that leads out of the folder or nowhere.

    Raises:
        DocsFolderError: `folder` is missing, is not a folder, can't be read or has no documents.
    """
    skipped: dict[str, str] = {}

    def skip(path: str, reason: str) -> None:
        skipped[path] = reason
        on_skip(path, reason)

    root = os.path.join(folder, "")  # noqa: PTH118 - the path of each entry then starts with it
    found: dict[str, Stamp] = {}
    links: list[str] = []
    folders = [root]
    visited: set[tuple[int, int]] = set()
    while folders or links:
        is_link = not folders
        here = links.pop() if is_link else folders.pop()
        try:
            info = os.stat(here)  # noqa: PTH116 - a Path a folder would double the time
            if is_link and not _is_inside(here, root):
                if stat.S_ISDIR(info.st_mode) or here.lower().endswith(SUFFIXES):
                    skip(here[len(root) :], OUTSIDE)
            elif not stat.S_ISDIR(info.st_mode) and here != root:
                _add_linked_file(found, here, len(root), info)
            elif (info.st_dev, info.st_ino) not in visited:
                visited.add((info.st_dev, info.st_ino))
                _add_entries(here, len(root), found, folders, links)
        except OSError as error:
            if here == root:
                raise _folder_error(folder, error) from None
            skip(here[len(root) :], error.strerror or "unreadable")
        links.sort(reverse=True)
    if not found:
        but = f" that can be read, but {named(skipped)}" if skipped else ""
        raise DocsFolderError(
            f"the documents folder {shown(folder)} holds no documents{but}: "
            f"put files ending in {', '.join(SUFFIXES)} into it, or name another folder"
        )
    return found


def named(skipped: Mapping[str, str]) -> str:
    """Name what was left out, and why: the first few in full."""
    told = [f"{shown(path)} ({reason})" for path, reason in sorted(skipped.items())[:_NAMED]]
    more = len(skipped) - len(told)
    return ", ".join([*told, *([f"{more:,} more"] if more else [])])


def _is_inside(path: str, root: str) -> bool:
    return os.path.join(os.path.realpath(path), "").startswith(root)  # noqa: PTH118


def _add_entries(
    here: str, cut: int, found: dict[str, Stamp], folders: list[str], links: list[str]
) -> None:
    with os.scandir(here) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_symlink():
                links.append(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif entry.name.lower().endswith(SUFFIXES) and entry.is_file():
                with contextlib.suppress(FileNotFoundError):  # deleted since the folder was read
                    found[entry.path[cut:]] = _stamp(entry.stat())


def _stamp(info: os.stat_result) -> Stamp:
    return Stamp(info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def _add_linked_file(found: dict[str, Stamp], link: str, cut: int, info: os.stat_result) -> None:
    if (
        link.lower().endswith(SUFFIXES)
        and stat.S_ISREG(info.st_mode)
        and os.path.realpath(link)[cut:] not in found
    ):
        found[link[cut:]] = _stamp(info)


def _folder_error(folder: Path, error: OSError) -> DocsFolderError:
    name = f"the documents folder {shown(folder)}"
    if isinstance(error, FileNotFoundError):
        return DocsFolderError(f"{name} does not exist: name a folder of Markdown or text files")
    if isinstance(error, NotADirectoryError):
        return DocsFolderError(f"{name} is a file: name the folder that holds it")
    return DocsFolderError(f"{name} can't be read ({error.strerror}): change its permissions")
