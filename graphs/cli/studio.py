"""Serve the graphs to LangGraph Studio: LangGraph's own server, on a port that is free."""

import os
import signal
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import graphs
from graphs.cli.screen import Screen
from graphs.database_url import VARIABLE, is_url
from graphs.errors import UsageError

HOST = "127.0.0.1"
RUNS_AT_ONCE = 10
"""Runs that the server executes at a time, in threads of their own; left alone it takes one."""

QUIET = {
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "true",
    "LANGSMITH_TRACING": "false",
}
"""What keeps the server off the network, unless the user's environment says otherwise."""

STUDIO = "https://smith.langchain.com/studio/?baseUrl="


def serve_studio(port: int, db: str, screen: Screen) -> int:
    """Start the server and stay until it ends, or Ctrl-C stops it.

    Args:
        port: Where; 0 takes any free port.
        db: The memory, shared with the command line.
        screen: Where it is told what to click.

    Returns:
        The exit code: the server's own, and 0 where it was stopped.

    Raises:
        UsageError: The port is taken, the server is not installed, or this is no clone.
    """
    home = Path(graphs.__file__).parents[1]
    if not (home / "langgraph.json").is_file():
        raise UsageError(
            f"there is no langgraph.json in {home}: run it from a clone of the project"
        )
    if find_spec("langgraph_api") is None:
        raise UsageError("the server is not installed: `make studio` does it, and starts it")
    port = _free(port)
    base = f"http://{HOST}:{port}"
    screen.text(f"Studio:    {STUDIO}{quote(base, safe='')}")
    screen.text(f"this page: {base}/rungs/ (needs no network)")
    screen.text(f"API:       {base}/docs")
    screen.text(
        "Studio is a page of LangChain's: the browser needs the network for it, and Safari and "
        "Brave keep it from this machine; the other two do without. Ctrl-C stops the server.",
        "dim",
    )
    sys.stdout.flush()
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--host", HOST]
    env = {**QUIET, **os.environ, **_memory(db)}
    options = ["--n-jobs-per-worker", str(RUNS_AT_ONCE), "--port", str(port)]
    return _stay(subprocess.Popen([*command, *options], cwd=home, env=env))  # noqa: S603


def _memory(db: str) -> dict[str, str]:
    """Return what names the memory to the server: a database in the place of a file, or a file."""
    if is_url(db):
        return {VARIABLE: db}
    return {VARIABLE: "", "RUNGS_DB": str(Path(db).expanduser().absolute())}


def _stay(server: "subprocess.Popen[bytes]") -> int:
    """Wait for the server; a Ctrl-C, which it gets too, or a TERM ends it."""
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True
        server.terminate()

    before = {name: signal.signal(name, stop) for name in (signal.SIGINT, signal.SIGTERM)}
    try:
        code = server.wait()
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
    return 0 if stopped else code


def _free(port: int) -> int:
    """Return a port that is free: the server would take another one with a mere warning."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise UsageError(
                f"port {port} can't be used ({(error.strerror or str(error)).lower()}): name "
                "another with --port, or leave it out for any free one"
            ) from None
        return int(probe.getsockname()[1])
