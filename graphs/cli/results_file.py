"""A file of results, one JSON object a line, that a stop at any moment leaves whole."""

import importlib
import importlib.util
import json
import os
from collections.abc import Collection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graphs.errors import UsageError

# Windows has no fcntl: there two runs on one file are not told apart.
fcntl: Any = importlib.import_module("fcntl") if importlib.util.find_spec("fcntl") else None


class ResultsFile:
    """Lines that are appended whole; a context manager.

    It keeps true that
    * a line that a killed process left unfinished is taken out before anything is added;
    * a source has one line, that of its newest text: lines of other sources stay, those of these
      sources that are of another text, schema or model go;
    * a file that holds anything but such results is left as it is, and refused.

    Args:
        path: The file, made where there is none.
        threads: The thread of each source that is asked about now.

    Raises:
        UsageError: It can't be written, is another run's at the moment, or holds something else.
    """

    def __init__(self, path: str, threads: dict[str, str], *, again: bool = False) -> None:
        self.path = Path(path).expanduser()
        self.done: dict[str, str] = {}
        """The status of each source whose line is there."""
        if not path.strip() or "\0" in path:
            raise UsageError("no file is named: give the path of a file with --out")
        if self.path.exists() and not self.path.is_file():
            raise UsageError(f"{path} is no regular file: name another one with --out")
        try:
            self._file = self._opened()
            lines = self.path.read_bytes()
            kept = self._kept(lines, threads, again=again)
            if kept != lines:
                self._file = self._replaced(kept)
        except OSError as error:
            raise UsageError(f"{path} can't be written: {error.strerror or error}") from None

    def _opened(self) -> int:
        file = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC, 0o666)
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                os.close(file)
                raise UsageError(f"{self.path} is being written by another run") from None
        return file

    def _replaced(self, kept: bytes) -> int:
        """Put a file with these lines in the place of the old one, at once."""
        new = self.path.with_name(f".{self.path.name}.new")
        try:
            new.write_bytes(kept)
            new.chmod(os.fstat(self._file).st_mode & 0o777)
            new.replace(self.path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
        os.close(self._file)
        return self._opened()

    def _kept(self, data: bytes, threads: dict[str, str], *, again: bool) -> bytes:
        kept = []
        whole, _, _ = data.rpartition(b"\n")
        for line in whole.split(b"\n") if whole else ():
            source, thread, status = self._read(line)
            if source not in threads:
                kept.append(line)
            elif threads[source] == thread and source not in self.done and not again:
                self.done[source] = status
                kept.append(line)
        return b"".join(line + b"\n" for line in kept)

    def _read(self, line: bytes) -> tuple[str, str, str]:
        try:
            found = json.loads(line)
            return str(found["source"]), str(found["thread"]), str(found["status"])
        except (ValueError, TypeError, LookupError):
            raise UsageError(
                f"{self.path} holds other things than results: name another file with --out"
            ) from None

    def add(self, result: Any) -> None:
        """Append a line."""
        data = json.dumps(result, ensure_ascii=False).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise UsageError(f"{self.path} can't be written: {error.strerror or error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)


def check_no_input(path: str, sources: Collection[str]) -> None:
    """Refuse to write into a file that is read.

    Raises:
        UsageError: It is one of the inputs.
    """
    out = Path(path).expanduser().absolute()
    if any(Path(source).expanduser().absolute() == out for source in sources):
        raise UsageError(f"{path} is one of the inputs: name another file with --out")
