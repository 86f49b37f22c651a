"""The server's rollback: the thread is as before the run, and the other threads go on."""

import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.cli import home
from tests.serving import call, server
from tests.test_server_cancel import ask, call_without_answer, tools, until_reads

__all__ = ["home", "server", "tools"]

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]


def begun(url: str, home: Path, thread: str) -> str:
    """Begin a run whose tool runs on; return the run's id once it does."""
    written = home / f"{uuid.uuid4()}.txt"
    made = [{"id": "s1", "name": "polite", "args": {"path": str(written)}}]
    run = call(f"{url}/threads/{thread}/runs", ask(home, "undone", ["-", {"tool_calls": made}]))
    until_reads(written, "begun")
    return str(run["run_id"])


def answered(url: str, home: Path, thread: str, question: str, *replies: Any, **more: Any) -> Any:
    """Ask a question whose reply is a text, and return the state in the end."""
    run = ask(home, question, [*replies, {"text": f"To {question}."}])
    ended = call(f"{url}/threads/{thread}/runs/wait", {**run, **more})
    assert (ended["answer"], ended["status"]) == (f"To {question}.", "answered")
    return ended


def state(url: str, thread: str) -> Any:
    found = call(f"{url}/threads/{thread}/state")
    return found["checkpoint"]["checkpoint_id"], found["values"], found["next"]


@pytest.mark.usefixtures("tools")
def test_a_run_is_rolled_back_by_a_cancel_and_by_the_next_message(
    tools: None, server: str, home: Path
) -> None:
    """The server has one worker: a run that kept it would be its last."""
    one, other = (call(f"{server}/threads", {})["thread_id"] for _ in range(2))
    answered(server, home, one, "Q1")
    before = state(server, one)

    run = begun(server, home, one)
    call_without_answer(f"{server}/threads/{one}/runs/{run}/cancel?wait=true&action=rollback")
    assert state(server, one) == before
    assert call(f"{server}/threads/{one}")["status"] == "idle"
    assert [found["run_id"] for found in call(f"{server}/threads/{one}/runs")].count(run) == 0
    answered(server, home, other, "Q1")

    begun(server, home, one)
    ended = answered(server, home, one, "Q2", "-", multitask_strategy="rollback")
    asked = [message["content"] for message in ended["messages"] if message["type"] == "human"]
    assert asked == ["Q1", "Q2"]
    answered(server, home, other, "Q2", "-")

    log = (home / "server.log").read_text("utf-8", "replace")
    assert "Custom checkpointer missing" not in log
    assert "Traceback" not in log
