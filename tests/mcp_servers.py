"""MCP servers for the tests: scripted ones, and the tools files that name them."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphs.models import ScriptedModel
from tools import Contract, load_tools
from tools.toolset import ToolSet

STUB = Path(__file__).with_name("mcp_stub.py")
ANY = {"type": "object", "properties": {"q": {"type": "string"}}}


class Stub:
    """A scripted server: what it lists and answers, and what it was sent.

    Args:
        folder: Where its script and its log are.
        name: What the tools file calls it.
    """

    def __init__(self, folder: Path, name: str = "stub") -> None:
        self.name = name
        self._file = folder / f"{name}.json"
        self._log = folder / f"{name}.json.log"

    def script(self, tools: Sequence[Any], answers: Any = None, **more: Any) -> "Stub":
        """Say what it does; a server that runs already does it from its next request on."""
        told = {"tools": list(tools), "answers": answers or {}, **more}
        self._file.write_text(json.dumps(told), encoding="utf-8")
        return self

    def table(self, more: str = "", tools: str = "") -> str:
        """Return its table for a tools file."""
        arguments = json.dumps(["-I", "-S", str(STUB), str(self._file)])
        return (
            f"[mcp.{self.name}]\ncommand = {json.dumps(sys.executable)}\nargs = {arguments}\n"
            f"{more}\n{tools}\n"
        )

    def received(self, method: str = "tools/call") -> list[Any]:
        """Return what it was sent with a method: the parameters, or the message without any.

        Where progress is told to is left out.
        """
        if not self._log.exists():
            return []
        lines = self._log.read_text(encoding="utf-8").splitlines()
        messages = [json.loads(line) for line in lines]
        sent = [m.get("params", m) for m in messages if m.get("method") == method]
        return [{key: value for key, value in one.items() if key != "_meta"} for one in sent]

    @property
    def pids(self) -> list[int]:
        """The processes that were started, in order."""
        return [int(started["pid"]) for started in self.received("started")]


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def tool(name: str, schema: Any = None, description: str = "", **more: Any) -> dict[str, Any]:
    """Return a tool as a server lists it."""
    return {
        "name": name,
        "description": description or f"Use {name} for tests.",
        "inputSchema": ANY if schema is None else schema,
        **more,
    }


def write(folder: Path, *tables: str) -> Path:
    """Write a tools file."""
    file = folder / "tools.toml"
    file.write_text("\n".join(tables), encoding="utf-8")
    return file


def ended(pid: int, seconds: float = 10) -> bool:
    """Wait for a process to end."""
    deadline = time.monotonic() + seconds
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


@contextmanager
def loaded(file: Path) -> Iterator[ToolSet]:
    """Lend the tools of a file, and let go of its servers."""
    tools = load_tools(file)
    assert isinstance(tools, ToolSet)
    try:
        yield tools
    finally:
        tools.close()


def calls(*made: tuple[str, dict[str, Any]]) -> ScriptedModel:
    """Script a model that makes these calls, c0, c1 ..., one a reply, and then answers."""
    replies = [
        {"tool_calls": [{"id": f"c{n}", "name": name, "args": args}]}
        for n, (name, args) in enumerate(made)
    ]
    return ScriptedModel(replies=[*replies, "done"])


def bound(model: ScriptedModel) -> dict[str, dict[str, Any]]:
    """Return the functions that a model was sent with its first request, by name."""
    functions = [schema["function"] for schema in model.requests[0].tool_schemas]
    return {function["name"]: function for function in functions}


def named(tools: Sequence[Contract]) -> list[str]:
    """Return the names of tools."""
    return [made.name for made in tools]
