"""Start LangGraph's server in tests: the graphs of langgraph.json, on a memory file of its own."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli import ROOT

DEV = ["-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--host", "127.0.0.1"]
QUIET = {
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "true",
    "LANGSMITH_TRACING": "false",
}


def free_port() -> int:
    """Return a port that nobody listens on: the server moves to another one without being asked."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def call(url: str, data: dict[str, Any] | None = None) -> Any:
    """Call the server, with a body or without."""
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@contextmanager
def served(home: Path, *options: str) -> Iterator[str]:
    """Serve from a copy of the configuration, the memory file in `home`; yields the address.

    The detector of calls that block the loop stays on: it must find none.
    """
    port = free_port()
    config = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
    config["dependencies"] = [str(ROOT)]
    (home / "langgraph.json").write_text(json.dumps(config), encoding="utf-8")
    log = home / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, *DEV, "--port", str(port), *options],
            cwd=home,
            env={
                **os.environ,
                **QUIET,
                "RUNGS_DB": str(home / "memory.sqlite"),
                "RUNGS_SHOP": str(home / "shop.sqlite"),
            },
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + 120
        while True:
            assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
            assert time.monotonic() < end, log.read_text(encoding="utf-8", errors="replace")
            try:
                call(f"{url}/ok")
                break
            except OSError:
                time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=60)
    assert "Blocking call" not in log.read_text(encoding="utf-8", errors="replace")


@pytest.fixture
def server(home: Path) -> Iterator[str]:
    """The server, its memory file in `home`."""
    with served(home) as url:
        yield url
