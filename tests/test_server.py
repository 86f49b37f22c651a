"""LangGraph's server: the graphs of langgraph.json, on the memory file of the command line."""

import json
import sqlite3
import urllib.request
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphs import GRAPHS
from tests.cli import home, rungs
from tests.serving import call, server

__all__ = ["home", "server"]

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]


def test_a_thread_begun_in_the_server_goes_on_in_the_command_line(server: str, home: Path) -> None:
    served = {found["graph_id"] for found in call(f"{server}/assistants/search", {"limit": 100})}
    assert served == set(GRAPHS)

    thread = str(uuid.uuid4())
    call(f"{server}/threads", {"thread_id": thread})
    given = {"messages": [{"role": "user", "content": "How much is 18% of a $250 order?"}]}
    run = {"assistant_id": "tools_in_context", "input": given}
    ended = call(f"{server}/threads/{thread}/runs/wait", run)
    assert ended["status"] == "answered"
    assert "45" in ended["answer"]

    db = str(home / "memory.sqlite")
    said = rungs("ask", "What is 6 * 7?", "--thread", thread, "--db", db, "--json")
    assert said.code == 0, said.err
    assert "42" in said.json["answer"]
    state = call(f"{server}/threads/{thread}/state")
    words = [message["content"] for message in state["values"]["messages"]]
    assert "How much is 18% of a $250 order?" in words
    assert "What is 6 * 7?" in words

    page = urllib.request.urlopen(f"{server}/rungs/", timeout=60)
    with page:
        assert b"<title>Rungs</title>" in page.read()
    (told,) = call(f"{server}/rungs/api/threads/{thread}")["runs"][1:]
    assert told["question"]["text"] == "What is 6 * 7?"


def test_the_rungs_and_the_ladder_answer_through_the_server(server: str) -> None:
    earbuds = "What is the warranty on the earbuds made by the company that acquired Acme?"
    given = {"messages": [{"role": "user", "content": earbuds}]}
    ended = {
        name: call(f"{server}/runs/wait", {"assistant_id": name, "input": given})
        for name in ("one_call", "fixed_workflow", "full_agent", "ladder")
    }
    assert [found["status"] for found in ended.values()] == ["tool_limit", *["answered"] * 3]
    assert "2-year limited warranty" in ended["ladder"]["answer"]
    assert [receipt["rung"] for receipt in ended["ladder"]["receipts"]] == [
        "one_call",
        "fixed_workflow",
    ]


def test_the_react_variants_run_in_the_server_with_notes_and_summaries(server: str) -> None:
    question = (
        "What is the battery life of the earbuds made by the company that acquired Acme? "
        "How much does overnight shipping cost? How do I redeem a gift card?"
    )
    given = {"messages": [{"role": "user", "content": question}]}
    small = {"context_window": 3400, "kept_turns": 1}
    contexts = {"react_transcript": {}, "react_todo_notes": {}, "react_compaction": small}
    for name, context in contexts.items():
        run = {"assistant_id": name, "input": given, "context": context}
        ended = call(f"{server}/runs/wait", run)
        assert ended["status"] == "answered", (name, ended)
        for part in ("8 hours", "$29.95", "16-character code"):
            assert part in ended["answer"], name
        if name == "react_todo_notes":
            assert ended["notes"].count("[x]") == 2
        if name == "react_compaction":
            assert "Next step" in ended["summary"]


def test_a_pause_for_approval_is_answered_through_the_server_and_takes_effect_once(
    server: str, home: Path
) -> None:
    refund = {"order_id": "O-2001", "amount": "1.00", "reason": "late"}
    call_made = {"id": "c1", "name": "issue_refund", "args": refund}
    script = home / "script.json"
    script.write_text(json.dumps([{"tool_calls": [call_made]}, "Refunded."]), encoding="utf-8")
    thread = str(uuid.uuid4())
    call(f"{server}/threads", {"thread_id": thread})
    run = {"assistant_id": "tool_calling", "context": {"model": f"scripted:{script}"}}
    asked = {"messages": [{"role": "user", "content": "Refund a dollar of O-2001"}]}
    paused = call(f"{server}/threads/{thread}/runs/wait", {**run, "input": asked})
    (pause,) = paused["__interrupt__"]
    assert pause["value"]["action_requests"][0]["name"] == "issue_refund"
    assert _refunds(home) == 0

    wrong: dict[str, Any] = {"resume": {"decisions": []}}
    again = call(f"{server}/threads/{thread}/runs/wait", {**run, "command": wrong})
    assert "one decision" in again["__interrupt__"][0]["value"]["problem"]
    yes = {"resume": {"decisions": [{"type": "approve"}]}}
    ended = call(f"{server}/threads/{thread}/runs/wait", {**run, "command": yes})
    assert ended["answer"] == "Refunded."
    assert _refunds(home) == 1


def test_a_text_becomes_a_record_in_the_server(server: str, home: Path) -> None:
    del home
    thread = str(uuid.uuid4())
    call(f"{server}/threads", {"thread_id": thread})
    text = "My name is Ann Lee. I want my money back, it is urgent."
    run = {
        "assistant_id": "forced_output",
        "input": {"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]},
    }
    ended = call(f"{server}/threads/{thread}/runs/wait", run)
    assert ended["status"] == "record"
    assert ended["record"]["customer"] == "Ann Lee"
    assert ended["record"]["urgency"] == "high"
    again = {"messages": [{"role": "user", "content": "Who am I?"}]}
    ended = call(f"{server}/threads/{thread}/runs/wait", {**run, "input": again})
    assert ended["status"] == "rejected"
    assert "customer" in ended["rejection"]["errors"][0]
    assert ended["record"] is None


def _refunds(home: Path) -> int:
    """Count the refunds of a dollar for being late."""
    path = home / "shop.sqlite"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT count(*) FROM refunds WHERE order_id = 'O-2001' AND reason = 'late'"
        return int(connection.execute(query).fetchone()[0])


@pytest.mark.parametrize("graph", ["deferred_tool_search", "tool_search_toolkit"])
def test_a_tool_that_a_search_found_pauses_and_is_answered_through_the_server(
    graph: str, server: str, home: Path
) -> None:
    thread = str(uuid.uuid4())
    call(f"{server}/threads", {"thread_id": thread})
    asked = {"messages": [{"role": "user", "content": "Cancel order O-2010, it came twice."}]}
    run = {"assistant_id": graph}
    paused = call(f"{server}/threads/{thread}/runs/wait", {**run, "input": asked})
    (pause,) = paused["__interrupt__"]
    (request,) = pause["value"]["action_requests"]
    assert (request["name"], request["args"]["order_id"]) == ("cancel_order", "O-2010")
    yes = {"decisions": [{"type": "approve"}]}
    ended = call(f"{server}/threads/{thread}/runs/wait", {**run, "command": {"resume": yes}})
    assert ended["status"] == "answered"
    with closing(sqlite3.connect(home / "shop.sqlite")) as shop:
        found = shop.execute("SELECT status FROM orders WHERE order_id = 'O-2010'").fetchone()
    assert found == ("cancelled",)
