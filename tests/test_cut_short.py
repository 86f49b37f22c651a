"""Killed between what a step wrote and its checkpoint: `rungs` goes on with the run."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from graphs import open_graph
from tests.cli import home, rungs, scripted

__all__ = ["home"]

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("home")]

KILLED = """
import os, signal, sys
from graphs.cli import main
from graphs.memory.saver import Saver

left, put, aput = int(sys.argv.pop(1)), Saver.put, Saver.aput

def count():
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

def dying(*args, **more):
    count()
    return put(*args, **more)

async def adying(*args, **more):
    count()
    return await aput(*args, **more)

Saver.put, Saver.aput = dying, adying
sys.exit(main())
"""
ASKED = "How much is 18% of a $250 order?"
SHIPPED = 3
"""Refunds in the shop as it is shipped."""
REFUND = "Refund $5 of order O-2001, it came late."


def killed(checkpoint: int, *arguments: str) -> bool:
    """Run a command that is killed just before it writes that checkpoint; tell whether it was."""
    command = [sys.executable, "-c", KILLED, str(checkpoint), *arguments]
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=180, check=False
    )
    return ended.returncode < 0


@pytest.mark.parametrize("graph", ["tools_in_context", "react_transcript"])
def test_a_run_killed_before_any_checkpoint_goes_on_with_its_question_asked_once(
    graph: str,
) -> None:
    dead = 0
    for checkpoint in range(1, 20):
        thread = f"t{checkpoint}"
        asked = ("ask", "-q", "--graph", graph, "--thread", thread, "--model", "offline", ASKED)
        if not killed(checkpoint, *asked):
            break
        dead += 1
        (row,) = [row for row in rungs("threads").out.splitlines() if row.startswith(f"{thread} ")]
        assert "unfinished" in row
        said = rungs("resume", thread, "-q")
        assert said.code == 0, (checkpoint, said.err)
        assert "45" in said.out
        with open_graph(graph, db="rungs.sqlite") as opened:
            kept = opened.get_state({"configurable": {"thread_id": thread}}).values["messages"]
        assert [message.text for message in kept if message.type == "human"].count(ASKED) == 1
        assert len([message for message in kept if ASKED in message.text]) == 1
    assert dead > 4


def test_what_was_approved_runs_once_wherever_the_approving_process_is_killed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNGS_SHOP", str(home / "shop.sqlite"))
    dead = 0
    for checkpoint in range(1, 20):
        thread = f"t{checkpoint}"
        asked = rungs("ask", "-q", "--graph", "tool_calling", "--thread", thread, REFUND)
        assert asked.code == 4
        if not killed(checkpoint, "resume", thread, "--approve", "-q"):
            break
        dead += 1
        refused = rungs("resume", thread, "--approve", "-q")
        assert refused.code == 2
        assert f"`rungs resume {thread}` goes on" in refused.error
        said = rungs("resume", thread, "-q")
        assert said.code == 0, said.err
        assert "refund id" in said.out
        with closing(sqlite3.connect(home / "shop.sqlite")) as shop:
            (refunds,) = shop.execute("SELECT count(*) FROM refunds").fetchone()
        assert refunds == SHIPPED + dead
    assert dead > 2


def test_a_question_that_is_cut_short_is_not_shown_as_ended_like_the_one_before() -> None:
    first = rungs("ask", "-q", "--thread", "t1", "--model", "offline", ASKED)
    assert first.code == 0
    assert killed(2, "ask", "-q", "--thread", "t1", "--model", "offline", "How much is 2 + 3?")
    (row,) = rungs("threads").out.splitlines()
    assert "unfinished" in row
    assert "5" in rungs("resume", "t1", "-q").out


def test_an_extraction_killed_before_any_checkpoint_asks_for_no_recorded_reply_again(
    home: Path,
) -> None:
    Path("a.txt").write_text("My name is Ann. I want a refund.", encoding="utf-8")
    schema = "graphs.support_request:SupportRequest"
    for checkpoint in (1, 2, 3, 4):
        db = str(home / f"{checkpoint}.sqlite")
        died = killed(checkpoint, "extract", schema, "a.txt", "--model", "offline", "--db", db)
        said = rungs("extract", schema, "a.txt", "--model", "offline", "--db", db)
        (line,) = map(json.loads, said.out.splitlines())
        with open_graph("forced_output", db=db) as graph:
            kept = graph.get_state({"configurable": {"thread_id": line["thread"]}}).values
        assert [message.type for message in kept["messages"]].count("human") == 1
        if not died:
            break
    assert checkpoint > 2


def test_a_run_that_goes_on_from_notes_has_them_wherever_it_is_killed_before_its_first_turn(
    home: Path,
) -> None:
    replies = ["Action: update_notes[[x] A [ ] B]", "Action: calculator[1+1]"]
    model = scripted(home, replies)
    path = Path(next(iter(home.glob("script-*.json"))))
    ask = ("ask", "-q", "-g", "react_todo_notes", "--max-turns", "2", "--model", model)
    for checkpoint in (1, 2, 3):
        path.write_text(json.dumps(replies), encoding="utf-8")
        thread = f"t{checkpoint}"
        assert rungs(*ask, "--thread", thread, "A and B?").code == 3
        path.write_text(json.dumps(["Final Answer: both"]), encoding="utf-8")
        assert killed(checkpoint, "resume", thread, "-q", "--max-turns", "40")
        (row,) = [row for row in rungs("threads").out.splitlines() if row.startswith(f"{thread} ")]
        assert "unfinished" in row
        said = rungs("resume", thread, "--max-turns", "60", "--json")
        assert said.code == 0, said.err
        assert (said.json["answer"], said.json["notes"]) == ("both", "[x] A [ ] B")
        with open_graph("react_todo_notes", db="rungs.sqlite") as graph:
            kept = graph.get_state({"configurable": {"thread_id": thread}}).values["messages"]
        assert [message.type for message in kept].count("human") == 2


def test_a_question_killed_behind_a_run_that_stopped_early_has_none_of_its_notes(
    home: Path,
) -> None:
    replies = ["Action: update_notes[[x] A [ ] B]", "Action: calculator[1+1]"]
    model = scripted(home, replies)
    path = Path(next(iter(home.glob("script-*.json"))))
    ask = ("ask", "-q", "-g", "react_todo_notes", "--max-turns", "2", "--model", model)
    for checkpoint in (1, 2, 3):
        path.write_text(json.dumps(replies), encoding="utf-8")
        thread = f"t{checkpoint}"
        assert rungs(*ask, "--thread", thread, "A and B?").code == 3
        path.write_text(json.dumps(["Final Answer: blue"]), encoding="utf-8")
        assert killed(checkpoint, *ask, "--thread", thread, "Which colour?")
        (row,) = [row for row in rungs("threads").out.splitlines() if row.startswith(f"{thread} ")]
        assert "unfinished" in row
        said = rungs("resume", thread, "--json")
        assert (said.json["answer"], said.json.get("notes")) == ("blue", None)
        with open_graph("react_todo_notes", db="rungs.sqlite") as graph:
            kept = graph.get_state({"configurable": {"thread_id": thread}}).values["messages"]
        asked = [message.text for message in kept if message.type == "human"]
        assert asked == ["A and B?", "Which colour?"]
