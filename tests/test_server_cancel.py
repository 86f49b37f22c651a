"""The server's cancel: the running tool is stopped, nothing more starts, the thread goes on."""

import json
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.cli import home
from tests.serving import call, server
from tests.test_cancel import TOOLS

__all__ = ["home", "server"]

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]


@pytest.fixture
def tools(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = home / "tools.toml"
    file.write_text(TOOLS, encoding="utf-8")
    monkeypatch.setenv("RUNGS_TOOLS", str(file))


def ask(home: Path, question: str, replies: list[Any]) -> dict[str, Any]:
    """Make a run of `tool_calling` with scripted replies."""
    script = home / f"{uuid.uuid4()}.json"
    script.write_text(json.dumps(replies), encoding="utf-8")
    given = {"messages": [{"role": "user", "content": question}]}
    context = {"model": f"scripted:{script}"}
    return {"assistant_id": "tool_calling", "input": given, "context": context}


def until_reads(path: Path, text: str) -> None:
    end = time.monotonic() + 60
    while not (path.exists() and path.read_text(encoding="utf-8") == text):
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.usefixtures("tools")
def test_the_servers_cancel_stops_the_tool_and_the_thread_takes_the_next_message(
    tools: None, server: str, home: Path
) -> None:
    for tool in ("polite", "waits"):
        thread = str(uuid.uuid4())
        call(f"{server}/threads", {"thread_id": thread})
        written = home / f"{tool}.txt"
        made = [{"id": "s1", "name": tool, "args": {"path": str(written)}}]
        later = [{"id": "s2", "name": tool, "args": {"path": str(home / "later.txt")}}]
        run = ask(home, "Q1", [{"tool_calls": made}, {"tool_calls": later}])
        begun = call(f"{server}/threads/{thread}/runs", run)
        until_reads(written, "begun")
        runs = f"{server}/threads/{thread}/runs"
        call_without_answer(f"{runs}/{begun['run_id']}/cancel?wait=true")
        assert call(f"{runs}/{begun['run_id']}")["status"] in {"interrupted", "cancelled"}
        until_reads(written, "stopped")
        assert not (home / "later.txt").exists()

        # A script goes on where the transcript ends: its second reply comes next.
        run = ask(home, "Q2", ["-", {"text": "On with Q2."}])
        ended = call(f"{runs}/wait", run)
        assert (ended["answer"], ended["status"]) == ("On with Q2.", "answered")
        results = [m for m in ended["messages"] if m["type"] == "tool"]
        assert [(m["tool_call_id"], m["status"]) for m in results] == [("s1", "error")]
        assert "unknown" in results[0]["content"]
        assert not (home / "later.txt").exists()


def call_without_answer(url: str) -> None:
    import urllib.request

    request = urllib.request.Request(url, b"", {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.read()
