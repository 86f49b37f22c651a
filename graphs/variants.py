"""The variants by name, each imported when it is first asked for."""

import importlib
from collections.abc import Iterator, Mapping
from types import ModuleType

NAMES = (
    "tools_in_context",
    "deferred_tool_search",
    "tool_search_toolkit",
    "tool_calling",
    "forced_output",
    "one_call",
    "fixed_workflow",
    "full_agent",
    "ladder",
    "react_transcript",
    "react_todo_notes",
    "react_compaction",
)


class _Graphs(Mapping[str, ModuleType]):
    """Maps the name of a variant to its module, which has `build` and `graph`."""

    def __getitem__(self, name: str) -> ModuleType:
        if name not in NAMES:
            raise KeyError(name)
        return importlib.import_module(f"graphs.{name}")

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def __contains__(self, name: object) -> bool:
        return name in NAMES


GRAPHS: Mapping[str, ModuleType] = _Graphs()
