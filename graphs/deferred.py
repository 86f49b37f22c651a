"""Tools that a search has to load before the model sees them, or may call them."""

from collections.abc import Iterator, Mapping, Sequence

from graphs.context import Context
from graphs.reach import Reach
from tools import Code, Contract, ToolSet, unknown_tool
from tools.catalog import Catalog
from tools.late_catalog import LateCatalog
from tools.search_tools import TOOL_CALL, TOOL_SEARCH, Library


class _Together(Mapping[str, Contract]):
    """The tools that are always there, and behind them those of the catalog as it is now."""

    def __init__(self, fixed: Mapping[str, Contract], library: Library) -> None:
        self._fixed, self._library = fixed, library

    def __getitem__(self, name: str) -> Contract:
        return self._fixed[name] if name in self._fixed else self._library[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._fixed, *self._library]))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class DeferredReach(Reach):
    """The tools that are always there, and those of a catalog that searches of the run loaded.

    It keeps true that
    * a tool is shown and may be called only where it is loaded, whatever else knows its name;
    * what is loaded is said by its name alone: a tool that left the catalog is shown no more, and
      one that was exchanged is the new one.

    Args:
        always: The tools that need no search; `tool_search` among them.
        catalog: Where the others are; it may change at any time.
    """

    def __init__(self, always: Sequence[Contract], catalog: Catalog) -> None:
        super().__init__(always)
        self._fixed = self.tools.by_name
        self._all = _Together(self._fixed, Library(lambda: catalog))
        self.tools = _listed_first(catalog, self.tools)

    @property
    def _tools(self) -> Mapping[str, Contract]:
        return self._all

    @property
    def caches(self) -> bool:
        """Whether a tool may have its results kept: one of a catalog's may, at any time."""
        return True

    def names(self, loaded: Sequence[str]) -> list[str]:
        """Name the tools that are always there, then those that were loaded and still exist."""
        found = [name for name in loaded if name in self._tools]
        return list(dict.fromkeys([*self._fixed, *found]))

    def is_loaded(self, name: str, loaded: Sequence[str]) -> bool:
        """Tell whether a tool is always there, or a search loaded it."""
        return name in self._fixed or name in loaded

    def _out_of_reach(self, name: str, context: Context, loaded: Sequence[str]) -> tuple[str, Code]:
        if name in self._tools:
            how = f"load it by {TOOL_SEARCH}, with a query that says what it should do"
            return f"not executed: {name} is not loaded; {how}, and then call it", "not_loaded"
        if name in loaded:
            said = f"{name} is no longer available; search again with {TOOL_SEARCH}"
            return f"not executed: {said}", "unknown_tool"
        said = unknown_tool(name, [self._tools[shown] for shown in self.offered(context, loaded)])
        return f"{said} Others are found by {TOOL_SEARCH}.", "unknown_tool"


class PresentedReach(Reach):
    """The two tools of a toolkit, and what a direct call of one behind them is told.

    Args:
        shown: `tool_search` and `tool_call`.
        catalog: The tools that `tool_call` runs.
    """

    def __init__(self, shown: Sequence[Contract], catalog: Catalog) -> None:
        super().__init__(shown)
        self._fixed, self._library = self.tools.by_name, Library(lambda: catalog)
        self.tools = _listed_first(catalog, self.tools)

    @property
    def _tools(self) -> Mapping[str, Contract]:
        return self._fixed

    def names(self, loaded: Sequence[str]) -> list[str]:  # noqa: ARG002 - nothing is loaded here
        """Name the two."""
        return list(self._fixed)

    def _out_of_reach(self, name: str, context: Context, loaded: Sequence[str]) -> tuple[str, Code]:
        if name in self._library:
            said = f"{name} is called through {TOOL_CALL}, by its name and its input"
            return f"not executed: {said}; {TOOL_SEARCH} tells its inputSchema", "not_loaded"
        return super()._out_of_reach(name, context, loaded)


def _listed_first(catalog: Catalog, tools: ToolSet) -> ToolSet:
    """Return what must be listed before a node looks at the tools: a catalog's, where it is late.

    Its length is not asked for, not even by an `or`: that would list it.
    """
    return catalog.tools if isinstance(catalog, LateCatalog) else tools
