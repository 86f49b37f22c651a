"""The tools file: which tools there are, kept apart by what they do; and what is wrong with one."""

import sys
from pathlib import Path

import pytest

from tools import ContractError, ToolsFileError, as_contracts, contract, load_tools
from tools.registry import DEFAULT_FILE, tools_file


def find(query: str) -> str:
    """Find it."""
    return query


def write(folder: Path, text: str) -> Path:
    file = folder / "tools.toml"
    file.write_text(text, encoding="utf-8")
    return file


USE = 'use = "tools.arguments:parse_arguments"\n'


def test_the_shipped_file_keeps_what_changes_state_apart_from_what_does_not() -> None:
    made = {tool.name: tool for tool in load_tools(DEFAULT_FILE)}
    assert {name: tool.effect for name, tool in made.items()} == {
        "search_docs": "read_only",
        "calculator": "read_only",
        "save_note": "state_changing",
    }
    assert not any(tool.requires_confirmation for tool in made.values())
    assert list(made["calculator"].parameters["properties"]) == ["expression"]
    assert list(made["search_docs"].parameters["properties"]) == ["query"]
    assert list(made["save_note"].parameters["properties"]) == ["text"]


def test_every_tool_has_one_line_that_says_when_to_use_it() -> None:
    for tool in load_tools(DEFAULT_FILE):
        assert 20 < len(tool.description) < 200
        assert "\n" not in tool.description


def test_the_environment_names_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, "[read_only.parse]\n" + USE)
    monkeypatch.setenv("RUNGS_TOOLS", str(file))
    assert [tool.name for tool in load_tools()] == ["parse"]
    monkeypatch.delenv("RUNGS_TOOLS")
    assert tools_file() == DEFAULT_FILE


def test_a_table_says_how_its_tool_may_be_used(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        f"""
[read_only.parse]
{USE}
description = "Read arguments."
timeout = 2.5
cache_seconds = 300

[state_changing.store]
{USE}

[state_changing.off]
{USE}
enabled = false

[mcp.github]
command = "x"
enabled = false
""",
    )
    parse, store = load_tools(file)
    assert (parse.name, parse.description) == ("parse", "Read arguments.")
    assert (parse.timeout, parse.cache_seconds, parse.requires_confirmation) == (2.5, 300, False)
    assert (store.effect, store.requires_confirmation) == ("state_changing", True)


def test_a_module_may_lie_beside_its_tools_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "own_tools_of_a_test.py").write_text(
        'def hello(name: str) -> str:\n    "Say hello."\n    return name\n', encoding="utf-8"
    )
    (tool,) = load_tools(write(tmp_path, '[read_only.hello]\nuse = "own_tools_of_a_test:hello"'))
    assert tool.description == "Say hello."


@pytest.mark.parametrize(
    ("text", "table", "reason"),
    [
        ("[read_only", None, "is not TOML"),
        (f"[readonly.a]\n{USE}", "readonly", "unknown table; did you mean 'read_only'?"),
        ("read_only = 1", "read_only", "one table for each tool"),
        ("[read_only]\na = 1", "read_only", "'a' must be a table"),
        ("[read_only.a]\n", "read_only.a", 'needs use = "module:name"'),
        (f"[read_only.a]\n{USE}timout = 1", "read_only.a", "'timout'; did you mean 'timeout'?"),
        (f'[read_only.a]\n{USE}timeout = "1"', "read_only.a", "timeout must be a number"),
        (f"[read_only.a]\n{USE}timeout = true", "read_only.a", "timeout must be a number"),
        (f"[read_only.a]\n{USE}timeout = 0", "read_only.a", "above 0"),
        (f"[read_only.a]\n{USE}enabled = 1", "read_only.a", "enabled must be true or false"),
        ("[read_only.a]\nuse = 1", "read_only.a", "use must be text"),
        ('[read_only.a]\nuse = "tools"', "read_only.a", 'must be "module:name"'),
        ('[read_only.a]\nuse = "tools.nowhere:x"', "read_only.a", "can't import 'tools.nowhere'"),
        ('[read_only.a]\nuse = "tools:laod_tools"', "read_only.a", "did you mean 'load_tools'?"),
        ('[read_only.a]\nuse = "tools:__all__"', "read_only.a", "not list"),
        (f'[read_only."a.b"]\n{USE}', "read_only.a.b", "1 to 64 letters"),
        (f"[state_changing.a]\n{USE}cache_seconds = 5", "state_changing.a", "only a read_only"),
        (f"[read_only.a]\n{USE}[state_changing.a]\n{USE}", "state_changing.a", "a second tool"),
    ],
)
def test_a_bad_file_ends_with_the_file_the_table_and_the_reason(
    tmp_path: Path, text: str, table: str | None, reason: str
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ToolsFileError) as caught:
        load_tools(file)
    said = str(caught.value)
    assert said.startswith(f"{file}: [{table}]: " if table else f"{file}: ")
    assert reason in said
    assert "\n" not in said


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(ToolsFileError, match="can't be read"):
            load_tools(path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(ToolsFileError, match="is not TOML"):
        load_tools(binary)


def test_a_module_that_fails_on_import_is_told_on_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "broken_tools_of_a_test.py").write_text("1 / 0", encoding="utf-8")
    with pytest.raises(ToolsFileError, match="ZeroDivisionError: division by zero"):
        load_tools(write(tmp_path, '[read_only.a]\nuse = "broken_tools_of_a_test:a"'))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import sys\nsys.exit(7)", "SystemExit: 7"),
        ("raise SystemExit", "SystemExit"),
        ("raise GeneratorExit('x')", "GeneratorExit: x"),
    ],
)
def test_a_module_that_ends_the_program_is_told_like_any_other_failure(
    tmp_path: Path, body: str, said: str
) -> None:
    module = f"exiting_tools_of_a_test_{len(body)}"
    (tmp_path / f"{module}.py").write_text(body, encoding="utf-8")
    with pytest.raises(ToolsFileError) as error:
        load_tools(write(tmp_path, f'[read_only.a]\nuse = "{module}:a"'))
    assert str(error.value).endswith(f"can't import {module!r}: {said}")


def test_ctrl_c_while_a_module_is_imported_is_no_fault_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "slow_tools_of_a_test.py").write_text("raise KeyboardInterrupt", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt):
        load_tools(write(tmp_path, '[read_only.a]\nuse = "slow_tools_of_a_test:a"'))


@pytest.mark.parametrize(
    "text", ["", "[read_only]", '[read_only.a]\nuse = "tools:render"\nenabled = false']
)
def test_a_file_without_a_tool_says_so(tmp_path: Path, text: str) -> None:
    with pytest.raises(ToolsFileError, match=r"holds no tools: add a table such as"):
        load_tools(write(tmp_path, text))


def test_a_list_of_tools_becomes_contracts_in_its_order() -> None:
    ready = contract(find, name="ready", effect="read_only")
    mapping = {"name": "plain", "description": "Plain.", "function": lambda: 1}
    made = as_contracts([find, ready, mapping])
    assert [tool.name for tool in made] == ["find", "ready", "plain"]
    assert made[1] is ready


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ContractError, match=r"tool 'find' .* another tool has the same name"):
        as_contracts([find, find])
