"""Agent patterns as LangGraph state machines.

from graphs import GRAPHS, open_graph

with open_graph("tools_in_context") as graph:
    graph.invoke({"messages": [{"role": "user", "content": "..."}]}, {"configurable": {"thread_id":
    "1"}})
"""

from typing import TYPE_CHECKING, Any

from graphs.errors import UsageError
from graphs.variants import GRAPHS

if TYPE_CHECKING:
    from graphs.open import open_graph

__all__ = ["GRAPHS", "UsageError", "open_graph"]


def __getattr__(name: str) -> Any:
    """Import `open_graph`, and SQLite with it, when it is first asked for."""
    if name == "open_graph":
        from graphs.open import open_graph

        return open_graph
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
