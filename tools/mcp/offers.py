"""A server's tool as a contract, or why it can't be offered."""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from tools.contract import Contract, Effect, contract
from tools.errors import ContractError
from tools.mcp.naming import exposed
from tools.mcp.settings import ServerSettings
from tools.mcp.wording import marked, name_of, pin_of, plainly
from tools.schema import check_size
from tools.sources import Source
from tools.text import nearest

Call = Callable[..., Awaitable[Any]]
"""Calls a tool: takes a server, its own name for the tool, `arguments`, and `progress`, to which is
told what the server tells of its progress."""


def offers(
    server: ServerSettings, listed: Sequence[Any], call: Call
) -> tuple[list[Contract], list[str]]:
    """Make contracts of what a server lists, as far as the tools file wants it.

    Args:
        server: What the tools file says of it.
        listed: Its tools, as they came.
        call: What their calls end in.

    Returns:
        The contracts, in the server's order, and a sentence for each tool that is left out.
    """
    made: list[Contract] = []
    warnings: list[str] = []
    names: list[str] = []
    for tool in listed:
        name = tool.get("name") if isinstance(tool, Mapping) else None
        if not isinstance(name, str) or not name.strip():
            warnings.append(f"MCP server '{server.name}' lists a tool without a name: left out")
            continue
        names.append(name)
        if not server.offers(name):
            continue
        try:
            made.append(_offer(server, name, tool, call))
        except ContractError as error:
            warnings.append(f"MCP server '{server.name}': {error}")
            continue
        hints = _hints(tool)
        if made[-1].effect == "read_only" and hints.get("readOnlyHint") is False:
            said = "is listed as read_only, but the server says that it changes something"
            warnings.append(f"MCP server '{server.name}': tool '{name_of(name)}' {said}")
    return made, [*warnings, *_strangers(server, names)]


def _offer(server: ServerSettings, name: str, tool: Mapping[str, Any], call: Call) -> Contract:
    said, own = name_of(name), server.of(name)
    if own.pin is not None and own.pin != pin_of(tool):
        raise ContractError(
            said,
            "its description or its schema is not the one that was pinned; look at it again, and "
            f"then set pin = '{pin_of(tool)}'",
        )
    schema = tool.get("inputSchema")
    if isinstance(schema, Mapping):
        check_size(said, schema)
    shown = own.name or exposed(server.prefix + name)
    effect: Effect = "read_only" if server.reads_only(name) else "state_changing"
    source = Source(
        name=shown,
        description=own.description or marked(server.name, _described(tool, said)),
        parameters=plainly(schema),
        asynchronous=functools.partial(call, server, name),
        pack=lambda values, scope: {"arguments": values, "progress": scope.progress},
        code=(functools.partial(_remote, *_identity(server), name),),
        origin=_origin(server, said, tool),
    )
    return contract(
        source,
        effect=effect,
        requires_confirmation=own.requires_confirmation,
        timeout=own.timeout or server.timeout,
        cache_seconds=own.cache_seconds,
    )


def _described(tool: Mapping[str, Any], name: str) -> str:
    for said in (tool.get("description"), tool.get("title"), _hints(tool).get("title")):
        if isinstance(said, str) and said.strip():
            return said
    return f"{name}, of which nothing more is said"


def _origin(server: ServerSettings, name: str, tool: Mapping[str, Any]) -> str:
    """Say whose tool it is, and what its server says of it: a hint, and never a permission."""
    hint = _hints(tool).get("readOnlyHint")
    says = {True: "only reads", False: "changes something"}
    told = f", which says that it {says[hint]}" if isinstance(hint, bool) else ""
    return f"tool '{name}' of MCP server '{server.name}'{told}"


def _hints(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    hints = tool.get("annotations")
    return hints if isinstance(hints, Mapping) else {}


def _identity(server: ServerSettings) -> tuple[str, str]:
    """Name a server for the fingerprint of its tools; its secrets are no part of it."""
    public = {k: v for k, v in server.connection.items() if k not in {"env", "headers"}}
    return server.name, server.clean(json.dumps(public, sort_keys=True, default=str))


def _remote(_server: str, _connection: str, _tool: str) -> None:
    """Stand for a tool's code, which is elsewhere, in its fingerprint."""


def _strangers(server: ServerSettings, names: Sequence[str]) -> list[str]:
    """Name what the file says of tools that the server has not."""
    lists = {"include": server.include or (), "read_only": server.read_only, "tools": server.tools}
    told = []
    for key, words in lists.items():
        for word in words:
            if word not in names and not any(sign in word for sign in "*?["):
                near = nearest(word, names)
                guess = f"; did you mean '{near}'?" if near else ""
                said = f"has no tool '{name_of(word)}', which {key} names{guess}"
                told.append(f"MCP server '{server.name}' {said}")
    return told
