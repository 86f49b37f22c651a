"""Bad input at each door of the command line: one line, exit code 2, nothing half written."""

import json
import os
from pathlib import Path
from unittest.mock import patch

import pytest

from graphs.cli.question import read_question
from graphs.errors import UsageError
from tests.cli import home, rungs, scripted

__all__ = ["home"]

pytestmark = pytest.mark.usefixtures("home")

TOOLS = """
[read_only.calculator]
use = "tools.calculator:calculator"
"""


def refused(*arguments: str, stdin: bytes = b"") -> str:
    """Run a command that must be refused, and return its one line."""
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    said = rungs(*arguments, stdin=stdin)
    assert said.code == 2, said
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before
    return said.error


@pytest.mark.parametrize("question", ["", "   ", "\n\t ", "\0"])
def test_an_empty_question_is_refused(question: str) -> None:
    assert "question is empty" in refused("ask", question)


@pytest.mark.parametrize("stdin", [b"", b" \n"])
def test_an_empty_stdin_is_refused(stdin: bytes) -> None:
    assert "question is empty" in refused("ask", "-", stdin=stdin)


def test_a_huge_question_is_refused() -> None:
    assert "100,000 characters" in refused("ask", "x" * 100_001)
    assert "100,000 characters" in refused("ask", "-", stdin="ü".encode() * 500_000)


def test_a_question_that_is_no_utf8_text_is_refused() -> None:
    assert "not UTF-8" in refused("ask", "-", stdin=b"caf\xe9?")
    assert "not UTF-8" in refused("ask", "caf\udce9?")


