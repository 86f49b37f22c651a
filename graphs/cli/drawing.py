"""Draw a variant's graph."""

from typing import Any

from graphs.cli.screen import Screen
from graphs.errors import UsageError
from graphs.variants import GRAPHS


def show_drawing(name: str, screen: Screen, *, as_letters: bool) -> None:
    """Print the drawing of a variant.

    Raises:
        UsageError: There is no such variant.
    """
    if name not in GRAPHS:
        raise UsageError(f"there is no graph {name!r}: name one of {', '.join(GRAPHS)}")
    drawable = GRAPHS[name].graph.get_graph()
    screen.text(letters(drawable) if as_letters else drawable.draw_mermaid().rstrip())


def letters(drawable: Any) -> str:
    """Draw a graph with letters: each node, and below it where it leads and on which word.

    LangGraph's own `draw_ascii` fails on a node that leads to itself.
    """
    lines = []
    for node in drawable.nodes:
        edges = [edge for edge in drawable.edges if edge.source == node]
        if edges:
            lines.append(node.strip("_"))
        for edge in edges:
            word = f"-- {edge.data} " if edge.data else ""
            lines.append(f"  {word}--> {edge.target.strip('_')}")
    return "\n".join(lines)
