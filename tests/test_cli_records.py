"""`rungs threads`, `notes`, `audit` and `draw`: what the memory file and the code hold."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graphs import GRAPHS
from tests.cli import REFUND, ROOT, home, rungs, scripted

__all__ = ["home"]

pytestmark = pytest.mark.usefixtures("home")


def noted(home: Path, user: str, *texts: str) -> None:
    """Let a user's notes be saved by a run."""
    calls = [
        {"id": f"c{i}", "name": "save_note", "args": {"text": text}} for i, text in enumerate(texts)
    ]
    model = scripted(home, [{"tool_calls": calls}, {"text": "Noted."}])
    assert rungs("ask", "Remember this.", "--user", user, "--model", model).code == 0


def test_threads_are_listed_newest_first_for_their_user_alone(home: Path) -> None:
    for thread, user in (("t1", "ann"), ("t2", "ann"), ("t3", "bob")):
        model = scripted(home, ["Yes."])
        rungs("ask", f"Is this {thread}?", "--model", model, "--thread", thread, "--user", user)
    rows = rungs("threads", "--user", "ann").out.splitlines()
    assert [row.split()[0] for row in rows] == ["t2", "t1"]
    assert rows[0].endswith("answered  Is this t2?")
    assert "t3" in rungs("threads", "--user", "bob").out
    assert "no threads" in rungs("threads").out
    first = json.loads(rungs("threads", "--user", "ann", "--json").out.splitlines()[0])
    assert (first["thread_id"], first["status"], first["graph"]) == (
        "t2",
        "answered",
        "tools_in_context",
    )


def test_notes_are_listed_and_deleted_for_their_user_alone(home: Path) -> None:
    noted(home, "ann", "Prefers tea.", "Lives in Graz.")
    noted(home, "bob", "Prefers coffee.")
    rows = rungs("notes", "list", "--user", "ann").out.splitlines()
    assert {row.split("  ")[-1] for row in rows} == {"Prefers tea.", "Lives in Graz."}
    key = next(row.split()[0] for row in rows if "tea" in row)
    assert rungs("notes", "delete", key, "--user", "bob").code == 2
    assert rungs("notes", "delete", key, "--user", "ann").out == "deleted: Prefers tea.\n"
    assert "tea" not in rungs("notes", "list", "--user", "ann").out
    assert "coffee" in rungs("notes", "list", "--user", "bob").out


@pytest.mark.parametrize("key", ["", "zzz"])
def test_deleting_a_note_that_is_not_there_deletes_nothing(home: Path, key: str) -> None:
    noted(home, "ann", "Prefers tea.")
    assert "no note" in rungs("notes", "delete", key, "--user", "ann").error
    assert "tea" in rungs("notes", "list", "--user", "ann").out


def test_deleting_needs_enough_of_the_key_to_mean_one_note(home: Path) -> None:
    noted(home, "ann", *(f"Fact {i}." for i in range(17)))
    keys = [
        json.loads(row)["key"]
        for row in rungs("notes", "list", "-u", "ann", "--json").out.splitlines()
    ]
    shared = next(key[0] for key in keys if sum(other[0] == key[0] for other in keys) > 1)
    assert "notes have keys" in rungs("notes", "delete", shared, "--user", "ann").error


def test_audit_shows_each_call_with_arguments_result_and_cost(home: Path) -> None:
    rungs(
        "ask", "What is my refund?", "--model", scripted(home, REFUND), "--thread", "t", "-u", "ann"
    )
    rows = rungs("audit", "t", "--user", "ann").out.splitlines()
    assert rows[0].startswith("model call 1 (")
    assert rows[0].endswith("asked for calculator")
    assert rows[1].startswith('  calculator(expression="240*29/30") (')
    assert rows[1].endswith(": 232")
    assert rows[2].endswith(": answered: The prorated refund is $232.")
    events = [
        json.loads(row) for row in rungs("audit", "t", "-u", "ann", "--json").out.splitlines()
    ]
    assert [event["kind"] for event in events] == ["model_call", "tool_call", "model_call"]
    assert events[1]["arguments"] == {"expression": "240*29/30"}
    assert events[1]["result"] == "232"


def test_audit_filters_secrets(home: Path) -> None:
    secret = "sk-live-" + "9" * 24
    model = scripted(home, [{"text": f"Your key is {secret}."}])
    rungs("ask", f"My key is {secret}", "--model", model, "--thread", "t")
    for command in (["audit", "t"], ["audit", "t", "--json"]):
        assert secret not in rungs(*command).out


def test_audit_of_a_thread_that_is_unknown_is_refused(home: Path) -> None:
    rungs("ask", "q", "--model", scripted(home, ["Yes."]))
    assert "no thread" in rungs("audit", "nothing").error


@pytest.mark.parametrize("name", list(GRAPHS))
def test_draw_prints_mermaid_text(name: str) -> None:
    said = rungs("draw", name)
    assert said.code == 0
    assert said.out.rstrip() == GRAPHS[name].graph.get_graph().draw_mermaid().rstrip()


def test_draw_prints_nodes_and_the_words_that_lead_on_with_letters() -> None:
    lines = rungs("draw", "tools_in_context", "--ascii").out.splitlines()
    assert lines[:2] == ["start", "  --> call_model"]
    assert "  -- tool calls --> validate_calls" in lines
    assert "  -- answer --> end" in lines


def test_the_version_is_told() -> None:
    said = rungs("--version")
    assert said.code == 0
    assert said.out.startswith("rungs ")


def test_without_a_command_the_help_is_shown() -> None:
    said = rungs()
    assert said.code == 0
    for command in ("ask", "resume", "threads", "notes", "audit", "draw"):
        assert f"  {command} " in said.out


def test_help_imports_neither_langgraph_nor_rich() -> None:
    code = (
        "import sys; from graphs.cli import run; run(['ask', '--help']); "
        "sys.exit(bool({'langgraph', 'langchain_core', 'rich', 'sqlite3'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert told.returncode == 0
