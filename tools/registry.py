"""Which tools exist, and how they may be used: tools.toml, or the list given to a graph."""

from __future__ import annotations

import importlib
import os
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tools.contract import Contract, Effect, contract
from tools.errors import ContractError, ToolsFileError
from tools.redaction_policy import RedactionPolicy, read_policy
from tools.tables import COUNT, FLAG, NUMBER, TEXT, Kind, check_keys, hint
from tools.text import nearest, one_line, shorten
from tools.tool_names import check_name
from tools.toolset import ToolSet
from tools.validation import names

if TYPE_CHECKING:
    from tools.mcp import ServerSettings

__all__ = [
    "DEFAULT_FILE",
    "LADDER_FILE",
    "LIBRARY_FILE",
    "SHOP_FILE",
    "ToolsFileError",
    "as_contracts",
    "load_tools",
    "tools_file",
    "unknown_tool",
]

DEFAULT_FILE = Path(__file__).with_name("tools.toml")
SHOP_FILE = Path(__file__).with_name("shop.toml")
"""A few tools of the demo shop, some of which change things for good."""

LIBRARY_FILE = Path(__file__).with_name("library.toml")
"""All tools of the demo shop, too many for one prompt: for the graphs that search for them."""

LADDER_FILE = Path(__file__).with_name("ladder.toml")
"""The tools of the ladder's rungs: two searches, a calculator, `finish`."""

EFFECTS = ("read_only", "state_changing")
_SECTIONS = (*EFFECTS, "mcp")
_KEYS: dict[str, Kind] = {
    "use": TEXT,
    "description": TEXT,
    "requires_confirmation": FLAG,
    "timeout": NUMBER,
    "cache_seconds": COUNT,
    "enabled": FLAG,
}
_ADD_ONE = 'add a table such as [read_only.calculator] with use = "tools.calculator:calculator"'


def tools_file(path: Path | str | None = None) -> Path:
    """Return the tools file in force: the one given, or `RUNGS_TOOLS`, or the one shipped."""
    return Path(path or os.environ.get("RUNGS_TOOLS") or DEFAULT_FILE).expanduser()


def load_tools(path: Path | str | None = None) -> Sequence[Contract]:
    """Read a tools file and make the contracts of the tools that are enabled, in its order.

    MCP servers are not contacted before somebody looks at the tools (`tools.toolset`).

    Args:
        path: The file; `None` takes the one that `RUNGS_TOOLS` names, or the one shipped.

    Raises:
        ToolsFileError: Anything is wrong with it, or no tool is left: one line with file, table and
            reason.
    """
    file = tools_file(path)
    contracts: dict[str, Contract] = {}
    servers: list[ServerSettings | None] = []
    sections, redaction = _sections(file)
    for section, tables in sections.items():
        for name, table in tables.items():
            where = f"{section}.{name}"
            if not isinstance(table, Mapping):
                raise ToolsFileError(file, f"{name!r} must be a table of its own", section)
            if section == "mcp":
                servers.append(_server(file, name, table))
                continue
            check_keys(file, where, table, _KEYS)
            if not table.get("use"):
                raise ToolsFileError(file, 'needs use = "module:name"', where)
            if name in contracts:
                raise ToolsFileError(file, f"a second tool named {name!r}", where)
            if table.get("enabled", True):
                contracts[name] = _contract(file, section, name, table)
    reached = [server for server in servers if server is not None]
    if not contracts and not reached:
        raise ToolsFileError(file, f"holds no tools: {_ADD_ONE}")
    made = [replace(contract, redaction=redaction) for contract in contracts.values()]
    if not reached:
        return made
    from tools.mcp import Servers

    return ToolSet(made, Servers(reached), redaction)


