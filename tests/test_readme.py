"""What the pages say is so."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest

from graphs import GRAPHS
from graphs.cli.failures import EXIT_CODES
from graphs.models.catalog import TIMEOUT
from graphs.state import Status
from tests.cli import home, rungs
from tools.docs_folder import SUFFIXES
from tools.docs_text import MAX_FILE_BYTES
from tools.redact import Filter, in_force, redact
from tools.redaction_policy import read_policy
from tools.redactor import redactor_for

__all__ = ["home"]

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS = [
    "RUNGS_MODEL",
    "RUNGS_MODEL_TIMEOUT",
    "RUNGS_OPENAI_SENDS",
    "RUNGS_DOCS",
    "RUNGS_TOOLS",
    "RUNGS_DB",
    "RUNGS_DATABASE_URL",
    "RUNGS_KEY",
    "RUNGS_OTEL",
    "RUNGS_SHOP",
]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "graphs/README.md", "deploy/README.md"]


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of the README in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """Return the commands that the README tells the reader to type."""
    lines = [line for block in blocks("console") for line in block.splitlines()]
    return [line.split("  #")[0].strip() for line in lines]


def test_the_readme_opens_with_the_two_commands() -> None:
    first = README.split("```")[1].splitlines()[1:]
    assert [line.split()[:2] for line in first] == [["make", "run"], ["make", "test"]]
    assert README.index("```") < 20


@pytest.mark.parametrize("command", [line for line in commands() if line.startswith("rungs ")])
def test_each_command_of_the_readme_is_understood(command: str) -> None:
    words = shlex.split(command)[1:]
    said = rungs(*words, "--help")
    assert said.code == 0, said.err
    options = {word for word in words if word.startswith("--")}
    assert options <= set(re.findall(r"--[a-z-]+", said.out))


@pytest.mark.parametrize("command", [line for line in commands() if line.startswith("make ")])
def test_each_make_target_of_the_readme_exists(command: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE)


@pytest.mark.usefixtures("home")
def test_the_python_of_the_readme_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")  # a model is made, and not called
    told, made = [], {}
    for code in blocks("python"):
        made = {"__name__": "readme"}
        exec(compile(code, "README.md", "exec"), made)  # noqa: S102 - it is ours
        told.append(capsys.readouterr().out)
    said = [text for text in told if text]
    assert "answered" in said[0]
    assert "45" in said[0]
    assert "answered Goal: " in said[1]
    assert "{'name': 'Ann', 'price': 240}" in said[2]
    toolkit: Any = made["toolkit"]
    assert [tool.name for tool in toolkit.get_tools()] == ["tool_search", "tool_call"]


@pytest.mark.parametrize("page", PAGES)
def test_each_link_to_a_file_leads_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not target.startswith("http"):
            assert ((ROOT / page).parent / target).exists(), target


def test_the_readme_names_every_variant_and_every_exit_code() -> None:
    for name in GRAPHS:
        assert f"`{name}`" in README
    for code in {*EXIT_CODES.values(), 2}:
        assert re.search(rf"\b{code} [a-z]", README), code


@pytest.mark.parametrize("name", SETTINGS)
def test_each_setting_is_read_by_the_code_and_shown_in_the_example(name: str) -> None:
    assert name in README
    assert name in (ROOT / ".env.example").read_text(encoding="utf-8")
    code = [*ROOT.glob("graphs/**/*.py"), *ROOT.glob("tools/**/*.py")]
    assert any(name in path.read_text(encoding="utf-8") for path in code)


def test_the_readme_says_what_each_status_means_and_its_exit_code() -> None:
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \|.*\| (\d+) \|$", README, re.MULTILINE)
    told = {name: int(code) for names, code in rows for name in re.findall(r"\w+", names)}
    assert told == {status: EXIT_CODES[status] for status in get_args(Status)}


def test_the_readme_says_when_to_take_each_variant_and_shows_its_drawing() -> None:
    for name in GRAPHS:
        (row,) = re.findall(rf"^\| \[`{name}`\]\(graphs/.*\|$", README, re.MULTILINE)
        assert all(cell.strip() for cell in row.split("|")[1:4])
        assert f"[![{name}](graphs/pictures/{name}.svg)](graphs/README.md#{name})" in README


def test_each_place_in_the_readme_that_it_points_to_is_there() -> None:
    headings = re.findall(r"^#+ (.+)$", README, re.MULTILINE)
    places = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", README)) <= places


def test_the_readme_says_what_is_read_of_a_folder_and_what_a_run_leaves() -> None:
    for word in (*SUFFIXES, ".sqlite-threads.lock", "~/.cache/rungs"):
        assert word in README
    assert f"over {MAX_FILE_BYTES // 1_000_000} MB" in README
    assert f"| `{TIMEOUT:g}` |" in README


def test_the_guide_for_contributors_has_ten_decisions() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert re.findall(r"^(\d+)\. \*\*", text, re.MULTILINE) == [str(n) for n in range(1, 11)]
    for kind in ("A tool", "A variant", "A prompt", "A provider"):
        assert f"**{kind}.**" in text


def test_the_changelog_keeps_a_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.startswith("# Changelog\n")
    assert "## [Unreleased]" in text
    kinds = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_redaction_of_the_readme_does_what_it_says() -> None:
    (table,) = [block for block in blocks("toml") if "[redaction]" in block]
    policy = read_policy("README.md", tomllib.loads(table)["redaction"])
    with in_force(Filter(redactor_for(policy), lambda: {"ann@x.example"})):
        text = redact("123-45-6789 date_of_birth=1980 a@globex.example b@x.example ann@x.example")
    assert text == ("[redacted] date_of_birth=[redacted] a@globex.example [redacted] ann@x.example")


def test_the_approvals_of_the_readme_wait_and_the_edit_runs_once(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNGS_SHOP", str(home / "shop.sqlite"))
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    asked, edited = (
        shlex.split(
            next(line for line in page.splitlines() if line.startswith(start)), comments=True
        )
        for start in ("rungs ask --graph tool_calling", "rungs resume t2 --edit")
    )
    waiting = rungs(*asked[1:])
    assert waiting.code == 4, waiting.err
    assert "issue_refund" in waiting.out
    ended = rungs(*edited[1:])
    assert ended.code == 0, ended.err
    assert "$4.00" in ended.out
