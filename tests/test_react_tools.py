"""A ReAct run has the tools of everywhere, with a file's own rules, and servers that list some."""

from pathlib import Path

import pytest

from graphs import open_graph
from tests.mcp_servers import Stub, ended, tool, write
from tests.reacting import Log, acting, observations, sent
from tests.support import MODES, Mode, compiled, run
from tools import ContractError, contract, load_tools

NAMES = ["react_transcript", "react_todo_notes", "react_compaction"]
OWN = '[read_only.calculator]\nuse = "tools.calculator:calculator"'
POLICY = '[redaction.patterns]\ncase = "CASE [0-9]+"'


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_a_servers_tools_are_listed_in_the_prompt_and_it_is_asked_at_the_first_run(
    name: str, mode: Mode, tmp_path: Path
) -> None:
    server = Stub(tmp_path).script([tool("book_room", description="Book a room.")])
    file = write(tmp_path, OWN, server.table('read_only = ["*"]'))
    model = acting("Thought: so\nAction: book_room[x]", "Final Answer: booked")
    with open_graph(name, db=tmp_path / "r.sqlite", model=model, tools=load_tools(file)) as graph:
        assert server.pids == []
        output = run(mode, graph, "?")
    assert '- book_room[{"q": string?}]: ' in sent(model.requests[0])
    assert observations(model.requests[1].messages) == ['book_room: {"q": "x"}']
    assert output["answer"] == "booked"
    (pid,) = server.pids
    assert ended(pid)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_what_the_tools_file_takes_out_is_taken_out(name: str, mode: Mode, tmp_path: Path) -> None:
    file = write(tmp_path, OWN, POLICY)
    (calculator,) = load_tools(file)
    ours = contract(calculator, name="look")
    model = acting("Thought: CASE 4711\nAction: look[1+1]", "Final Answer: see CASE 4712")
    with open_graph(name, db=tmp_path / "r.sqlite", model=model, tools=[ours]) as graph:
        output = run(mode, graph, "?")
    assert "CASE" not in str(output["messages"][1:]) + output["answer"]


def test_no_other_tool_may_be_called_update_notes() -> None:
    with pytest.raises(ContractError, match="another tool has the same name"):
        compiled(acting(), [Log().tool("update_notes")], "react_todo_notes")
