"""A command that does not end well says why on stderr, in one line, whatever it prints else."""

import io
import socket
import sys
from pathlib import Path

import pytest

from graphs.cli import screen
from graphs.cli.screen import Screen, clean
from tests.cli import home, rungs, scripted

__all__ = ["home"]

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize("form", [[], ["--json"], ["-q"]])
def test_a_run_that_fails_says_why_and_what_to_do_in_every_form(
    home: Path, form: list[str]
) -> None:
    model = scripted(home, [{"text": ""}, {"text": ""}])
    said = rungs("ask", "q", "--model", model, *form)
    assert said.code == 1
    (line,) = said.err.splitlines()
    assert line.startswith("rungs: the model said nothing")
    assert line.endswith("try another model with --model")
    if form == ["-q"]:
        assert said.out == ""


@pytest.mark.parametrize("form", [[], ["--json"], ["-q"]])
def test_a_model_server_that_is_not_there_is_named_with_the_setting(
    form: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        address = f"http://127.0.0.1:{gone.getsockname()[1]}"
    monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
    monkeypatch.setattr("graphs.models.retry._wait", lambda _: 0.0)
    said = rungs("ask", "q", "--model", "openai:m", *form)
    assert said.code == 1
    (line,) = said.err.splitlines()
    assert f"server at {address} failed (Connection refused)" in line
    assert "OPENAI_BASE_URL" in line


def test_an_answer_at_the_cap_says_so_on_stderr_where_nothing_else_does(home: Path) -> None:
    call = {"id": "c", "name": "calculator", "args": {"expression": "1+1"}}
    model = scripted(home, [{"tool_calls": [call]}, {"text": "So far: 2."}])
    said = rungs("ask", "q", "--model", model, "--max-tool-rounds", "1", "-q")
    assert (said.code, said.out) == (3, "So far: 2.\n")
    assert "the limit of 1 tool round was reached" in said.err
    assert "--max-tool-rounds" in said.err


@pytest.mark.parametrize("form", [[], ["--json"], ["-q"]])
def test_documents_that_are_left_out_are_named_once_in_every_run(
    home: Path, form: list[str]
) -> None:
    docs = home / "docs"
    docs.mkdir()
    (docs / "lunch.md").write_text("Lunch is at 12:17.", encoding="utf-8")
    (docs / "big.txt").write_text("x" * 5_000_001, encoding="utf-8")
    (docs / "photo.md").write_bytes(b"\0\0")
    (docs / "passwd.txt").symlink_to("/etc/passwd")
    for _ in range(2):
        said = rungs("ask", "When is lunch?", "--docs", str(docs), *form)
        assert said.code == 0
        assert said.err.splitlines() == [
            "rungs: skipped big.txt: larger than 5 MB",
            "rungs: skipped passwd.txt: a link that leads out of the folder",
            "rungs: skipped photo.md: not a text file",
        ]


def test_of_many_documents_left_out_the_first_are_named_and_the_others_counted(home: Path) -> None:
    docs = home / "docs"
    docs.mkdir()
    (docs / "lunch.md").write_text("Lunch is at 12:17.", encoding="utf-8")
    for number in range(12):
        (docs / f"{number:02}.md").write_bytes(b"\0\0")
    lines = rungs("ask", "When is lunch?", "--docs", str(docs)).err.splitlines()
    assert len(lines) == 6
    assert lines[-1] == f"rungs: skipped 7 more of {docs}"


def test_a_folder_of_which_all_was_skipped_is_refused_with_the_reason(home: Path) -> None:
    (home / "docs").mkdir()
    (home / "docs" / "photo.md").write_bytes(b"\0\0")
    said = rungs("ask", "q", "--docs", str(home / "docs"))
    assert said.code == 2
    assert "photo.md (not a text file)" in said.error


def test_a_long_wait_without_a_spinner_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told = io.StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    monkeypatch.setattr(screen, "PATIENCE", 0.0)
    shown = Screen(silent=True)
    for _ in range(3):
        shown.wait("waiting for the model ...")
        if shown._waiting is not None:
            shown._waiting.join()
        shown.settle()
    assert told.getvalue() == "rungs: waiting for the model ...\n"


def test_a_short_wait_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told = io.StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    shown = Screen()
    shown.wait("waiting for the model ...")
    waiting = shown._waiting
    shown.settle()
    assert waiting is not None
    waiting.join()
    assert told.getvalue() == ""


@pytest.mark.parametrize(
    "control", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\x1b\x9b"
)
def test_what_would_turn_or_obey_is_replaced(control: str) -> None:
    assert clean(f"a{control}b") == "a\ufffdb"


def test_the_help_says_how_many_objects_json_prints() -> None:
    for command in ("ask", "resume"):
        assert "Print one JSON object, and" in " ".join(rungs(command, "--help").out.split())
    for words in (["threads"], ["audit"], ["notes", "list"]):
        assert "one JSON object a line" in " ".join(rungs(*words, "--help").out.split())
