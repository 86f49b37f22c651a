"""`rungs ask` and `rungs resume`: the steps, the answer, the receipt, and the exit codes."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli import REFUND, finish, home, rungs, scripted, start

__all__ = ["home"]

pytestmark = pytest.mark.usefixtures("home")

CALL: dict[str, Any] = {
    "tool_calls": [{"id": "c", "name": "calculator", "args": {"expression": "1+1"}}]
}


def test_each_step_is_a_plain_line_when_piped_and_the_answer_and_receipt_close(home: Path) -> None:
    said = rungs("ask", "What is my refund?", "--model", scripted(home, REFUND), "--thread", "t1")
    assert said.code == 0
    assert said.err == ""
    assert "\x1b" not in said.out
    lines = said.out.splitlines()
    assert lines[0] == "thread t1"
    assert lines[1].startswith("model call 1 (")
    assert 'asked for calculator(expression="240*29/30")' in lines[1]
    assert lines[2].startswith('  calculator(expression="240*29/30") (')
    assert lines[2].endswith(": 232")
    assert lines[3].endswith(": answered")
    assert "The prorated refund is $232." in lines
    assert lines[-2].startswith("answered (2 model calls, 1 tool call, tokens unknown, ")
    assert re.fullmatch(r"go on with: .*rungs'? ask --thread t1 \"\.\.\.\"", lines[-1])


def test_the_default_question_is_answered_with_tools_offline_and_without_a_key() -> None:
    said = rungs("ask", "How do I get a refund, and how much is 18% of a $250 order?")
    assert said.code == 0
    assert "search_docs(" in said.out
    assert "calculator(" in said.out
    assert "45" in said.out
    assert "model offline (rules, not a language model)" in said.out


def test_json_is_one_object_on_stdout_and_nothing_else(home: Path) -> None:
    said = rungs("ask", "q", "--model", scripted(home, REFUND), "--json", "--thread", "t1")
    assert said.code == 0
    assert said.err == ""
    assert said.json["answer"] == "The prorated refund is $232."
    assert said.json["status"] == "answered"
    assert said.json["thread_id"] == "t1"
    assert said.json["graph"] == "tools_in_context"
    assert said.json["usage"]["model_calls"] == 2
    assert said.json["usage"]["input_tokens"] is None


def test_quiet_prints_the_answer_alone(home: Path) -> None:
    said = rungs("ask", "q", "--model", scripted(home, REFUND), "--quiet")
    assert said.out == "The prorated refund is $232.\n"


def test_the_question_comes_from_stdin_with_a_dash(home: Path) -> None:
    said = rungs("ask", "-", "--json", stdin=b"What is 6 * 7?\n")
    assert said.code == 0
    assert "42" in said.json["answer"]


def test_tokens_that_a_model_tells_are_shown(home: Path) -> None:
    usage = {"input_tokens": 1200, "output_tokens": 30}
    model = scripted(home, [{"text": "Yes.", "usage": usage}])
    said = rungs("ask", "q", "--model", model)
    assert "1,200 + 30 tokens" in said.out.splitlines()[-2]


def test_a_run_that_is_capped_ends_with_3_and_says_so(home: Path) -> None:
    model = scripted(home, [CALL, {"text": "As far as I got: 2."}])
    said = rungs("ask", "q", "--model", model, "--max-tool-rounds", "1")
    assert said.code == 3
    assert "As far as I got: 2." in said.out
    assert said.out.splitlines()[-2].startswith("tool limit: ")


def test_a_model_that_says_nothing_ends_with_1(home: Path) -> None:
    said = rungs("ask", "q", "--model", scripted(home, [{"text": ""}, {"text": ""}]), "--json")
    assert said.code == 1
    assert said.json["status"] == "no_answer"
    assert said.json["answer"] is None


def test_a_tool_that_fails_is_shown_as_an_error_and_the_run_goes_on(home: Path) -> None:
    replies = [
        {"tool_calls": [{"id": "c", "name": "calculator", "args": {"expression": "1/0"}}]},
        {"text": "That has no value."},
    ]
    said = rungs("ask", "q", "--model", scripted(home, replies))
    assert said.code == 0
    assert ": error: " in said.out


def test_what_users_tools_and_models_write_is_neither_markup_nor_terminal_control(
    home: Path,
) -> None:
    replies = [
        {"tool_calls": [{"id": "c", "name": "calculator", "args": {"expression": "[bold]1[/]"}}]},
        {"text": "[red]a[/nothing] \x1b[31mred\x1b[0m \x9b2J \x07"},
    ]
    said = rungs("ask", "[/b] q", "--model", scripted(home, replies))
    assert said.code == 0
    assert "[red]a[/nothing] \ufffd[31mred" in said.out
    assert 'calculator(expression="[bold]1[/]")' in said.out
    assert not {"\x1b", "\x9b", "\x07"} & set(said.out)


@pytest.mark.parametrize("columns", ["1", "20", "300"])
def test_a_terminal_of_any_width_shows_it(
    home: Path, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    said = rungs("ask", "q", "--model", scripted(home, REFUND), terminal=True)
    assert said.code == 0, said.err
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.out)
    assert "232" in shown.replace("\n", "")


@pytest.mark.processes
def test_no_color_is_respected_and_no_character_is_too_much_for_ascii(home: Path) -> None:
    model = scripted(home, [{"text": "Größe → 5 € 🙂"}])
    env = {"PYTHONIOENCODING": "ascii", "NO_COLOR": "1", "PYTHONUTF8": "0"}
    said = finish(start("ask", "größe?", "--model", model, "--db", str(home / "a.sqlite"), env=env))
    assert said.code == 0, said.err
    assert "Gr??e" in said.out
    as_json = finish(
        start("ask", "q", "--model", model, "--json", "--db", str(home / "b.sqlite"), env=env)
    )
    assert as_json.json["answer"] == "Größe → 5 € 🙂"


def test_a_folder_of_one_s_own_is_searched_and_its_indexing_told(home: Path) -> None:
    docs = home / "my $docs' `x`"
    docs.mkdir()
    (docs / "lunch.md").write_text(
        "# Lunch\n\nThe canteen serves lunch at 12:17.\n", encoding="utf-8"
    )
    said = rungs("ask", "When does the canteen serve lunch?", "--docs", str(docs))
    assert said.code == 0
    assert "12:17" in said.out
    assert f"indexed 1 file of {docs}" in said.out


def test_another_folder_s_results_are_never_shown(home: Path) -> None:
    for name in ("a", "b"):
        (home / name).mkdir()
        text = f"# Lunch\n\nThe canteen serves lunch in house {name}.\n"
        (home / name / "lunch.md").write_text(text, encoding="utf-8")
    for name in ("a", "b"):
        said = rungs("ask", "Where is lunch in the canteen?", "--docs", str(home / name))
        assert f"house {name}" in said.out


def test_a_thread_goes_on_with_the_settings_it_recorded(home: Path) -> None:
    docs = home / "docs"
    docs.mkdir()
    (docs / "lunch.md").write_text(
        "# Lunch\n\nThe canteen serves lunch at 12:17.\n", encoding="utf-8"
    )
    model = scripted(home, ["Hi.", "Hi again."])
    assert rungs("ask", "hello", "--docs", str(docs), "--model", model, "-t", "t").code == 0
    again = rungs("ask", "hello", "--thread", "t", "--json")
    assert again.json["answer"] == "Hi again."
    other = rungs("ask", "When does the canteen serve lunch?", "-t", "t", "--model", "offline")
    assert "12:17" in other.out


def test_a_thread_remembers_what_was_said(home: Path) -> None:
    model = scripted(home, ["First.", "Second."])
    assert rungs("ask", "one", "--model", model, "-t", "t").code == 0
    said = rungs("ask", "two", "-t", "t")
    assert "model call 1 (" in said.out
    assert "Second." in said.out
    events = rungs("audit", "t").out
    assert "First." in events
    assert "Second." in events


def test_resuming_a_thread_that_has_ended_shows_its_answer_again(home: Path) -> None:
    assert (
        rungs("ask", "q", "--model", scripted(home, REFUND), "-t", "t", "--user", "ann").code == 0
    )
    said = rungs("resume", "t", "--user", "ann", "--json")
    assert said.code == 0
    assert said.json["answer"] == "The prorated refund is $232."


@pytest.mark.parametrize("command", [["resume", "t"], ["audit", "t"], ["ask", "?", "-t", "t"]])
@pytest.mark.parametrize("user", [[], ["--user", "bob"]])
def test_another_users_thread_is_refused_with_and_without_a_user(
    command: list[str], user: list[str], home: Path
) -> None:
    """Case USR-05, from the command line."""
    rungs("ask", "q", "--model", scripted(home, REFUND), "-t", "t", "--user", "ann")
    said = rungs(*command, *user)
    assert said.code == 2
    assert "another user" in said.error


def test_resuming_a_thread_that_is_unknown_is_refused() -> None:
    assert rungs("ask", "What is 1+1?").code == 0
    said = rungs("resume", "nothing")
    assert said.code == 2
    assert "no thread" in said.error


def test_notes_are_kept_for_a_user_and_off_without_one(home: Path) -> None:
    replies = [
        {"tool_calls": [{"id": "c", "name": "save_note", "args": {"text": "Prefers tea."}}]},
        {"text": "Noted."},
    ]
    assert "error" not in rungs("ask", "q", "--model", scripted(home, replies), "-u", "ann").out
    assert "Prefers tea." in rungs("notes", "list", "--user", "ann").out
    off = rungs("ask", "q", "--model", scripted(home, replies))
    assert "notes are off" in off.out


def test_a_read_only_run_changes_nothing(home: Path) -> None:
    replies = [
        {"tool_calls": [{"id": "c", "name": "save_note", "args": {"text": "Prefers tea."}}]},
        {"text": "I can't."},
    ]
    said = rungs("ask", "q", "--model", scripted(home, replies), "-u", "ann", "--read-only")
    assert said.code == 0
    assert "no notes" in rungs("notes", "list", "--user", "ann").out
