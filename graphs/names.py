"""Names that a caller gives to nodes: steps of a workflow, rungs of a ladder."""

from typing import Any

_SEPARATORS = ("|", ":")
"""What LangGraph puts between the names of nested graphs."""


def is_node_name(name: Any) -> bool:
    """Tell whether LangGraph takes a name for a node; names in double underscores are its own."""
    return (
        isinstance(name, str)
        and bool(name.strip())
        and not name.startswith("__")
        and not any(mark in name for mark in _SEPARATORS)
    )
