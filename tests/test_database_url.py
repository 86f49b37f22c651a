"""A database's URL at the doors: read, refused in a line, and never shown with its password."""

import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from graphs import open_graph
from graphs.cli.receipt import next_command
from graphs.database_url import VARIABLE, DatabaseError, read_url, shown
from graphs.memory import open_memory, server_place
from graphs.memory.postgres.texts import (
    is_fit,
    read_text,
    read_value,
    stored_text,
    stored_value,
)
from tests.cli import home, rungs

__all__ = ["home"]

SECRET = "hunter2"


@pytest.fixture
def nobody_there() -> str:
    """An address of this machine where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ann:{SECRET}@host:port/x",
        f"postgresql://ann:{SECRET}/y@host/x",
        f"postgresql://ann:{SECRET}@y@host/x",
        f"postgresql://ann:{SECRET}?y@host/x",
        f"postgresql://ann:{SECRET}#y@host/x",
        f"postgresql://ann:{SECRET}%@host/x",
        f"postgresql://ann:{SECRET}@host/x?no_such_setting={SECRET}",
        f"postgresql://ann:{SECRET}@[host/x",
        f"postgresql+psycopg://ann:{SECRET}@host/x",
        f"postgresql:ann:{SECRET}@host/x",
    ],
)
@pytest.mark.parametrize("command", [["ask", "q"], ["threads"], ["resume", "t"], ["audit", "t"]])
def test_a_url_that_can_not_be_read_is_refused_without_telling_its_password(
    url: str, command: list[str], home: Path
) -> None:
    said = rungs(*command, "--db", url)
    assert said.code == 2
    assert SECRET not in said.error
    assert "postgresql://user:password@host/database" in said.error


@pytest.mark.parametrize("url", ["file:hunter2.sqlite?mode=ro", "sqlite:///hunter2", "mysql://h/x"])
def test_a_url_of_another_database_is_refused(url: str, home: Path) -> None:
    said = rungs("ask", "q", "--db", url)
    assert said.code == 2
    assert "name a SQLite file, or postgresql://user:password@host/database" in said.error
    assert SECRET not in said.error


@pytest.mark.parametrize("command", [["ask", "q"], ["threads"], ["notes", "list", "--user", "u"]])
def test_a_server_that_is_not_there_is_told_in_a_line(
    command: list[str], home: Path, nobody_there: str
) -> None:
    said = rungs(*command, "--db", f"postgresql://ann:{SECRET}@{nobody_there}/x")
    assert said.code == 2
    assert said.error == (
        f"rungs: postgresql://ann@{nobody_there}/x: no server listens there: "
        "start Postgres, or check host and port"
    )


def test_the_environment_names_a_database_to_commands_and_callers_alike(
    monkeypatch: pytest.MonkeyPatch, home: Path, nobody_there: str
) -> None:
    monkeypatch.setenv(VARIABLE, f"postgres://ann:{SECRET}@{nobody_there}/x")
    monkeypatch.setenv("RUNGS_DB", str(home / "file.sqlite"))
    line = f"postgresql://ann@{nobody_there}/x: no server listens there"
    assert line in rungs("ask", "What is 1+1?").error
    with pytest.raises(DatabaseError, match="no server listens there"), open_graph("one_call"):
        pass
    with pytest.raises(DatabaseError, match="no server listens there"):
        open_memory()
    assert server_place().startswith("postgres://")
    assert rungs("ask", "What is 1+1?", "--db", str(home / "other.sqlite")).code == 0
    assert not (home / "file.sqlite").exists()


def test_an_environment_that_names_no_database_is_refused(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv(VARIABLE, f"mysql://ann:{SECRET}@host/x")
    said = rungs("ask", "What is 1+1?")
    assert said.code == 2
    assert f"{VARIABLE} names no database" in said.error
    assert SECRET not in said.error
    with pytest.raises(DatabaseError, match=VARIABLE):
        open_memory()


def test_without_the_extra_a_url_is_refused_and_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    said = rungs("ask", "q", "--db", f"postgresql://ann:{SECRET}@host/x")
    assert said.code == 2
    assert said.error == (
        "rungs: a database URL needs the extra postgres: pip install -e '.[postgres]'"
    )


def test_what_is_shown_of_a_url_holds_no_password() -> None:
    url = f"postgresql://ann:{SECRET}@host:5433/x?password={SECRET}&sslmode=require"
    address = read_url(url)
    assert address.shown == shown(url) == "postgresql://ann@host:5433/x"
    assert SECRET not in repr(address)
    assert address.settings["sslmode"] == "require"
    for broken in (f"postgresql://ann:{SECRET}/@host/x", f"postgresql://a:{SECRET}@h:x/x"):
        assert SECRET not in shown(broken)
    assert shown("my.sqlite") == "my.sqlite"


def test_the_command_that_goes_on_names_the_database_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = {"thread_id": "t", "status": "waiting"}
    url = f"postgresql://ann:{SECRET}@host/x"
    assert next_command(ended, url, None).endswith("resume t --db postgresql://ann@host/x")
    monkeypatch.setenv(VARIABLE, url)
    assert next_command(ended, url, None).endswith("resume t")
    assert next_command(ended, "rungs.sqlite", None).endswith("resume t --db rungs.sqlite")


def test_studio_serves_the_database_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, str] = {}

    class Server:
        def __init__(self, command: list[str], *, env: dict[str, str], **_: object) -> None:
            given.update(env)

        def wait(self) -> int:
            return 0

    monkeypatch.setattr("subprocess.Popen", Server)
    monkeypatch.setattr("graphs.cli.studio._free", lambda _: 1234)
    assert rungs("studio", "--db", "postgresql://host/x").code == 0
    assert given[VARIABLE] == "postgresql://host/x"
    monkeypatch.setenv(VARIABLE, "postgresql://host/y")
    assert rungs("studio", "--db", "x.sqlite").code == 0
    assert given[VARIABLE] == ""
    assert given["RUNGS_DB"].endswith("x.sqlite")


@pytest.mark.parametrize("text", ["plain", "", "a\0b", "\ud800", stored_text("a\0b"), "ü\0"])
def test_every_text_comes_back_as_it_was_stored(text: str) -> None:
    kept = stored_text(text)
    kept.encode()
    assert "\0" not in kept
    assert read_text(kept) == text


@pytest.mark.parametrize(
    "value",
    [
        {"content": "plain ü"},
        {"content": "a\0b", "more": ["\ud83d", {"deep\0": 1}]},
        {"number": float("inf")},
        {"rungs_json": "{}"},
        {"words": "NaN, Infinity and \\u0000"},
    ],
)
def test_every_value_comes_back_as_it_was_stored(value: dict[str, Any]) -> None:
    assert read_value(stored_value(value)) == value


def test_what_json_can_not_hold_is_told() -> None:
    assert all(map(is_fit, ("plain", 1.5, None, ["\0"])))
    assert not any(map(is_fit, ("\0", "\udfff", float("nan"))))
