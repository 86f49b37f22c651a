"""`rungs view` and `rungs studio`: what is wrong is said before anything is served."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphs
from tests.cli import home, rungs, scripted

__all__ = ["home"]

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def taken() -> Iterator[str]:
    """A port that another program listens on."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield str(other.getsockname()[1])


@pytest.mark.enable_socket
def test_a_port_that_is_taken_is_refused_rather_than_moved(home: Path, taken: str) -> None:
    rungs("ask", "Hello?", "--model", scripted(home, ["Hi."]))
    for command in ("view", "studio"):
        said = rungs(command, "--port", taken)
        assert said.code == 2
        assert f"port {taken} can't be used" in said.error


def test_studio_says_where_to_click_and_what_needs_the_network(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    started: list[list[str]] = []

    class Server:
        def __init__(self, command: list[str], *, env: dict[str, str], **_: object) -> None:
            started.append(command)
            assert env["RUNGS_DB"] == str(home / "here" / "x.sqlite")
            assert env["LANGSMITH_TRACING"] == "false"

        def wait(self) -> int:
            return 0

    monkeypatch.setattr("subprocess.Popen", Server)
    said = rungs("studio", "--db", "x.sqlite")
    assert said.code == 0
    port = started[0][-1]
    assert "--n-jobs-per-worker 10" in " ".join(started[0])  # else each run waits for all others
    assert f"baseUrl=http%3A%2F%2F127.0.0.1%3A{port}" in said.out
    assert f"http://127.0.0.1:{port}/rungs/" in said.out
    assert "network" in said.out


def test_outside_a_clone_studio_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(graphs, "__file__", str(tmp_path / "graphs" / "__init__.py"))
    assert "langgraph.json" in rungs("studio").error
