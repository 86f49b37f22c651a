"""A tool search over tools that servers list: nobody is asked before somebody looks."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from graphs import GRAPHS, open_graph
from graphs.models import ScriptedModel
from tests.mcp_servers import Stub, ended, loaded, tool, write
from tests.searching import calls, search
from tests.support import MODES, Mode, result_for, run
from tools import ContractError, load_tools
from tools.late_catalog import LateCatalog
from tools.tool_search import ToolSearchToolkit

READ = 'read_only = ["*"]'
OWN = '[read_only.calculator]\nuse = "tools.calculator:calculator"'


def stub(folder: Path) -> Stub:
    about = "Book a meeting room for a day."
    return Stub(folder).script([tool("book_room", description=about), tool("list_rooms")])


def used(name: str) -> dict[str, Any]:
    """Make a reply that uses the server's tool, as the variant has it."""
    direct = {"id": "b", "name": "book_room", "args": {"q": "x"}}
    through = {"name": "book_room", "input": {"q": "x"}}
    wrapped = {"id": "b", "name": "tool_call", "args": through}
    return calls(direct if name == "deferred_tool_search" else wrapped)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["deferred_tool_search", "tool_search_toolkit"])
def test_a_server_s_tools_are_found_and_called_and_it_is_asked_at_the_first_run(
    name: str, mode: Mode, tmp_path: Path
) -> None:
    server = stub(tmp_path)
    file = write(tmp_path, OWN, server.table(READ))
    model = ScriptedModel(replies=[search("a", "meeting room"), used(name), "Done."])
    tools = load_tools(file)
    with open_graph(name, db=tmp_path / "r.sqlite", model=model, tools=tools) as graph:
        assert server.pids == []
        output = run(mode, graph, "?")
    found = json.loads(result_for(output["messages"], "a").text)
    assert found["tools"][0]["name"] == "book_room"
    assert found["available"] == 3
    assert result_for(output["messages"], "b").text == 'book_room: {"q": "x"}'
    (pid,) = server.pids
    assert ended(pid)


@pytest.mark.parametrize("mode", MODES)
def test_a_toolkit_over_servers_asks_them_at_the_first_search_or_call(
    mode: Mode, tmp_path: Path
) -> None:
    server = stub(tmp_path)
    with loaded(write(tmp_path, server.table(READ))) as tools:
        _, call = ToolSearchToolkit(tools).get_tools()
        assert server.pids == []
        given = {"name": "book_room", "input": {"q": "x"}}
        said = call.invoke(given) if mode == "invoke" else asyncio.run(call.ainvoke(given))
        assert 'book_room: {"q": "x"}' in str(said)
    assert len(server.pids) == 1


def test_a_catalog_follows_what_is_listed_and_leaves_out_the_search_s_own_names(
    tmp_path: Path,
) -> None:
    server = Stub(tmp_path).script([tool("one"), tool("tool_call"), tool("two")])
    with loaded(write(tmp_path, OWN, server.table(READ))) as tools:
        catalog = LateCatalog(tools)
        assert server.pids == []
        assert [found.name for found in catalog] == ["calculator", "one", "two"]
        assert len(catalog) == 3
        assert "one" in catalog
        assert catalog.search("two").matches[0].tool.name == "two"


def test_only_the_file_s_own_tools_can_be_always_loaded_by_name(tmp_path: Path) -> None:
    server = stub(tmp_path)
    with loaded(write(tmp_path, OWN, server.table(READ))) as tools:
        build = GRAPHS["deferred_tool_search"].build
        build(model=ScriptedModel(), tools=tools, always_loaded=["calculator"])
        with pytest.raises(ContractError, match="always loaded"):
            build(model=ScriptedModel(), tools=tools, always_loaded=["book_room"])
    assert server.pids == []
