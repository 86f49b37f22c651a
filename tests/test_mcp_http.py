"""MCP servers over streamable HTTP: kept, renewed, and what is said when one fails."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import calls, loaded, named, tool, write
from tests.support import ALL_MODES, Mode, compiled, result_for, run

TOOLS = [tool("a"), tool("b")]


class Server(ThreadingHTTPServer):
    """A scripted server: `fault` says what the next call meets."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.fault: Any = None
        self.sessions: set[str] = set()
        self.received: list[tuple[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def table(self) -> str:
        url = f"http://127.0.0.1:{self.server_port}/mcp"
        return f'[mcp.far]\nurl = "{url}"\nread_only = ["*"]\ntimeout = 2\n'

    def names(self, method: str) -> int:
        return sum(1 for name, _ in self.received if name == method)

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.headers.append(dict(self.headers))
        method = message["method"]
        self.server.received.append((method, message.get("params")))
        session = self.headers.get("mcp-session-id", "")
        if method != "initialize" and session not in self.server.sessions:
            return self._status(404)
        if "id" not in message:
            return self._status(202)
        if method == "tools/call" and self.server.fault is not None:
            fault, self.server.fault = self.server.fault, None
            if fault == "hang":
                time.sleep(3)
            return self._status(fault if isinstance(fault, int) else 503)
        return self._reply(message, method)

    def _reply(self, message: dict[str, Any], method: str) -> None:
        result: dict[str, Any] = {}
        session = ""
        if method == "initialize":
            session = f"s{len(self.server.sessions)}"
            self.server.sessions.add(session)
            result = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "far", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": TOOLS}
        elif method == "tools/call":
            result = {"content": [{"type": "text", "text": f"ran {message['params']['name']}"}]}
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if session:
            self.send_header("mcp-session-id", session)
        self.end_headers()
        self.wfile.write(body)

    def _status(self, code: int) -> None:
        self.send_response(code)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self._status(405)

    def do_DELETE(self) -> None:
        self._status(200)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.stop()


@pytest.mark.parametrize("mode", ALL_MODES)
def test_one_session_serves_all_calls_and_carries_the_headers(
    mode: Mode, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAR_TOKEN", "blue-horse-9")
    table = server.table + 'headers = { Authorization = "Bearer ${FAR_TOKEN}" }'
    with loaded(write(tmp_path, table)) as tools:
        output = run(mode, compiled(calls(("a", {"q": "1"}), ("b", {})), tools), "?")
    assert [result_for(output["messages"], c).text for c in ("c0", "c1")] == ["ran a", "ran b"]
    assert server.names("initialize") == server.names("tools/list") == 1
    posts = [{key.lower(): value for key, value in sent.items()} for sent in server.headers]
    assert {sent["authorization"] for sent in posts} == {"Bearer blue-horse-9"}


@pytest.mark.parametrize("mode", ALL_MODES)
def test_an_http_error_is_told_in_a_sentence_and_the_next_call_works(
    mode: Mode, server: Server, tmp_path: Path
) -> None:
    with loaded(write(tmp_path, server.table)) as tools:
        tools.prepare()
        server.fault = 500
        output = run(mode, compiled(calls(("a", {}), ("b", {})), tools), "?")
    failed = result_for(output["messages"], "c0")
    assert failed.status == "error"
    assert failed.text == (
        "a failed: MCP server 'far' was lost in the middle of the call: it answers with HTTP 500; "
        "whether the call took effect is unknown"
    )
    assert result_for(output["messages"], "c1").text == "ran b"
    assert [p["name"] for m, p in server.received if m == "tools/call"] == ["a", "b"]


def test_a_session_that_the_server_forgot_is_begun_anew_and_the_call_is_made(
    server: Server, tmp_path: Path
) -> None:
    with loaded(write(tmp_path, server.table)) as tools:
        tools.prepare()
        server.sessions.clear()
        output = run("ainvoke", compiled(calls(("a", {})), tools), "?")
    assert result_for(output["messages"], "c0").text == "ran a"
    assert server.names("initialize") == 2


def test_a_call_that_hangs_ends_at_its_timeout_and_the_next_call_works(
    server: Server, tmp_path: Path
) -> None:
    table = server.table.replace("timeout = 2", "timeout = 0.5")
    with loaded(write(tmp_path, table)) as tools:
        tools.prepare()
        server.fault = "hang"
        output = run("ainvoke", compiled(calls(("a", {}), ("b", {})), tools), "?")
    assert "no result within 0.5 s" in result_for(output["messages"], "c0").text
    assert result_for(output["messages"], "c1").text == "ran b"


def test_a_server_that_is_gone_is_told_and_used_again_when_it_is_back(tmp_path: Path) -> None:
    first = Server()
    port = first.server_port
    with loaded(write(tmp_path, first.table)) as tools:
        assert named(tools) == ["a", "b"]
        first.stop()
        output = run("invoke", compiled(calls(("a", {})), tools), "?")
        told = result_for(output["messages"], "c0")
        assert told.status == "error"
        assert told.text.startswith("a failed: MCP server 'far' ")
        second = Server(port)
        output = run("invoke", compiled(calls(("a", {})), tools), "?")
    assert result_for(output["messages"], "c0").text == "ran a"
    second.stop()


def test_an_address_at_which_nobody_answers_costs_its_tools_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gone = Server()
    gone.stop()
    own = '[read_only.calculator]\nuse = "tools.calculator:calculator"'
    with loaded(write(tmp_path, own, gone.table)) as tools:
        assert named(tools) == ["calculator"]
    (line,) = [r.getMessage() for r in caplog.records if r.name == "rungs.mcp"]
    assert line == (
        "MCP server 'far' can't be used: nobody answers at its address; its tools are left out"
    )