def test_a_docs_folder_that_is_missing_a_file_or_empty_is_refused(home: Path) -> None:
    file = home / "a file.md"
    file.write_text("text", encoding="utf-8")
    (home / "empty").mkdir()
    assert "does not exist" in refused("ask", "q", "--docs", str(home / "none"))
    assert "is a file" in refused("ask", "q", "--docs", str(file))
    assert "no documents" in refused("ask", "q", "--docs", str(home / "empty"))
    assert "folder" in refused("ask", "q", "--docs", "")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_docs_folder_without_permission_is_refused(home: Path) -> None:
    (home / "closed").mkdir(mode=0)
    assert "can't be read" in refused("ask", "q", "--docs", str(home / "closed"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[read_only.calculator\n", "tools.toml"),
        ('[read_only.calculator]\nuse = "tools.calculator:calculater"\n', "read_only.calculator"),
        ('[read_only.calculator]\nuse = "no_such_module:x"\n', "read_only.calculator"),
        (TOOLS + "timout = 3\n", "timout"),
        (TOOLS + 'timeout = "soon"\n', "timeout"),
        ("[read_write.calculator]\nuse = 'tools.calculator:calculator'\n", "read_write"),
        ('[mcp.github]\ncommnd = "x"\n', "mcp.github"),
        ("# nothing yet\n", "holds no tools"),
    ],
)
def test_a_tools_file_that_is_wrong_is_refused(home: Path, text: str, told: str) -> None:
    path = home / "tools.toml"
    path.write_text(text, encoding="utf-8")
    line = refused("ask", "q", "--tools", str(path))
    assert told in line
    assert "tools.toml" in line


def test_a_tools_file_that_is_missing_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "none.toml" in refused("ask", "q", "--tools", str(home / "none.toml"))
    assert "no tools file is named" in refused("ask", "q", "--tools", " ")
    monkeypatch.setenv("RUNGS_TOOLS", str(home / "none.toml"))
    assert "none.toml" in refused("ask", "q")


def test_a_tool_whose_schema_is_no_schema_is_refused(home: Path) -> None:
    path = home / "tools.toml"
    path.write_text('[read_only.broken]\nuse = "tests.test_cli_doors:BROKEN"\n', encoding="utf-8")
    assert "broken" in refused("ask", "q", "--tools", str(path))


BROKEN = {
    "name": "broken",
    "description": "A tool with a schema that no validator takes.",
    "parameters": {"type": "object", "properties": {"x": {"type": "strnig"}}},
    "function": print,
}


@pytest.mark.parametrize("rounds", ["0", "-1", "1001"])
def test_a_context_value_out_of_range_is_refused(rounds: str) -> None:
    assert refused("ask", "q", "--max-tool-rounds", rounds).startswith("rungs: --max-tool-rounds: ")


def test_a_context_value_of_a_wrong_type_is_refused() -> None:
    assert "max-tool-rounds" in refused("ask", "q", "--max-tool-rounds", "five")
    assert "--company" in refused("ask", "q", "--company", "")
    assert "--user" in refused("ask", "q", "--user", "u" * 257)


def test_a_database_that_is_garbage_or_truncated_is_refused_and_left_as_it_is(home: Path) -> None:
    garbage = Path("garbage.sqlite")
    garbage.write_bytes(b"this is no database" * 100)
    assert "garbage.sqlite" in refused("ask", "q", "--db", str(garbage))
    whole = home / "whole.sqlite"
    assert rungs("ask", "What is 2+2?", "--db", str(whole)).code == 0
    cut = Path("cut.sqlite")
    cut.write_bytes(whole.read_bytes()[:5000])
    assert "cut.sqlite" in refused("ask", "q", "--db", str(cut))


def test_a_database_that_is_a_folder_or_lies_nowhere_is_refused(home: Path) -> None:
    assert "folder" in refused("ask", "q", "--db", str(home))
    assert "folder" in refused("ask", "q", "--db", str(home / "none" / "x.sqlite"))
    assert "empty" in refused("ask", "q", "--db", " ")


def test_a_closed_stdin_is_refused() -> None:
    with pytest.raises(UsageError, match="stdin is closed"), patch("sys.stdin", None):
        read_question("-")


@pytest.mark.parametrize(
    "model", ["gpt-5", "nobody:at-all", "openai:", ":", "scripted:none.json", "", " "]
)
def test_a_model_that_is_unknown_is_refused(model: str) -> None:
    assert refused("ask", "q", "--model", model)


def test_a_missing_key_is_told_before_anything_is_written() -> None:
    assert "OPENAI_API_KEY" in refused("ask", "q", "--model", "openai:gpt-5-mini")


def test_a_model_named_in_the_environment_is_checked_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RUNGS_MODEL", "gpt-5")
    assert "gpt-5" in refused("ask", "q")


def test_an_unknown_graph_names_those_that_exist() -> None:
    assert "tools_in_context" in refused("ask", "q", "--graph", "tools_in_contxt")
    assert "tools_in_context" in refused("draw", "tools_in_contxt")


@pytest.mark.parametrize("thread", ["", "  ", "a\nb", "x" * 201])
def test_a_thread_id_that_can_not_be_typed_is_refused(thread: str) -> None:
    assert "thread id" in refused("ask", "q", "--thread", thread)
    assert "thread id" in refused("resume", thread)


def test_unknown_options_and_commands_are_refused_with_a_hint() -> None:
    assert "--docs" in refused("ask", "q", "--dosc", "x")
    assert "ask" in refused("aks", "q")
    assert "rungs ask --help" in refused("ask")


@pytest.mark.parametrize(
    "command", [["resume", "t"], ["threads"], ["audit", "t"], ["notes", "list", "--user", "u"]]
)
def test_looking_into_a_memory_file_that_is_not_there_does_not_create_it(
    command: list[str],
) -> None:
    assert "no memory file" in refused(*command, "--db", "none.sqlite")


def test_another_user_s_thread_is_refused(home: Path) -> None:
    db = ("--db", str(home / "m.sqlite"))
    assert rungs("ask", "What is 2+2?", "--user", "ann", "--thread", "t", *db).code == 0
    for user in (["--user", "bob"], []):
        assert "another user" in refused("ask", "What is 3+3?", "--thread", "t", *user, *db)


def test_a_failure_that_is_nobody_s_mistake_is_one_line_and_exit_code_1(home: Path) -> None:
    model = scripted(home, [])
    said = rungs("ask", "q", "--model", model, "--json")
    assert said.code == 1
    assert "script has 0 replies" in said.error
    assert "--debug" in said.error


def test_debug_shows_where_an_error_came_from(home: Path) -> None:
    said = rungs("ask", "q", "--debug", "--docs", str(home / "none"))
    assert said.code == 2
    assert "Traceback" in said.err
    assert said.err.splitlines()[-1].startswith("rungs: ")


def test_every_command_reads_the_user_without_the_blanks_around(home: Path) -> None:
    note = {"id": "c1", "name": "save_note", "args": {"text": "Likes tea."}}
    model = scripted(home, [{"tool_calls": [note]}, {"text": "Noted."}])
    assert rungs("ask", "Remember it.", "--user", "ann ", "--model", model, "-t", "t").code == 0
    for user in ("ann", "ann ", "\tann"):
        assert "Likes tea." in rungs("notes", "list", "--user", user).out
        assert "Remember it." in rungs("threads", "--user", user).out
        assert "Likes tea." in rungs("audit", "t", "--user", user).out
    assert rungs("threads", "--user", "  ").out == rungs("threads").out
    (key,) = [json.loads(rungs("notes", "list", "--user", "ann", "--json").out)["key"]]
    assert rungs("notes", "delete", key, "--user", " ann").code == 0
    assert "Likes tea." not in rungs("notes", "list", "--user", "ann").out


@pytest.mark.parametrize("command", [["list"], ["delete", "some-key"]])
def test_a_blank_user_is_refused_where_notes_need_one(command: list[str]) -> None:
    assert "user's id is blank" in refused("notes", *command, "--user", " ")


@pytest.mark.parametrize(
    ("option", "graph"),
    [
        ("--max-steps", "tools_in_context"),
        ("--max-turns", "tools_in_context"),
        ("--max-tool-rounds", "full_agent"),
        ("--max-steps", "react_transcript"),
    ],
)
def test_a_limit_that_the_graph_does_not_have_is_refused(option: str, graph: str) -> None:
    told = refused("ask", "q", option, "3", "--graph", graph)
    assert option in told
    assert graph in told


def test_a_limit_that_the_default_or_the_threads_graph_does_not_have_is_refused(home: Path) -> None:
    assert "tools_in_context" in refused("ask", "q", "--max-turns", "3")
    model = scripted(home, [{"text": "Thought: I know.\nFinal Answer: yes"}])
    begun = rungs("ask", "q", "-g", "react_transcript", "--max-turns", "3", "-m", model, "-t", "t")
    assert begun.code == 0
    told = refused("ask", "q", "--max-steps", "3", "-t", "t")
    assert "--max-steps" in told
    assert "react_transcript" in told
