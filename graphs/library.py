"""The library of tools of a variant that searches for them."""

import os
from collections.abc import Sequence
from typing import Any

from graphs.errors import UsageError
from tools import LIBRARY_FILE, Contract, ContractError, as_contracts, load_tools
from tools.catalog import Catalog
from tools.late_catalog import LateCatalog, catalog_of
from tools.search_tools import refuse_own_names


def as_catalog(tools: Sequence[Any] | None, catalog: Catalog | Sequence[Any] | None) -> Catalog:
    """Return what is searched: the catalog given, one of the tools given, or the one shipped.

    Args:
        tools: Tools, functions or JSON schemas with a callable; None takes the file that
            `RUNGS_TOOLS` names, or `library.toml`.
        catalog: A catalog, which may change while graphs use it, or what one is made of.

    Raises:
        ContractError: A tool can't be offered, or is called like one of the search's own.
        ToolsFileError: The tools file is wrong.
        UsageError: Both are given.
    """
    if catalog is not None and tools is not None:
        raise UsageError("give tools or a catalog, not both: the catalog holds the tools")
    if not isinstance(catalog, Catalog):
        given = tools if catalog is None else catalog
        own = os.environ.get("RUNGS_TOOLS") or LIBRARY_FILE
        catalog = catalog_of(load_tools(own) if given is None else as_contracts(given))
    if not isinstance(catalog, LateCatalog):
        refuse_own_names(catalog)
    return catalog


def always_loaded_of(names: Sequence[Any], catalog: Catalog) -> Sequence[Contract]:
    """Return the tools that need no search: by their names in the catalog, or tools themselves.

    Raises:
        ContractError: It is no list, the catalog has no tool of a name, or one can't be offered.
    """
    if isinstance(names, str):
        raise ContractError(names, "always_loaded is a list of names and tools, not one text")
    found: list[Any] = []
    for name in names:
        tool = _known(catalog, name) if isinstance(name, str) else name
        if tool is None:
            raise ContractError(name, "it is to be always loaded, but the catalog has none")
        found.append(tool)
    always = as_contracts(found)
    refuse_own_names({tool.name: tool for tool in always})
    return always


def _known(catalog: Catalog, name: str) -> Contract | None:
    """Return a tool by its name; building asks no server, so that only the file's own are known."""
    if isinstance(catalog, LateCatalog):
        return next((tool for tool in catalog.tools.known if tool.name == name), None)
    return catalog.get(name)
