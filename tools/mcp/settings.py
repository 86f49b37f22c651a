"""The `[mcp.NAME]` tables of a tools file: how a server is reached, and how its tools may be used.

    [mcp.github]
    command = "npx"                                  # or url = "https://..." and headers
    args = ["-y", "@modelcontextprotocol/server-github"]
    env = { GITHUB_PERSONAL_ACCESS_TOKEN = "${GITHUB_TOKEN}" }
    include = ["search_*", "get_*", "create_issue"]  # the rest is left out
    read_only = ["search_*", "get_*"]                # yours to say, whatever the server says

    [mcp.github.tools.create_issue]
    requires_confirmation = false

`${NAME}` is filled in from the environment, in every text of how the server is reached. A secret
that is written into the file is refused.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tools.errors import ToolsFileError
from tools.mcp.reaching import read_connection
from tools.redact import redact
from tools.tables import (
    COUNT,
    FLAG,
    NUMBER,
    TABLES,
    TEXT,
    TEXT_TABLE,
    TEXTS,
    Kind,
    check_keys,
    check_seconds,
)

INSTALL = 'pip install -e ".[mcp]"'
STARTUP_SECONDS = 10.0
"""How long a server may take until it has listed its tools, unless its table says otherwise."""

_KEYS: dict[str, Kind] = {
    "command": TEXT,
    "args": TEXTS,
    "env": TEXT_TABLE,
    "cwd": TEXT,
    "url": TEXT,
    "headers": TEXT_TABLE,
    "enabled": FLAG,
    "prefix": TEXT,
    "include": TEXTS,
    "exclude": TEXTS,
    "read_only": TEXTS,
    "timeout": NUMBER,
    "startup_timeout": NUMBER,
    "tools": TABLES,
}
_TOOL_KEYS: dict[str, Kind] = {
    "enabled": FLAG,
    "name": TEXT,
    "description": TEXT,
    "read_only": FLAG,
    "requires_confirmation": FLAG,
    "timeout": NUMBER,
    "cache_seconds": COUNT,
    "pin": TEXT,
}
_STDIO, _HTTP = ("args", "env", "cwd"), ("headers",)
_PIN = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """What a `[mcp.SERVER.tools.TOOL]` table says of one tool; None leaves it to the server's."""

    enabled: bool = True
    name: str | None = None
    description: str | None = None
    read_only: bool | None = None
    requires_confirmation: bool | None = None
    timeout: float | None = None
    cache_seconds: int | None = None
    pin: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """What a `[mcp.NAME]` table says.

    Attributes:
        name: The server, as the file names it.
        connection: How it is reached, as langchain-mcp-adapters takes it; variables filled in.
        secrets: The values that came from the environment, which are never shown.
        prefix: Put before the names of its tools.
        include: Patterns of the tools that are offered; None offers all.
        exclude: Patterns of those that are not.
        read_only: Patterns of those that change nothing.
        timeout: Seconds a call may take, instead of the run's `tool_timeout`.
        startup_timeout: Seconds until it has listed its tools.
        tools: What is said of single tools, by the server's own names for them.
    """

    name: str
    connection: Mapping[str, Any] = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    prefix: str = ""
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    timeout: float | None = None
    startup_timeout: float = STARTUP_SECONDS
    tools: Mapping[str, ToolSettings] = field(default_factory=dict)

    def of(self, tool: str) -> ToolSettings:
        """Return what is said of a tool of the server's."""
        return self.tools.get(tool) or ToolSettings()

    def offers(self, tool: str) -> bool:
        """Whether a tool of the server's is wanted."""
        wanted = self.include is None or _matches(tool, self.include)
        return wanted and not _matches(tool, self.exclude) and self.of(tool).enabled

    def reads_only(self, tool: str) -> bool:
        """Whether the file says that a tool of the server's changes nothing."""
        own = self.of(tool).read_only
        return _matches(tool, self.read_only) if own is None else own

    def clean(self, text: str) -> str:
        """Take the secrets of the connection, and whatever else looks like one, out of a text."""
        for secret in self.secrets:
            text = text.replace(secret, "[redacted]")
        return redact(text)


def read_server(file: Path, name: str, table: Mapping[str, Any]) -> ServerSettings | None:
    """Read one `[mcp.NAME]` table; None where the server is switched off.

    Raises:
        ToolsFileError: A key or a value is wrong, a variable is not set, a secret stands in the
            file, or the packages that MCP needs are not installed.
    """
    where = f"mcp.{name}"
    check_keys(file, where, table, _KEYS)
    if table.get("enabled") is False:
        return None
    if ("command" in table) == ("url" in table):
        raise ToolsFileError(file, 'needs either command = "..." or url = "..."', where)
    for key in _HTTP if "command" in table else _STDIO:
        if key in table:
            owner = "url" if key in _HTTP else "command"
            raise ToolsFileError(file, f"{key} goes with {owner}, which is not given", where)
    if importlib.util.find_spec("langchain_mcp_adapters") is None:
        raise ToolsFileError(file, f"MCP servers need more packages: {INSTALL}", where)
    for key in ("timeout", "startup_timeout"):
        check_seconds(file, where, key, table.get(key))
    connection, secrets = read_connection(file, where, table)
    include = table.get("include")
    return ServerSettings(
        name=name,
        connection=connection,
        secrets=secrets,
        prefix=table.get("prefix", ""),
        include=None if include is None else tuple(include),
        exclude=tuple(table.get("exclude", ())),
        read_only=tuple(table.get("read_only", ())),
        timeout=table.get("timeout"),
        startup_timeout=table.get("startup_timeout", STARTUP_SECONDS),
        tools={key: _tool(file, where, key, part) for key, part in table.get("tools", {}).items()},
    )


def _tool(file: Path, server: str, name: str, table: Mapping[str, Any]) -> ToolSettings:
    where = f"{server}.tools.{name}"
    check_keys(file, where, table, _TOOL_KEYS)
    check_seconds(file, where, "timeout", table.get("timeout"))
    pin = table.get("pin")
    if pin is not None and not _PIN.fullmatch(pin):
        raise ToolsFileError(file, "pin must be 64 hexadecimal digits, a SHA-256", where)
    if table.get("cache_seconds", 1) < 1:
        raise ToolsFileError(file, "cache_seconds is at least 1", where)
    return ToolSettings(**table)


def _matches(tool: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(tool, pattern) for pattern in patterns)
