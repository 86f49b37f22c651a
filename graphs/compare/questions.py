"""The questions of a comparison: one JSON object a line, checked line by line.

{"question": "What is 18% of $250?", "expected": 45}
{"question": "How long is the warranty?", "expected": ["2-year", "Globex"], "hops": 2}
{"question": "Why was it refused?", "expected": "the bank declined", "check": "judge"}
"""

import json
import math
import os
import stat
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, cast, get_args

from graphs.errors import UsageError

Check = Literal["exact", "contains", "number", "judge"]
CHECKS: tuple[str, ...] = get_args(Check)

SETS = Path(__file__).with_name("sets")
"""The question sets that ship, named by their files."""

_KEYS = {"id", "question", "expected", "check", "hops", "documents", "note"}
_MAX_CHARS = 100_000
_MAX_LINE = 1_000_000
_MAX_FILE = 100_000_000
_DIGITS = 400
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what is expected of its answer.

    Attributes:
        id: Unique in its file; the line's number where none is given.
        text: The question.
        expected: What is looked for: texts, all of them, or one number, with the digits that the
            file writes it with.
        check: How: `exact`, `contains`, `number` or `judge`.
        hops: How many lookups it needs, where that is known.
    """

    id: str
    text: str
    expected: tuple[str, ...] | Decimal
    check: Check
    hops: int | None = None


class QuestionsError(UsageError):
    """What is wrong with a questions file: one sentence a line of it.

    Attributes:
        problems: The sentences.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def shipped_sets() -> list[str]:
    """List the names of the sets that ship."""
    return sorted(path.stem for path in SETS.glob("*.jsonl"))


def read_questions(source: str, *, judge: bool) -> list[Question]:
    """Read a questions file, or a set that ships, by its name.

    Args:
        source: A path, or a name of `shipped_sets()`.
        judge: Whether there is a judge for the answers that need one.

    Raises:
        QuestionsError: Lines are wrong, all of which are named (twenty at the most), or the file
            can't be read or holds no question.
    """
    shipped = SETS / f"{source}.jsonl"
    path = shipped if source in shipped_sets() else Path(source).expanduser()
    if not source.strip():
        raise QuestionsError([f"no questions are named: {_known()}"])
    lines = _lines(source, path)
    questions: list[Question] = []
    problems: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            questions.append(_read_line(line, number, judge=judge))
        except ValueError as error:
            problems.append(f"{source} line {number}: {error}")
    counts = Counter(question.id for question in questions)
    problems += [f"{source}: the id {name!r} comes twice" for name, n in counts.items() if n > 1]
    if not questions and not problems:
        problems = [f'{source} holds no questions: a line is {{"question": ..., "expected": ...}}']
    if problems:
        more = len(problems) - _NAMED
        rest = [f"{source}: {more} more lines are wrong"] if more > 0 else []
        raise QuestionsError(problems[:_NAMED] + rest)
    return questions


def _known() -> str:
    return f"name a JSON Lines file, or {' or '.join(shipped_sets())}"


def _lines(source: str, path: Path) -> list[bytes]:
    """Read the lines of a file, or of a pipe that somebody writes to.

    Raises:
        QuestionsError: It can't be read, or is nothing that holds lines of text.
    """
    try:
        # A pipe that nobody writes to ends at once, where opening it otherwise would wait for ever.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            kind = os.fstat(handle).st_mode
            if not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind)):
                raise QuestionsError([f"{source} is no file: {_known()}"])
            os.set_blocking(handle, True)
            content = file.read(_MAX_FILE + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, QuestionsError):
            raise
        why = getattr(error, "strerror", None) or str(error)
        raise QuestionsError([f"{source}: {why.lower()}: {_known()}"]) from None
    if len(content) > _MAX_FILE:
        raise QuestionsError([f"{source} has more than {_MAX_FILE:,} bytes: split it"])
    if content.lstrip().startswith(b"["):
        raise QuestionsError([f"{source} holds a list: write one object a line, without brackets"])
    if b"\0" in content:
        raise QuestionsError([f"{source} holds no text in UTF-8: {_known()}"])
    return content.split(b"\n")


def _read_line(line: bytes, number: int, *, judge: bool) -> Question:
    """Read one line.

    Raises:
        ValueError: It is no question; the sentence says what to do.
    """
    if len(line) > _MAX_LINE:
        raise ValueError(f"it has more than {_MAX_LINE:,} bytes")
    found = _parsed(line)
    if unknown := sorted(found.keys() - _KEYS):
        raise ValueError(f"unknown key {unknown[0]!r}: known are {', '.join(sorted(_KEYS))}")
    text = found.get("question")
    if not isinstance(text, str) or not text.strip():
        raise ValueError('"question" must be a text')
    if len(text) > _MAX_CHARS:
        raise ValueError(f"the question has more than {_MAX_CHARS:,} characters")
    expected, check = _expected(found)
    if check == "judge" and not judge:
        raise ValueError('"check" is "judge", and there is none: name a model with --judge')
    hops = found.get("hops")
    if hops is not None and (isinstance(hops, bool) or not isinstance(hops, int) or hops < 0):
        raise ValueError('"hops" must be a whole number')
    identity = found.get("id", str(number))
    if not isinstance(identity, str | int) or not str(identity).strip():
        raise ValueError('"id" must be a text')
    return Question(str(identity), text.strip(), expected, check, hops)


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(
            line.decode("utf-8-sig"),
            parse_constant=_no_number,
            parse_float=Decimal,
            parse_int=_whole,
        )
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error.msg} at character {error.colno}") from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(found, dict):
        example = '{"question": "...", "expected": "..."}'
        raise ValueError(f"it must be an object such as {example}")  # noqa: TRY004 - the user's
    return found


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError(f"a number has more than {_DIGITS} digits")
    return int(digits)


def _expected(found: dict[str, Any]) -> tuple[tuple[str, ...] | Decimal, Check]:
    expected = found.get("expected")
    is_number = isinstance(expected, int | Decimal) and not isinstance(expected, bool)
    check = found.get("check", "number" if is_number else "contains")
    if check not in CHECKS:
        raise ValueError(f'"check" must be one of {", ".join(CHECKS)}, not {check!r}')
    if check == "number":
        if not is_number:
            raise ValueError('"expected" must be a number, as "check" says')
        number = Decimal(cast("int | Decimal", expected))
        if not math.isfinite(float(number)) or bool(number) is not bool(float(number)):
            raise ValueError('"expected" must be a finite number, from 1e-300 to 1e300')
        return number, "number"
    texts = expected if isinstance(expected, list) else [expected]
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise ValueError('"expected" must be a text, a list of texts, or a number')
    if check != "contains" and len(texts) > 1:
        raise ValueError(f'"expected" must be one text where "check" is {check!r}')
    return tuple(texts), cast("Check", check)
