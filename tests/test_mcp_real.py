"""Real MCP servers: the SDK's own over stdio and HTTP, and one that people install."""

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_mcp_adapters.client import MultiServerMCPClient

from tests.cli import LONGEST, ROOT, finish, home, rungs, scripted, start
from tests.mcp_servers import Stub, calls, ended, loaded, named, tool, write
from tests.support import ALL_MODES, Mode, compiled, result_for, run

__all__ = ["home"]

pytestmark = [pytest.mark.mcp, pytest.mark.enable_socket]

SERVER = '''
"""A server of the SDK's own kind."""

import os
import sys

from mcp.server.fastmcp import FastMCP, Image
from pydantic import BaseModel

server = FastMCP("real", host="127.0.0.1", port=int(os.environ.get("PORT", "0")))


class Order(BaseModel):
    id: int
    notes: list["Order"] = []


@server.tool()
def place(order: Order, urgent: bool | None = None) -> dict[str, int]:
    """Place an order."""
    return {"placed": order.id + len(order.notes)}


@server.tool()
def draw() -> Image:
    """Draw."""
    return Image(data=bytes(90), format="png")


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("out of paper")


@server.tool()
def leave() -> str:
    """End the server."""
    os._exit(7)


server.run(transport=sys.argv[1])
'''
GOOD = {"order": {"id": 1, "notes": [{"id": 2}]}}
BAD = {"order": {"id": 1, "notes": [{"id": "x"}]}}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "server.py"
    path.write_text(textwrap.dedent(SERVER), encoding="utf-8")
    return path


def stdio(script: Path) -> str:
    arguments = json.dumps([str(script), "stdio"])
    return (
        f"[mcp.real]\ncommand = {json.dumps(sys.executable)}\nargs = {arguments}\n"
        'startup_timeout = 60\nread_only = ["*"]\n'
    )


@pytest.fixture
def http(script: Path) -> Iterator[str]:
    """Start the server on a free port and return its table."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    log = script.with_suffix(".log")
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, str(script), "streamable-http"],
            env={**os.environ, "PORT": str(port)},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f'[mcp.real]\nurl = "http://127.0.0.1:{port}/mcp"\nread_only = ["*"]\n'
    finally:
        process.terminate()
        process.wait(timeout=30)


def check(table: str, folder: Path, modes: tuple[Mode, ...]) -> None:
    """Call the server's tools, right and wrong, in each mode."""
    with loaded(write(folder, table)) as tools:
        assert named(tools) == ["place", "draw", "fail", "leave"]
        for mode in modes:
            model = calls(("place", GOOD), ("place", BAD), ("draw", {}), ("fail", {}))
            output = run(mode, compiled(model, tools), "?")
            said = [result_for(output["messages"], f"c{n}") for n in range(4)]
            assert json.loads(said[0].text) == {"placed": 2}
            assert "order.notes[0].id" in said[1].text
            assert said[2].text == "[image, image/png, 90 bytes, not shown]"
            assert (said[3].status, "out of paper" in said[3].text) == ("error", True)


def test_a_server_of_the_sdk_over_stdio_serves_every_mode_and_comes_back_after_it_died(
    script: Path, tmp_path: Path
) -> None:
    check(stdio(script), tmp_path, ALL_MODES)
    with loaded(write(tmp_path, stdio(script))) as tools:
        output = run("invoke", compiled(calls(("leave", {}), ("place", GOOD)), tools), "?")
    assert "exit code 7" in result_for(output["messages"], "c0").text
    assert json.loads(result_for(output["messages"], "c1").text) == {"placed": 2}


def test_a_server_of_the_sdk_over_http_serves_every_mode(http: str, tmp_path: Path) -> None:
    check(http, tmp_path, ALL_MODES)


