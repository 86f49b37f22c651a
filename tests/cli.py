"""Run `rungs` in tests: in this process, or as a process of its own, which can be killed."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import graphs
from graphs.cli import run

ROOT = Path(graphs.__file__).parents[1]

LONGEST = 180
"""Seconds after which a command is taken to hang, also on a machine that does much else."""

REFUND = [
    {"tool_calls": [{"id": "c1", "name": "calculator", "args": {"expression": "240*29/30"}}]},
    {"text": "The prorated refund is $232."},
]
"""Replies of a model that calls the calculator once and then answers."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a command answered: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line on stderr of a command that went wrong."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        assert self.out == ""
        return lines[0]

    @property
    def json(self) -> Any:
        """The one JSON object on stdout."""
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)


class Stream(io.TextIOWrapper):
    """A stream that keeps what is written to it, and may say that it is a terminal."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n")
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def written(self) -> str:
        self.flush()
        kept = self.buffer
        assert isinstance(kept, io.BytesIO)
        return kept.getvalue().decode()


def rungs(*arguments: str, stdin: bytes = b"", terminal: bool = False) -> Said:
    """Run a command in this process, its output piped or on a terminal."""
    out, err = Stream(terminal=terminal), Stream(terminal=terminal)
    given = io.TextIOWrapper(io.BytesIO(stdin))
    with redirect_stdout(out), redirect_stderr(err), patch("sys.stdin", given):
        code = run(arguments)
    return Said(code, out.written(), err.written())


def start(
    *arguments: str, env: Mapping[str, str] | None = None, stdout: Any = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Start `rungs` as a process of its own, its output piped."""
    return subprocess.Popen(
        [sys.executable, "-m", "graphs.cli", *arguments],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[bytes]) -> Said:
    """Wait until a process ends."""
    out, err = process.communicate(timeout=LONGEST)
    return Said(
        process.returncode, (out or b"").decode("utf-8", "replace"), err.decode("utf-8", "replace")
    )


def scripted(folder: Path, replies: list[Any]) -> str:
    """Write a script and return the model's name; it goes on where a thread's transcript ends."""
    path = folder / f"script-{len(list(folder.iterdir()))}.json"
    path.write_text(json.dumps(replies), encoding="utf-8")
    return f"scripted:{path}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with nothing of the user's own settings."""
    for name in [
        name for name in os.environ if name.startswith(("RUNGS_", "OPENAI_", "LANGSMITH_"))
    ]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("RUNGS_KEY", str(tmp_path / "key"))
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path
