"""A graph's drawing as SVG, with the path that a run took in it.

The nodes stand in a column in the order they run. An edge to the next one goes straight down, one
further down leaves on the right, one back up or to the node itself on the left; edges to the same
node share a lane. Each edge's words stand where it leaves its node.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph

from graphs.compare.svg import figure, text, width_of
from graphs.notebook.picture import Picture
from graphs.web.paths import MOST_CHECKPOINTS, drawing_of, paths_of

Edge = Mapping[str, Any]

_WIDE, _LEAST, _PORT, _GAP, _LANE, _EDGE = 150.0, 30.0, 18.0, 38.0, 14.0, 12.0


def drawing(
    graph: CompiledStateGraph[Any, Any, Any, Any], thread: RunnableConfig | None = None
) -> Picture:
    """Draw a graph.

    Args:
        graph: A compiled graph.
        thread: The config of a thread, whose newest run's path is marked.
    """
    path: list[list[str]] = []
    if thread is not None and isinstance(graph.checkpointer, BaseCheckpointSaver):
        # Not those of its subgraphs, which stand in namespaces of their own.
        own: Any = {"thread_id": thread["configurable"]["thread_id"], "checkpoint_ns": ""}
        saved = graph.checkpointer.list({"configurable": own}, limit=MOST_CHECKPOINTS)
        paths = paths_of(saved)
        path = paths[-1] if paths else []
    drawn = drawing_of(graph.get_graph(), path)
    return Picture.of(_Layout(drawn["nodes"], drawn["edges"]).figure(f"The graph {graph.name}"))


class _Layout:
    """Where everything stands."""

    def __init__(self, nodes: Sequence[str], edges: Sequence[Edge]) -> None:
        self._nodes, self._edges = nodes, edges
        self._rows = {name: row for row, name in enumerate(nodes)}
        self._sides = {1: self._on_side(1), -1: self._on_side(-1)}
        self._ports = {
            (name, side): self._ports_of(name, side) for name in nodes for side in (1, -1)
        }
        self._high = {
            name: max(_LEAST, _PORT * max(len(self._ports[name, side]) for side in (1, -1)) + 6)
            for name in nodes
        }
        self._top = dict(zip(nodes, self._tops(), strict=True))
        self._left = self._reach(-1) + _EDGE

    def _tops(self) -> list[float]:
        tops = [_EDGE]
        for name in self._nodes[:-1]:
            tops.append(tops[-1] + self._high[name] + _GAP)
        return tops

    def _span(self, edge: Edge) -> int:
        return self._rows[edge["target"]] - self._rows[edge["source"]]

    def _on_side(self, side: int) -> list[Edge]:
        """Return the edges that leave on a side: 1 is right, -1 left."""
        if side > 0:
            return [edge for edge in self._edges if self._span(edge) > 1]
        return [edge for edge in self._edges if self._span(edge) < 1]

    def _ports_of(self, name: str, side: int) -> list[str]:
        """Return where edges meet a node, from above: the lane that comes in, and those that go."""
        going = [edge["target"] for edge in self._sides[side] if edge["source"] == name]
        coming = any(edge["target"] == name for edge in self._sides[side])
        going.sort(key=lambda target: self._rows[target], reverse=side > 0)
        return [
            *([""] if coming and side > 0 else []),
            *going,
            *([""] if coming and side < 0 else []),
        ]

    def _port(self, name: str, side: int, target: str) -> float:
        ports = self._ports[name, side]
        return self._top[name] + self._high[name] * (ports.index(target) + 0.5) / len(ports)

    def _lanes(self, side: int) -> list[str]:
        """Return the nodes that edges of a side lead to, the nearest lane first."""
        longest: dict[str, int] = {}
        for edge in self._sides[side]:
            span = abs(self._span(edge))
            longest[edge["target"]] = max(span, longest.get(edge["target"], 0))
        return sorted(longest, key=lambda target: longest[target])

    def _words(self, edge: Edge) -> str:
        times = f" \N{MULTIPLICATION SIGN}{edge['taken']}" if edge["taken"] > 1 else ""
        return ", ".join(edge["words"]) + times

    def _label(self, side: int) -> float:
        return 16 + max((width_of(self._words(edge)) for edge in self._sides[side]), default=0.0)

    def _reach(self, side: int) -> float:
        return self._label(side) + _LANE * len(self._lanes(side))

    def figure(self, label: str) -> str:
        """Return the drawing; what was taken lies on top."""
        wide = self._left + _WIDE + self._reach(1) + _EDGE
        high = self._top[self._nodes[-1]] + self._high[self._nodes[-1]] + _EDGE
        parts: list[str] = []
        for edge in sorted(self._edges, key=lambda edge: edge["taken"] > 0):
            parts += self._straight(edge) if self._span(edge) == 1 else self._around(edge)
        parts += [self._node(name) for name in self._nodes]
        return figure(wide, high, label, parts)

    def _straight(self, edge: Edge) -> list[str]:
        x = self._left + _WIDE / 2
        begin = self._top[edge["source"]] + self._high[edge["source"]]
        kind = " taken" if edge["taken"] else ""
        return [
            f'<path class="edge{kind}" d="M{x:.1f} {begin:.1f}v{_GAP - 6:.1f}"/>',
            f'<path class="head{kind}" d="M{x:.1f} {begin + _GAP:.1f}l-4 -7h8z"/>',
            text(x + 8, begin + _GAP / 2 + 3, self._words(edge), kind=f"words{kind}"),
        ]

    def _around(self, edge: Edge) -> list[str]:
        side = 1 if self._span(edge) > 1 else -1
        x = self._left + _WIDE if side > 0 else self._left
        lane = x + side * (self._label(side) + _LANE * self._lanes(side).index(edge["target"]))
        begin = self._port(edge["source"], side, edge["target"])
        end = self._port(edge["target"], side, "")
        kind = " taken" if edge["taken"] else ""
        way = f"M{x:.1f} {begin:.1f}H{lane:.1f}V{end:.1f}H{x + 6 * side:.1f}"
        anchor = "start" if side > 0 else "end"
        return [
            f'<path class="edge{kind}" d="{way}"/>',
            f'<path class="head{kind}" d="M{x:.1f} {end:.1f}l{7 * side} -4v8z"/>',
            text(x + 6 * side, begin - 3, self._words(edge), anchor=anchor, kind=f"words{kind}"),
        ]

    def _node(self, name: str) -> str:
        taken = any(
            edge["taken"] and name in (edge["source"], edge["target"]) for edge in self._edges
        )
        top, high = self._top[name], self._high[name]
        box = (
            f'<rect class="node{" taken" if taken else ""}" x="{self._left:.1f}" y="{top:.1f}" '
            f'width="{_WIDE:.0f}" height="{high:.1f}" rx="{14 if name.startswith("__") else 5}"/>'
        )
        middle = self._left + _WIDE / 2
        return box + text(middle, top + high / 2 + 4, name.strip("_"), anchor="middle")