def test_the_adapters_own_tools_can_be_given_to_a_graph(script: Path) -> None:
    connection: Any = {
        "transport": "stdio",
        "command": sys.executable,
        "args": [str(script), "stdio"],
    }

    async def ask() -> Any:
        tools = await MultiServerMCPClient({"real": connection}).get_tools()
        model = calls(("place", GOOD), ("place", BAD))
        graph = compiled(model, tools)
        return await graph.ainvoke({"messages": [{"role": "user", "content": "?"}]})

    output = asyncio.run(ask())
    assert json.loads(result_for(output["messages"], "c0").text) == {"placed": 2}
    assert "order.notes[0].id" in result_for(output["messages"], "c1").text


def test_the_server_of_the_readme_is_added_by_its_snippet_and_asked_on_the_command_line(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(
        r"^```toml\n(# my-tools\.toml.*?)^```$", readme, re.MULTILINE | re.DOTALL
    )
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    file = home / "my-tools.toml"
    file.write_text(snippet, encoding="utf-8")
    convert = {"source_timezone": "Europe/Berlin", "target_timezone": "Asia/Tokyo", "time": "12:00"}
    model = scripted(
        home,
        [
            {"tool_calls": [{"id": "c1", "name": "time_convert_time", "args": convert}]},
            {"text": "It is evening in Tokyo."},
        ],
    )
    said = rungs("ask", "When is it noon?", "--tools", str(file), "--model", model, "--thread", "t")
    assert said.code == 0, said.err
    assert "evening in Tokyo" in said.out
    assert said.err == ""
    told = rungs("audit", "t", "--json")
    assert "time_difference" in told.out


def exits(home: Path, stub: Stub, code: str) -> subprocess.Popen[bytes]:
    """Run a program that lists the stub's tools and then does something; return it when it has."""
    file = write(home, stub.table())
    program = f"from tools import load_tools\nlen(load_tools({str(file)!r}))\n{code}"
    return subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)


def reapers(owner: int) -> list[int]:
    """Return the processes that end the servers of an owner, should it be killed."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has just ended
            words = place.read_bytes().split(b"\0")[:-1]
            if words[-1:] == [str(owner).encode()] and words[-2].endswith(b"reaper.py"):
                found.append(int(place.parent.name))
    return found


@pytest.mark.parametrize("stubborn", [False, True])
def test_servers_end_with_the_process_however_it_ends(home: Path, *, stubborn: bool) -> None:
    ways = {"returns": "", "raises": "1 / 0", "exits": "import sys; sys.exit(3)"}
    for name, code in ways.items():
        stub = Stub(home, name).script([tool("a")], stubborn=stubborn)
        process = exits(home, stub, code)
        process.wait(timeout=LONGEST)
        assert ended(stub.pids[0], 5), name
        assert all(ended(pid, 5) for pid in reapers(process.pid)), name


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_server_ends_with_a_process_that_was_killed(home: Path, *, stubborn: bool) -> None:
    stub = Stub(home).script([tool("a")], stubborn=stubborn)
    process = exits(home, stub, "import time; time.sleep(60)")
    deadline = time.monotonic() + LONGEST
    while not stub.received("tools/list") and time.monotonic() < deadline:
        time.sleep(0.05)
    (reaper,) = reapers(process.pid)
    process.kill()
    process.wait()
    assert ended(stub.pids[0], 15)
    assert ended(reaper, 15)


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_ends_a_run_and_its_servers(home: Path, presses: int) -> None:
    stub = Stub(home).script([tool("slow")], {"slow": {"hang": 3}}, stubborn=True)
    file = write(home, stub.table('read_only = ["*"]'))
    model = scripted(home, [{"tool_calls": [{"id": "c1", "name": "slow", "args": {}}]}, "done"])
    db = str(home / "m.sqlite")
    process = start("ask", "q", "--tools", str(file), "--model", model, "--db", db)
    deadline = time.monotonic() + LONGEST
    while not stub.received() and time.monotonic() < deadline:
        time.sleep(0.05)
    for _ in range(presses):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    said = finish(process)
    assert said.code == 130, said.err
    assert ended(stub.pids[0], 5)
