"""MCP servers at work: started once, kept, renewed, ended; and what is said when one fails."""

import asyncio
import gc
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graphs import open_graph
from graphs.models import ScriptedModel
from tests.mcp_servers import STUB, Stub, bound, calls, ended, is_alive, loaded, named, tool, write
from tests.support import ALL_MODES, Mode, compiled, result_for, run
from tools import load_tools
from tools.mcp import connection, servers

pytestmark = pytest.mark.processes

READ = 'read_only = ["*"]'
QUESTION: Any = {"messages": [{"role": "user", "content": "?"}]}


def until(happened: Callable[[], bool], seconds: float = 20) -> None:
    """Wait for something to happen."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.name == "rungs.mcp"]


def test_a_server_is_started_once_for_every_run_and_every_kind_of_caller(tmp_path: Path) -> None:
    stub = Stub(tmp_path).script([tool("a")])
    with loaded(write(tmp_path, stub.table(READ))) as tools:
        for mode in ALL_MODES:
            output = run(mode, compiled(calls(("a", {"q": mode}), ("a", {})), tools), "?")
            assert result_for(output["messages"], "c0").text == f'a: {{"q": "{mode}"}}'
    assert len(stub.pids) == 1
    assert len(stub.received("tools/list")) == 1
    assert len(stub.received()) == 8


def test_calls_of_one_reply_run_side_by_side_on_one_session(tmp_path: Path) -> None:
    stub = Stub(tmp_path).script([tool("a"), tool("b")], {"a": {"hang": 0.3}, "b": {"hang": 0.3}})
    made = [{"id": f"c{n}", "name": name, "args": {}} for n, name in enumerate("abab")]
    model = ScriptedModel(replies=[{"tool_calls": made}, "done"])
    with loaded(write(tmp_path, stub.table(READ))) as tools:
        tools.prepare()
        started = time.monotonic()
        output = run("ainvoke", compiled(model, tools), "?")
        assert time.monotonic() - started < 1.1
    assert [result_for(output["messages"], f"c{n}").text for n in range(4)] == ["late"] * 4


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"slow_start": 30}, "it did not start within 0.5 s"),
        ({"list_hang": True}, "it did not list its tools within 0.5 s"),
        ({"list_error": "no list today"}, "no list today"),
        ({"banner": "Welcome!", "list_hang": True}, "no message: Welcome!"),
        (None, "its process ended with exit code 1"),
    ],
)
def test_a_server_that_fails_at_load_costs_its_own_tools_and_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, broken: Any, reason: str
) -> None:
    bad, good = Stub(tmp_path, "bad"), Stub(tmp_path, "good").script([tool("a")])
    if broken is not None:
        bad.script([tool("x")], **broken)
    file = write(tmp_path, bad.table("startup_timeout = 0.5"), good.table(READ))
    started = time.monotonic()
    with loaded(file) as tools:
        output = run("invoke", compiled(calls(("x", {}), ("a", {})), tools), "?")
    assert time.monotonic() - started < 10
    (line,) = warnings(caplog)
    assert line.startswith("MCP server 'bad' can't be used: ")
    assert reason in line
    assert line.endswith("; its tools are left out")
    assert "MCP server 'bad' can't be used" in result_for(output["messages"], "c0").text
    assert result_for(output["messages"], "c1").text == "a: {}"
    assert all(ended(pid) for pid in bad.pids)


def test_a_program_that_is_not_there_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with loaded(write(tmp_path, '[mcp.s]\ncommand = "./nowhere"')) as tools:
        assert len(tools) == 0
    assert "there is no './nowhere'" in warnings(caplog)[0]


def test_a_server_that_failed_is_asked_again_and_its_tools_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = Stub(tmp_path)
    with loaded(write(tmp_path, stub.table(READ))) as tools:
        graph = compiled(ScriptedModel(replies=["none", "one", "two"]), tools)
        monkeypatch.setattr(servers, "AGAIN_SECONDS", 3600)
        run("invoke", graph, "?")
        stub.script([tool("a")])
        run("invoke", graph, "?")
        assert named(tools) == []
    monkeypatch.setattr(servers, "AGAIN_SECONDS", 0)
    (tmp_path / "stub.json").unlink()
    with loaded(write(tmp_path, stub.table(READ))) as tools:
        model = ScriptedModel(replies=["none", "one"])
        graph = compiled(model, tools, checkpointer=InMemorySaver())
        run("invoke", graph, "?")
        stub.script([tool("a")])
        run("ainvoke", graph, "?")
    assert [request.tools for request in model.requests] == [[], ["a"]]
    assert "- a(q): " in model.requests[1].messages[0].text


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_server_that_dies_in_a_call_costs_that_call_and_is_started_again(
    mode: Mode, tmp_path: Path
) -> None:
    answers = {"die": {"exit": 3, "last_words": "out of cheese\n"}}
    stub = Stub(tmp_path).script([tool("die"), tool("a")], answers)
    model = calls(("a", {}), ("die", {"q": "once"}), ("a", {}))
    with loaded(write(tmp_path, stub.table(READ))) as tools:
        output = run(mode, compiled(model, tools), "?")
    failed = result_for(output["messages"], "c1")
    assert failed.status == "error"
    assert failed.text == (
        "die failed: MCP server 'stub' was lost in the middle of the call: its process ended with "
        "exit code 3 (out of cheese); whether the call took effect is unknown"
    )
    assert result_for(output["messages"], "c2").text == "a: {}"
    assert [sent["name"] for sent in stub.received()] == ["a", "die", "a"]
    assert len(stub.pids) == 2


@pytest.mark.parametrize("mode", ALL_MODES)
@pytest.mark.parametrize("effect", [READ, ""])
def test_a_server_that_died_between_calls_is_told_in_one_line_and_started_again_for_the_next(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: Mode, effect: str
) -> None:
    stub = Stub(tmp_path).script([tool("a")])
    yes = "[mcp.stub.tools.a]\nrequires_confirmation = false"
    with loaded(write(tmp_path, stub.table(effect, yes))) as tools:
        run(mode, compiled(calls(("a", {})), tools), "?")
        os.kill(stub.pids[0], signal.SIGKILL)
        assert ended(stub.pids[0])
        output = run(mode, compiled(calls(("a", {"q": "x"}), ("a", {})), tools), "?")
    assert result_for(output["messages"], "c0").text == 'a: {"q": "x"}'
    assert result_for(output["messages"], "c1").text == "a: {}"
    assert len(stub.pids) == 2
    assert [sent["arguments"] for sent in stub.received()] == [{}, {"q": "x"}, {}]
    (line,) = warnings(caplog)
    assert line == (
        "MCP server 'stub' ended between calls: its process was ended by signal 9; "
        "it is started anew"
    )


PROGRESS = [
    {"progress": 1, "total": 4, "message": "row 1 of sk-live-9f8e7d6c5b4a3"},
    {"progress": 4, "total": 4},
    {"progress": 5, "message": "a stranger's", "progressToken": "no call's"},
]


@pytest.mark.parametrize("way", ["stream", "astream"])
def test_what_a_server_tells_of_its_progress_is_told_as_a_tool_s_own_is(
    way: str, tmp_path: Path
) -> None:
    answers = {"a": {"progress": PROGRESS, "apart": 0.15}}
    stub = Stub(tmp_path).script([tool("a"), tool("b")], answers)

    async def told(graph: Any) -> list[Any]:
        return [event async for event in graph.astream(QUESTION, stream_mode="custom")]

    with loaded(write(tmp_path, stub.table(READ))) as tools:
        graph = compiled(calls(("a", {}), ("b", {})), tools)
        stream = graph.stream(QUESTION, stream_mode="custom")
        events: Any = asyncio.run(told(graph)) if way == "astream" else list(stream)
    about = [
        (e["call_id"], e["state"], e.get("text"), e.get("done"), e.get("total")) for e in events
    ]
    assert about == [
        ("c0", "started", None, None, None),
        ("c0", "progress", "row 1 of [redacted]", 1, 4),
        ("c0", "progress", "", 4, 4),
        ("c0", "ended", None, None, None),
        ("c1", "started", None, None, None),
        ("c1", "ended", None, None, None),
    ]


def test_what_a_server_started_itself_ends_with_it(tmp_path: Path) -> None:
    for way in ("ends", "is killed"):
        stub = Stub(tmp_path, way.replace(" ", "_")).script([tool("a")])
        place, pid = tmp_path / f"{stub.name}.json", tmp_path / f"{stub.name}.pid"
        python = f"exec {sys.executable} -I -S {STUB} {place}"
        shell = json.dumps(f"sleep 300 >&- 2>&- & echo $! > {pid}; {python}")
        table = f'[mcp.{stub.name}]\ncommand = "sh"\nargs = ["-c", {shell}]'
        with loaded(write(tmp_path, table)) as tools:
            assert named(tools) == ["a"]
            assert is_alive(int(pid.read_text()))
            if way == "is killed":
                os.kill(stub.pids[0], signal.SIGKILL)
                assert ended(int(pid.read_text()))
        assert ended(stub.pids[0])
        assert ended(int(pid.read_text()))


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_call_that_hangs_ends_at_the_tool_s_own_timeout_and_the_server_is_told(
    mode: Mode, tmp_path: Path
) -> None:
    stub = Stub(tmp_path).script([tool("slow"), tool("a")], {"slow": {"hang": 30}})
    table = stub.table(READ, "[mcp.stub.tools.slow]\ntimeout = 0.2")
    with loaded(write(tmp_path, table)) as tools:
        output = run(mode, compiled(calls(("slow", {}), ("a", {})), tools), "?")
        until(lambda: bool(stub.received("notifications/cancelled")))
    assert "no result within 0.2 s" in result_for(output["messages"], "c0").text
    assert result_for(output["messages"], "c1").text == "a: {}"
    assert len(stub.pids) == 1


def test_a_server_that_hears_nothing_after_a_timeout_is_ended_and_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PING_SECONDS", 0.2)
    stub = Stub(tmp_path).script([tool("slow"), tool("a")], {"slow": {"stuck": 30}})
    table = stub.table(f"{READ}\ntimeout = 0.5")
    with loaded(write(tmp_path, table)) as tools:
        model = calls(("slow", {}), ("a", {}))
        output = run("invoke", compiled(model, tools), "?", context={"tool_timeout": 60})
    assert "no result within 0.5 s" in result_for(output["messages"], "c0").text
    first, second = stub.pids
    assert ended(first)
    assert second


def test_a_reply_that_cannot_be_read_and_a_refusal_are_told_in_a_sentence(tmp_path: Path) -> None:
    answers = {"a": {"error": "no such thing"}, "b": {"raw": '{"jsonrpc": "2.0", "id": '}}
    stub = Stub(tmp_path).script([tool("a"), tool("b"), tool("c")], answers)
    with loaded(write(tmp_path, stub.table(READ))) as tools:
        model = calls(("a", {}), ("b", {}), ("c", {}))
        output = run("invoke", compiled(model, tools), "?")
    said = [result_for(output["messages"], f"c{n}") for n in range(3)]
    assert said[0].text == "a failed: MCP server 'stub' refused the call: no such thing"
    assert "it sent a message that can't be read" in said[1].text
    assert [result.status for result in said] == ["error", "error", "success"]


def test_tools_that_a_server_has_changed_are_listed_anew_for_the_next_step(tmp_path: Path) -> None:
    stub = Stub(tmp_path).script([tool("a")], {"a": {"changed": True}})
    model = calls(("a", {}), ("b", {}))
    with loaded(write(tmp_path, stub.table(READ))) as tools:

        def change(*_: Any) -> Any:
            stub.script([tool("a"), tool("b")], {"a": {"changed": True}})
            return {"tool_calls": [{"id": "c0", "name": "a", "args": {}}]}

        model.replies[0] = change
        output = run("invoke", compiled(model, tools), "?")
    assert [request.tools for request in model.requests][:2] == [["a"], ["a", "b"]]
    assert result_for(output["messages"], "c1").text == "b: {}"
    assert len(stub.pids) == 1


def test_a_list_in_pages_and_words_that_are_no_messages_are_taken_as_they_come(
    tmp_path: Path,
) -> None:
    names = [f"t{n}" for n in range(7)]
    stub = Stub(tmp_path).script([tool(n) for n in names], page_size=3, banner="Welcome!\n{}\n[1]")
    with loaded(write(tmp_path, stub.table(READ))) as tools:
        assert named(tools) == names


def test_names_that_meet_are_kept_by_the_first_and_the_rest_are_left_out_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = '[read_only.calculator]\nuse = "tools.calculator:calculator"'
    one = Stub(tmp_path, "one").script([tool("calculator"), tool("x"), tool("x")])
    two = Stub(tmp_path, "two").script([tool("x"), tool("y")])
    three = Stub(tmp_path, "three").script([tool("x")])
    tables = [own, one.table(), two.table(), three.table('prefix = "three_"')]
    with loaded(write(tmp_path, *tables)) as tools:
        assert named(tools) == ["calculator", "x", "y", "three_x"]
        assert tools.by_name["x"].origin == "tool 'x' of MCP server 'one'"
        model = calls(("calculator", {"expression": "6*7"}), ("three_x", {}))
        output = run("invoke", compiled(model, tools), "?")
    assert result_for(output["messages"], "c0").text == "42"
    said = warnings(caplog)
    assert len(said) == 3
    assert "tool 'calculator' of MCP server 'one' is left out: a tool of the tools file" in said[0]
    assert "tool 'x' of MCP server 'two' is left out: tool 'x' of MCP server 'one'" in said[2]
    assert all("a prefix in the server's table tells them apart" in line for line in said)


def test_two_graphs_share_a_server_which_ends_with_the_last_of_them(tmp_path: Path) -> None:
    stub = Stub(tmp_path).script([tool("a")])
    file = write(tmp_path, stub.table(READ))
    db = tmp_path / "m.sqlite"
    with open_graph("tools_in_context", db=db, model=calls(), tools=load_tools(file)) as one:
        run("invoke", one, "?", thread="1")
        with open_graph("tool_calling", db=db, model=calls(), tools=load_tools(file)) as two:
            run("invoke", two, "?", thread="2")
        assert is_alive(stub.pids[0])
    assert ended(stub.pids[0], 1)
    assert len(stub.pids) == 1


def test_a_graph_that_nobody_holds_any_more_lets_go_of_its_servers(tmp_path: Path) -> None:
    stub = Stub(tmp_path).script([tool("a")])
    graph = compiled(calls(("a", {})), load_tools(write(tmp_path, stub.table(READ))))
    # A loop may hold on to a call's context until the call's time would have been up.
    run("invoke", graph, "?", context={"tool_timeout": 0.5})
    assert is_alive(stub.pids[0])
    del graph
    until(lambda: gc.collect() < 0 or not is_alive(stub.pids[0]))


def test_a_server_that_ends_neither_by_itself_nor_when_it_is_told_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PEACE_SECONDS", 0.2)
    stub = Stub(tmp_path).script([tool("a")], stubborn=True)
    with loaded(write(tmp_path, stub.table(READ))) as tools:
        assert named(tools) == ["a"]
    assert ended(stub.pids[0], 1)


def test_an_async_caller_s_loop_is_not_held_up_while_a_server_starts(tmp_path: Path) -> None:
    stub = Stub(tmp_path).script([tool("a")], slow_start=0.5)
    beats: list[float] = []

    async def beat() -> None:
        while True:
            beats.append(time.monotonic())
            await asyncio.sleep(0.01)

    async def main() -> Any:
        heart = asyncio.create_task(beat())
        answer = await graph.ainvoke({"messages": [{"role": "user", "content": "?"}]})
        heart.cancel()
        return answer

    with loaded(write(tmp_path, stub.table(READ))) as tools:
        model = calls(("a", {}))
        graph = compiled(model, tools)
        asyncio.run(main())
    assert list(bound(model)) == ["a"]
    assert len(beats) > 20
