"""The `[mcp.NAME]` tables of a tools file: what they say, and what is wrong with one."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphs import open_graph
from graphs.models import ScriptedModel
from tests.mcp_servers import Stub, ended, loaded, named, tool, write
from tests.support import Mode, result_for, run
from tools import ToolsFileError, load_tools
from tools.mcp.settings import ServerSettings, read_server

SERVER = '[mcp.s]\ncommand = "x"\n'


def read(folder: Path, **table: Any) -> ServerSettings:
    found = read_server(folder / "tools.toml", "s", table)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "table", "reason"),
    [
        ("[mcp.s]\n", "mcp.s", 'needs either command = "..." or url = "..."'),
        (f'{SERVER}url = "http://h/mcp"', "mcp.s", "either command"),
        (f'{SERVER}headers = {{ A = "b" }}', "mcp.s", "headers goes with url"),
        ('[mcp.s]\nurl = "http://h/mcp"\nargs = ["a"]', "mcp.s", "args goes with command"),
        ('[mcp.s]\nurl = "ftp://h/mcp"', "mcp.s", "http:// or https://"),
        ('[mcp.s]\nurl = "http:///mcp"', "mcp.s", "http:// or https://"),
        ('[mcp.s]\ncommand = " "', "mcp.s", "must name a program"),
        ('[mcp.s]\ncomand = "x"', "mcp.s", "unknown key 'comand'; did you mean 'command'?"),
        (f'{SERVER}args = "a b"', "mcp.s", "args must be a list of texts"),
        (f"{SERVER}args = [1]", "mcp.s", "args must be a list of texts"),
        (f"{SERVER}env = {{ A = 1 }}", "mcp.s", "env must be a table of texts"),
        (f"{SERVER}timeout = true", "mcp.s", "timeout must be a number"),
        (f"{SERVER}timeout = 0", "mcp.s", "timeout is a number of seconds above 0, not 0"),
        (f"{SERVER}startup_timeout = inf", "mcp.s", "startup_timeout is a number of seconds"),
        (f'{SERVER}read_only = "get_*"', "mcp.s", "read_only must be a list of texts"),
        (f"{SERVER}tools = {{ a = 1 }}", "mcp.s", "tools must be a table of tables"),
        (f"{SERVER}[mcp.s.tools.a]\nreadonly = true", "mcp.s.tools.a", "did you mean 'read_only'?"),
        (f"{SERVER}[mcp.s.tools.a]\ntimeout = -1", "mcp.s.tools.a", "above 0"),
        (f"{SERVER}[mcp.s.tools.a]\ncache_seconds = 0", "mcp.s.tools.a", "at least 1"),
        (f'{SERVER}[mcp.s.tools.a]\npin = "abc"', "mcp.s.tools.a", "64 hexadecimal digits"),
        (f'{SERVER}cwd = "${{RUNGS_NOT_SET}}"', "mcp.s", "'RUNGS_NOT_SET', which is not set"),
        (f'{SERVER}env = {{ API_KEY = "k1" }}', "mcp.s", "env.API_KEY holds a secret"),
        (f'{SERVER}args = ["--token", "ghp_{"a" * 20}"]', "mcp.s", "args holds a secret"),
        (
            '[mcp.s]\nurl = "http://h"\nheaders = { Authorization = "Bearer 0123" }',
            "mcp.s",
            "write ${NAME} here",
        ),
        ('[mcp.s]\nurl = "http://me:pw@h/"', "mcp.s", "url holds a secret"),
        ("[mcp]\ns = 1", "mcp", "'s' must be a table of its own"),
    ],
)
def test_a_bad_table_ends_with_the_file_the_table_and_the_reason(
    tmp_path: Path, text: str, table: str, reason: str
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ToolsFileError) as caught:
        load_tools(file)
    said = str(caught.value)
    assert said.startswith(f"{file}: [{table}]: ")
    assert reason in said
    assert "\n" not in said


def test_secrets_come_from_the_environment_and_are_taken_out_of_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "blue-horse-9")
    monkeypatch.setenv("PORT", "80")
    http = read(
        tmp_path,
        url="http://h:${PORT}/mcp",
        headers={"Authorization": "Bearer ${GITHUB_TOKEN}", "X-Team": "a"},
    )
    assert http.connection == {
        "transport": "streamable_http",
        "url": "http://h:80/mcp",
        "headers": {"Authorization": "Bearer blue-horse-9", "X-Team": "a"},
    }
    assert http.clean("no blue-horse-9 at 80") == "no [redacted] at 80"
    assert "blue-horse-9" not in repr(http)


def test_a_command_runs_beside_its_file_with_no_more_of_the_environment_than_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    stub = Stub(tmp_path).script([tool("a")])
    table = stub.table('env = { GIVEN = "1" }\ncwd = "here"')
    (tmp_path / "here").mkdir()
    with loaded(write(tmp_path, table)) as tools:
        assert named(tools) == ["a"]
    assert read(tmp_path, command="./x", cwd="here").connection["cwd"] == str(tmp_path / "here")
    assert read(tmp_path, command="./x").connection["command"] == "./x"
    (started,) = stub.received("started")
    assert "GIVEN" in started["env"]
    assert "OPENAI_API_KEY" not in started["env"]


def test_a_server_that_is_switched_off_is_not_started_and_a_file_of_none_says_so(
    tmp_path: Path,
) -> None:
    stub = Stub(tmp_path).script([tool("a")])
    with pytest.raises(ToolsFileError, match="holds no tools"):
        load_tools(write(tmp_path, stub.table("enabled = false")))
    assert stub.pids == []


def test_without_the_packages_a_table_names_the_command_that_installs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> Any:
        return None if name.startswith("langchain_mcp") else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    file = write(tmp_path, SERVER)
    with pytest.raises(ToolsFileError) as caught:
        load_tools(file)
    said = f'{file}: [mcp.s]: MCP servers need more packages: pip install -e ".[mcp]"'
    assert str(caught.value) == said


@pytest.mark.processes
def test_importing_and_building_every_variant_starts_and_imports_nothing_of_mcp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = Stub(tmp_path).script([tool("a")])
    monkeypatch.setenv("RUNGS_TOOLS", str(write(tmp_path, stub.table())))
    code = (
        "import sys, graphs\n"
        "for name in graphs.GRAPHS:\n"
        "    graphs.GRAPHS[name].build().compile(name=name).get_graph().draw_mermaid()\n"
        "heavy = {'mcp', 'langchain_mcp_adapters', 'tools.mcp.connection'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert stub.pids == []


SEARCH = {"tool_calls": [{"id": "c1", "name": "search_far", "args": {"q": "x"}}]}
FINISH = {"tool_calls": [{"id": "c2", "name": "finish", "args": {"answer": "done"}}]}
RUNGS: dict[str, list[Any]] = {
    "one_call": [SEARCH, "done"],
    "fixed_workflow": [SEARCH, "", "done"],
    "full_agent": [SEARCH, FINISH],
    "ladder": [SEARCH, "done"],
}


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("name", RUNGS)
def test_a_rung_asks_servers_at_its_first_run_and_lets_go_of_them_with_its_graph(
    tmp_path: Path, name: str, mode: Mode
) -> None:
    stub = Stub(tmp_path).script([tool("search_far"), tool("finish"), tool("other")])
    model = ScriptedModel(replies=RUNGS[name])
    tools = load_tools(write(tmp_path, stub.table('read_only = ["*"]')))
    with open_graph(name, db=tmp_path / "r.sqlite", model=model, tools=tools) as graph:
        assert stub.pids == []
        output = run(mode, graph, "?")
        assert output["status"] == "answered"
        assert result_for(output["messages"], "c1").text == 'search_far: {"q": "x"}'
    loop, step = name == "full_agent", name == "fixed_workflow"
    shown = ["search_far"] if step else ["search_far", "other"]
    assert sorted(model.requests[0].tools) == sorted([*shown, *(["finish"] if loop else [])])
    assert [sent["name"] for sent in stub.received()] == ["search_far"]
    assert ended(stub.pids[0], 2)
