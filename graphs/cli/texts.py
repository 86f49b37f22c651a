"""Read the texts that records are made of: whole files, lines of JSON Lines, stdin."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphs.cli.question import QUESTION_LIMIT
from graphs.errors import UsageError
from tools import ArgumentsError
from tools.strict_json import loads

LINES = (".jsonl", ".ndjson")
STDIN = "-"


@dataclass(frozen=True, slots=True)
class Text:
    """One text, and where it came from: the file as it was named, and the line of it."""

    source: str
    text: str


class _UnusableError(ValueError):
    """An input that can't be used: a sentence that begins with its name."""


def read_texts(files: Sequence[str], field: str, *, lines: bool) -> list[Text]:
    """Read every text before anything is asked.

    Args:
        files: The files, in order; `-` is stdin. A file named twice is read once.
        field: The field of a line that holds the text; a line may be a JSON string, too.
        lines: Whether every file is JSON Lines, not only those whose names say so.

    Raises:
        UsageError: Some can't be used; one line names the first and says how many more.
    """
    texts: list[Text] = []
    faults: list[str] = []
    for file in dict.fromkeys(files):
        try:
            data = _read(file)
            if lines or file.lower().endswith(LINES):
                texts += _lines(_shown(file), data, field, faults)
            else:
                texts.append(Text(_shown(file), _checked(_shown(file), data)))
        except _UnusableError as error:
            faults.append(str(error))
    seen = Counter(text.source for text in texts)
    faults += [f"{name} names two texts: rename the file" for name in seen if seen[name] > 1]
    if faults:
        more = f" (and {len(faults) - 1} more can't be used)" if len(faults) > 1 else ""
        raise UsageError(f"{faults[0]}{more}; nothing was asked")
    return texts


def _shown(file: str) -> str:
    """Name a file in text that is UTF-8, whatever bytes its name has."""
    return file.encode("utf-8", "backslashreplace").decode()


def _read(file: str) -> str:
    path = Path(file).expanduser()
    try:
        if file == STDIN:
            if sys.stdin is None:
                raise _UnusableError("stdin is closed: name a file, or pipe the text in")
            data = sys.stdin.buffer.read()
        elif "\0" in file or not file.strip():
            raise _UnusableError(f"{file!r} is no file's name")
        elif path.is_dir():
            raise _UnusableError(f"{file} is a folder: name its files, such as {file}/*.txt")
        else:
            data = path.read_bytes()
    except OSError as error:
        raise _UnusableError(f"{file} can't be read: {error.strerror or error}") from None
    name = "stdin" if file == STDIN else file
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _UnusableError(f"{name} is not UTF-8 text: convert it first") from None
    if "\0" in text:
        raise _UnusableError(f"{name} is binary, not text")
    if not text.strip():
        raise _UnusableError(f"{name} is empty")
    return text


def _lines(file: str, data: str, field: str, faults: list[str]) -> Iterator[Text]:
    # Not `splitlines`: a JSON string may hold line separators of Unicode as they are.
    for number, line in enumerate(data.split("\n"), start=1):
        if not line.strip():
            continue
        source = f"{file}:{number}"
        try:
            yield Text(source, _checked(source, _of_line(source, line, field)))
        except _UnusableError as error:
            faults.append(str(error))


def _of_line(source: str, line: str, field: str) -> str:
    try:
        value = loads(line)
    except ArgumentsError as error:
        raise _UnusableError(f"{source} {error}") from None
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        raise _UnusableError(f"{source} must be a JSON object with a field {field!r}, or a string")
    if not isinstance(value.get(field), str):
        names = ", ".join(map(repr, list(value)[:10])) or "none"
        raise _UnusableError(
            f"{source} has no text in {field!r}: name another field with --field (it has {names})"
        )
    return str(value[field])


def _checked(source: str, text: str) -> str:
    name = "stdin" if source == STDIN else source
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise _UnusableError(f"{name} holds half a character, which is no text")
    text = text.replace("\0", "").strip()
    if not text:
        raise _UnusableError(f"{name} is empty")
    if len(text) > QUESTION_LIMIT:
        raise _UnusableError(f"{name} has more than {QUESTION_LIMIT:,} characters: split it")
    return text
