"""The rows that are finished, kept beside the report, so that a comparison goes on where it was."""

import hashlib
import importlib
import importlib.util
import json
import os
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from typing import Any, Self, cast

from graphs.compare.rows import Row
from graphs.errors import UsageError

# Windows has no fcntl: there nothing keeps two comparisons apart.
fcntl: Any = importlib.import_module("fcntl") if importlib.util.find_spec("fcntl") else None

_HEAD = b'{"rungs": "compare", "version": 1}\n'


class JournalError(UsageError):
    """A file can't keep the rows: its path and what to do."""


class NotKeptError(Exception):
    """A row can't be written while a comparison runs: where, why, and what is kept."""

    def __init__(self, path: Path, error: OSError, finished: int, total: int) -> None:
        why = error.strerror or str(error)
        super().__init__(
            f"{path} can't be written: {why}; {finished:,} of {total:,} rows are finished and "
            "kept: make room for more, and the same command goes on"
        )


class Journal:
    """The finished rows of a comparison, one JSON object a line; a context manager.

    It keeps true that
    * a row is one write, after its run has ended: a process that is killed loses no other, and of
      a line that was cut only that line;
    * one comparison writes to it at a time;
    * a file that is no journal is not touched.

    Args:
        path: The file, made where there is none.
        fresh: Whether to forget what it holds.

    Attributes:
        rows: The rows by their keys.

    Raises:
        JournalError: It is another file, another comparison writes to it, or it can't be written.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        if path.exists() and not path.is_file():
            raise JournalError(f"{path} is no file, to keep finished rows in: name another report")
        try:
            path.touch(mode=0o600)
            # Without a buffer, so that a row that can't be written is not tried again at the end.
            self._file: FileIO = path.open("r+b", buffering=0)
        except OSError as error:
            raise JournalError(f"{path} can't be written: {error.strerror}") from None
        try:
            self._lock()
            self.rows: dict[str, Row] = self._read()
            if fresh:
                self._file.truncate(len(_HEAD))
                self._file.seek(0, os.SEEK_END)
                self.rows = {}
        except OSError as error:
            self._file.close()
            raise JournalError(f"{path} can't be written: {error.strerror}") from None
        except BaseException:
            self._file.close()
            raise

    def add(self, key: str, row: Row) -> None:
        """Keep a row.

        Raises:
            OSError: It can't be written; the rows before it are there.
        """
        line = json.dumps({"key": key, "row": row}, ensure_ascii=False)
        self._write(line.encode("utf-8", "replace") + b"\n")
        self.rows[key] = row

    def _write(self, line: bytes) -> None:
        """Write a line, or nothing of it."""
        before = self._file.tell()
        left = line
        try:
            while left:
                left = left[self._file.write(left) :]
        except BaseException:  # a Ctrl-C, too
            self._file.truncate(before)
            self._file.seek(before)
            raise

    def close(self) -> None:
        """Close the file and let another comparison have it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise JournalError(
                f"another comparison is writing to {self.path}: wait for its end, "
                "or name another report"
            ) from None

    def _read(self) -> dict[str, Row]:
        content = self._file.read()
        if not content:
            self._write(_HEAD)
            return {}
        if not content.startswith(_HEAD):
            raise JournalError(
                f"{self.path} is no list of finished rows: move it away, or name another report"
            )
        rows: dict[str, Row] = {}
        whole = content[: content.rfind(b"\n") + 1]
        for line in whole[len(_HEAD) :].splitlines():
            read = _line(line)
            if read is not None:
                rows[read[0]] = read[1]
        self._file.seek(len(whole))
        self._file.truncate()
        return rows


def _line(line: bytes) -> tuple[str, Row] | None:
    """Read one line; one that was damaged counts as never written."""
    try:
        read = json.loads(line)
    except ValueError:
        return None
    if not isinstance(read, dict) or not isinstance(read.get("row"), dict):
        return None
    row = read["row"]
    if row.keys() != Row.__required_keys__ or not isinstance(read.get("key"), str):
        return None
    return read["key"], cast("Row", row)


def key_of(parts: Mapping[str, Any]) -> str:
    """Make the key of a row from all that decides what it says."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def digest_of_code() -> str:
    """Digest what an answer depends on beside the question: code, prompts, shipped documents.

    A row that older code made is asked for again.
    """
    home = Path(__file__).parents[2]
    digest = hashlib.blake2b(digest_size=16)
    for package in ("graphs", "prompts", "tools"):
        for file in sorted((home / package).rglob("*")):
            if file.suffix in {".py", ".md", ".toml"} and "__pycache__" not in file.parts:
                digest.update(str(file.relative_to(home)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
