"""A catalog of tools that are known only when somebody is asked for them, such as MCP servers'."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence

from tools.catalog import Catalog, Found
from tools.contract import Contract
from tools.search_tools import TOOL_CALL, TOOL_SEARCH
from tools.toolset import ToolSet


class LateCatalog(Catalog):
    """The tools of a set, as they are listed now.

    It keeps true that making it asks nobody; whoever looks before the tools are listed waits until
    they are, and what a server lists anew is found from then on. A server's tool that is called
    like one of a tool search's own is left out.

    Args:
        tools: The set.
    """

    def __init__(self, tools: ToolSet) -> None:
        super().__init__()
        self.tools = tools
        self._edition: int | None = None

    def search(
        self,
        query: str,
        limit: int = 3,
        *,
        reasons: bool = False,
        allowed: Callable[[Contract], bool] | None = None,
    ) -> Found:
        """Rank the tools that are listed, as `Catalog.search` does."""
        self._follow()
        return super().search(query, limit, reasons=reasons, allowed=allowed)

    def get(self, name: str) -> Contract | None:
        """Return the tool of that name, or None."""
        self._follow()
        return super().get(name)

    def __contains__(self, name: object) -> bool:
        self._follow()
        return super().__contains__(name)

    def __len__(self) -> int:
        self._follow()
        return super().__len__()

    def __iter__(self) -> Iterator[Contract]:
        self._follow()
        return super().__iter__()

    def _follow(self) -> None:
        """Take in what was listed since, and let go of what is listed no more."""
        listed = self.tools.by_name
        with self._lock:
            if self._edition == self.tools.edition:
                return
            for name in [
                name for name, tool in self._tools.items() if listed.get(name) is not tool
            ]:
                self.remove(name)
            for name, tool in listed.items():
                if name not in self._tools and name not in {TOOL_SEARCH, TOOL_CALL}:
                    self.add(tool)
            self._edition = self.tools.edition


def catalog_of(tools: Sequence[Contract]) -> Catalog:
    """Make the catalog of tools; nobody is asked for those that servers list."""
    return LateCatalog(tools) if isinstance(tools, ToolSet) else Catalog(tools)


def source_of(catalog: Catalog) -> Iterable[Contract]:
    """Return the tools of a catalog without asking anybody: the set, where it is late."""
    return catalog.tools if isinstance(catalog, LateCatalog) else catalog


async def listed(catalog: Catalog) -> None:
    """Have the tools of a catalog listed, away from an event loop."""
    if isinstance(catalog, LateCatalog) and not catalog.tools.is_ready:
        await asyncio.to_thread(catalog.tools.prepare)
