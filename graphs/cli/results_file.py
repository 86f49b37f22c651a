"""A file of results, one JSON object a line, that a stop at any moment leaves whole."""

import importlib
import importlib.util
import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graphs.cli.texts import STDIN
from graphs.errors import UsageError

# Windows has no fcntl: there two runs on one file are not told apart.
fcntl: Any = importlib.import_module("fcntl") if importlib.util.find_spec("fcntl") else None


class ResultsFile:
    """Lines that are appended whole; a context manager.

    It keeps true that
    * a line that a killed process left unfinished is taken out before anything is added;
    * a source has one line: an older one, of another text, schema or model, goes once its new one
      is there, and not before;
    * stdin has a line for each text that came that way, for those are never the same source;
    * a file that holds anything but such results is left as it is, and refused.

    Args:
        path: The file, made where there is none.
        threads: The thread of each source that is asked about now.

    Attributes:
        done: The status of each source whose line is there.
        replaced: How many older lines have gone; known at the end.

    Raises:
        UsageError: It can't be written, is another run's at the moment, or holds something else.
    """

    def __init__(self, path: str, threads: dict[str, str], *, again: bool = False) -> None:
        self.path = Path(path).expanduser()
        self.done: dict[str, str] = {}
        self.replaced = 0
        if not path.strip() or "\0" in path:
            raise UsageError("no file is named: give the path of a file with --out")
        if self.path.exists() and not self.path.is_file():
            raise UsageError(f"{path} is no regular file: name another one with --out")
        try:
            self._file = self._opened()
            there, whole = self._newest()
            if not whole:
                self._replace(there.values())
        except OSError as error:
            raise UsageError(f"{path} can't be written: {error.strerror or error}") from None
        self._old = set(there)
        self._again = False
        for source, thread, status in map(self._read, () if again else there.values()):
            if threads.get(source) == thread:
                self.done[source] = status

    def _opened(self) -> int:
        file = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC, 0o666)
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                os.close(file)
                raise UsageError(
                    f"{self.path} is being written by another run: wait for its end, "
                    "or name another file with --out"
                ) from None
        return file

    def _replace(self, lines: Iterable[bytes]) -> None:
        """Put a file with these lines in the place of the old one, at once."""
        new = self.path.with_name(f".{self.path.name}.new")
        try:
            new.write_bytes(b"".join(line + b"\n" for line in lines))
            new.chmod(os.fstat(self._file).st_mode & 0o777)
            new.replace(self.path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
        os.close(self._file)
        self._file = self._opened()

    def _newest(self) -> tuple[dict[tuple[str, str], bytes], bool]:
        """Return the newest line of each source, in order, and whether the file has no others."""
        whole, _, rest = self.path.read_bytes().rpartition(b"\n")
        lines = whole.split(b"\n") if whole else []
        found: dict[tuple[str, str], bytes] = {}
        for line in lines:
            source, thread, _ = self._read(line)
            key = _key(source, thread)
            found.pop(key, None)
            found[key] = line
        return found, len(found) == len(lines) and not rest

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
        self._again |= _key(result["source"], result["thread"]) in self._old
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
        try:
            if self._again:
                before = self.path.read_bytes().count(b"\n")
                there, _ = self._newest()
                self._replace(there.values())
                self.replaced = before - len(there)
        except OSError as wrong:
            raise UsageError(f"{self.path} can't be written: {wrong.strerror or wrong}") from None
        finally:
            os.close(self._file)


def _key(source: str, thread: str) -> tuple[str, str]:
    """Return what two lines of one source have in common."""
    return (source, thread if source.partition(":")[0] == STDIN else "")


def check_no_input(path: str, sources: Collection[str]) -> None:
    """Refuse to write into a file that is read.

    Raises:
        UsageError: It is one of the inputs.
    """
    out = Path(path).expanduser().absolute()
    if any(Path(source).expanduser().absolute() == out for source in sources):
        raise UsageError(f"{path} is one of the inputs: name another file with --out")