def as_contracts(
    tools: Iterable[Any], *, trusting: bool = True, spoken: bool = False
) -> Sequence[Contract]:
    """Make the contracts of the tools given to a graph, which may be contracts already.

    Args:
        tools: Functions, LangChain tools, mappings or contracts.
        trusting: Whether a tool of which nothing more is known runs without a person's yes. Else it
            needs one, as what is listed as state-changing in the tools file does by default.
        spoken: Whether calls are written as text: then names may be any that `contract` takes so.

    Raises:
        ContractError: One of them can't be offered, or two have one name; or it is no list.
    """
    if isinstance(tools, ToolSet):
        return tools
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Iterable):
        raise ContractError(
            shorten(one_line(str(tools)), 80),
            "tools must be a list of functions, tools or schemas",
        )
    contracts: dict[str, Contract] = {}
    for tool in tools:
        if isinstance(tool, Contract):
            check_name(tool.name, spoken=spoken)
            made = tool
        else:
            made = _of(tool, trusting=trusting, spoken=spoken)
        if made.name in contracts:
            raise ContractError(made.name, "another tool has the same name")
        contracts[made.name] = made
    return list(contracts.values())


def _of(tool: Any, *, trusting: bool, spoken: bool) -> Contract:
    return contract(tool, requires_confirmation=False if trusting else None, spoken=spoken)


def unknown_tool(name: str, contracts: Iterable[Contract]) -> str:
    """Say that a tool does not exist, and which ones do; nothing is run in its place."""
    known = [c.name for c in contracts]
    said = [f"Tool '{shorten(one_line(name), 80)}' does not exist."]
    if near := nearest(name, known):
        said.append(f"Did you mean '{near}'?")
    said.append(f"Available tools: {names(known)}." if known else "No tools are available.")
    return " ".join(said)


def _sections(file: Path) -> tuple[dict[str, dict[str, Any]], RedactionPolicy]:
    """Read the tables of the tools, by section, and what the file says of redaction."""
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as exc:
        raise ToolsFileError(file, f"can't be read: {exc.strerror or exc}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise ToolsFileError(file, f"is not TOML: {one_line(str(exc))}") from None
    redaction = read_policy(file, read.pop("redaction", None))
    for section, tables in read.items():
        if section not in _SECTIONS:
            known = (*_SECTIONS, "redaction")
            raise ToolsFileError(file, f"unknown table{hint(section, known)}", section)
        if not isinstance(tables, dict):
            raise ToolsFileError(file, "must hold one table for each tool", section)
    return read, redaction


def _server(file: Path, name: str, table: Mapping[str, Any]) -> ServerSettings | None:
    from tools.mcp import read_server

    return read_server(file, name, table)


def _contract(file: Path, section: str, name: str, table: Mapping[str, Any]) -> Contract:
    where = f"{section}.{name}"
    tool = _imported(file, where, table["use"])
    try:
        return contract(
            tool,
            name=name,
            effect=cast("Effect", section),
            description=table.get("description"),
            requires_confirmation=table.get("requires_confirmation"),
            timeout=table.get("timeout"),
            cache_seconds=table.get("cache_seconds"),
        )
    except ContractError as exc:
        raise ToolsFileError(file, str(exc), where) from exc


def _imported(file: Path, where: str, use: str) -> Any:
    """Import `module:name`; a module may lie beside a tools file of one's own."""
    module, colon, attribute = use.partition(":")
    if not (module and colon and attribute):
        raise ToolsFileError(file, f'use must be "module:name", not {use!r}', where)
    beside = str(file.resolve().parent)
    try:
        if _lies_in(Path(beside), module) and beside not in sys.path:
            sys.path.append(beside)  # last, so that it hides nothing
        found: Any = importlib.import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # a module that exits must not end us without a word
        reason = one_line(f"{type(exc).__name__}: {exc}").rstrip(": ")
        raise ToolsFileError(file, f"can't import {module!r}: {reason}", where) from exc
    for part in attribute.split("."):
        if not hasattr(found, part):
            near = hint(part, [known for known in dir(found) if not known.startswith("_")])
            raise ToolsFileError(file, f"{module!r} has no {attribute!r}{near}", where)
        found = getattr(found, part)
    return found


def _lies_in(folder: Path, module: str) -> bool:
    top = module.partition(".")[0]
    return (folder / f"{top}.py").is_file() or (folder / top).is_dir()
