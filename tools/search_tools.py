"""The two tools of a tool search, as a model is shown them, and the shapes that they answer with.

`tool_search(query, limit?)` finds tools by what they do and tells their parameters, and
`tool_call(name, input)` runs one of them by its name (seed "ToolSearch"). What a model is shown of
the two is the same however many tools there are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from tools.contract import Contract, contract
from tools.errors import ContractError
from tools.wrapper import Failure, Wrapper

if TYPE_CHECKING:
    from tools.catalog import Catalog, Found, Match

TOOL_SEARCH: Final = "tool_search"
TOOL_CALL: Final = "tool_call"
OWN_NAMES: Final = (TOOL_SEARCH, TOOL_CALL)

MOST_FOUND: Final = 20
"""Tools that one search returns at most; a larger limit counts as this one (SPEC section 10)."""

NO_MATCH: Final = "no tool matches; try other words for what it should do, or broader ones"

_QUERY: Final = {
    "type": "string",
    "description": "What the tool should do, in a few keywords, such as: refund an order.",
}
_LIMIT: Final = {
    "type": ["integer", "null"],
    "minimum": 1,
    "default": None,
    "description": f"How many tools to return, at most {MOST_FOUND}; left out, a few.",
}
_SEARCHING: Final = (
    "Search for a tool by what it should do; use it before you assume that no tool exists."
)
_CALLING: Final = "Call a tool that tool_search found, by its name, with an input as it tells."


class Library(Mapping[str, Contract]):
    """The tools of a catalog by name, as they are at each look.

    Args:
        catalog: Returns the catalog, which may be made at the first look.
    """

    def __init__(self, catalog: Callable[[], Catalog]) -> None:
        self._catalog = catalog

    def __getitem__(self, name: str) -> Contract:
        found = self._catalog().get(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter([tool.name for tool in self._catalog()])

    def __len__(self) -> int:
        return len(self._catalog())


def loading_search() -> Contract:
    """Make the `tool_search(query)` whose results are loaded: they can be called directly."""
    described = f"{_SEARCHING} What it finds you can call from then on."
    return _search({"query": _QUERY}, described)


def toolkit_search() -> Contract:
    """Make the `tool_search(query, limit?)` of a toolkit; its failures are data."""
    described = f"{_SEARCHING} What it finds you run by {TOOL_CALL}."
    return _search({"query": _QUERY, "limit": _LIMIT}, described, shaped=True)


def toolkit_call(library: Mapping[str, Contract]) -> Contract:
    """Make the `tool_call(name, input)` of a toolkit: what decides about a call is its tool.

    Args:
        library: The tools that it runs, by name; read at each call.
    """

    def unknown(name: str) -> str:
        if name in OWN_NAMES:
            return f"{TOOL_CALL} runs what {TOOL_SEARCH} found; {name} is called by itself"
        return f"there is no tool {name[:64]!r}, or no longer: search again with {TOOL_SEARCH}"

    return contract(
        {
            "name": TOOL_CALL,
            "description": _CALLING,
            "parameters": {
                "type": "object",
                "properties": {
                    "name": {
                        "type": "string",
                        "description": f"The tool's name, as {TOOL_SEARCH} gives it.",
                    },
                    "input": {
                        "type": "object",
                        "description": "The tool's arguments, valid by its inputSchema.",
                    },
                },
                "required": ["name", "input"],
            },
            "function": _never,
        },
        wrapper=Wrapper(library, _unwrap, as_text, unknown),
    )


def _search(properties: dict[str, Any], description: str, *, shaped: bool = False) -> Contract:
    described = {
        "name": TOOL_SEARCH,
        "description": description,
        "parameters": {"type": "object", "properties": properties, "required": ["query"]},
        "function": _never,
    }
    made = contract(described, effect="read_only")
    return replace(made, failure=as_text) if shaped else made


def _never(**_: Any) -> None:
    """Stand in for a function: the graph's nodes, or the toolkit, answer these calls."""
    raise TypeError("this tool is answered by the graph that has it, and is not run")


def _unwrap(arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    return arguments["name"], arguments["input"]


def search(
    catalog: Catalog,
    query: str,
    limit: int | None,
    default: int,
    allowed: Callable[[Contract], bool] | None = None,
) -> Found:
    """Search, with the default where no limit is given, among the tools that may be found.

    Raises:
        SearchError: The query is empty, or the limit below 1.
    """
    most = min(default if limit is None else limit, MOST_FOUND)
    return catalog.search(query, most, allowed=allowed)


def as_found(found: Found, matches: Sequence[Match]) -> dict[str, Any]:
    """Return what a search tells: `tools`, each with its schema, `matched` and `available`.

    Args:
        found: How many match, and how many there are.
        matches: Those that are shown.
    """
    tools = [
        {
            "name": match.tool.name,
            "description": match.tool.description,
            "inputSchema": match.tool.parameters,
        }
        for match in matches
    ]
    told = {"tools": tools, "matched": found.matched, "available": found.available}
    return told if tools else {**told, "message": NO_MATCH}


def as_text(failure: Failure) -> str:
    """Write a failure as `{"code": ..., "message": ..., "retryable": ...}`."""
    return json.dumps(asdict(failure), ensure_ascii=False)


def refuse_own_names(names: Mapping[str, Any] | Catalog) -> None:
    """Refuse a library with a tool that is called like one of the two.

    Raises:
        ContractError: It has one.
    """
    for name in OWN_NAMES:
        if name in names:
            raise ContractError(name, "this name is the search's own; give the tool another")
