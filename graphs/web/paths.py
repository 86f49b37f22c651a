"""Which way a thread's runs took through their graph, read from the checkpoints."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.graph import END, START

MOST_CHECKPOINTS = 1000
"""Checkpoints that are read of a thread, the newest: some 300 rounds."""

_BRANCH = "branch:to:"


def paths_of(checkpoints: Iterable[CheckpointTuple]) -> list[list[list[str]]]:
    """Return the path of each run, oldest first: the nodes of one step after those of another.

    A checkpoint holds a trigger for each node that runs next, so nothing of the transcript is read.

    Args:
        checkpoints: A thread's, newest first, as a saver lists them.
    """
    paths: list[list[list[str]]] = []
    for saved in reversed(list(checkpoints)):
        if saved.metadata.get("source") == "input":
            paths.append([[START]])
            continue
        if not paths:
            paths.append([[START]])
        coming = sorted(
            name.removeprefix(_BRANCH)
            for name in saved.checkpoint["channel_values"]
            if name.startswith(_BRANCH)
        )
        paths[-1].append(coming or [END])
    return paths


def drawing_of(drawable: Any, path: list[list[str]]) -> dict[str, Any]:
    """Return a graph's drawing with the path of a run in it.

    Args:
        drawable: `graph.get_graph()`.
        path: Its nodes, a list a step.

    Returns:
        `nodes`, in the order they were added, and `edges`: `source`, `target`, `words` (of the
        conditions that lead there) and `taken`, how often the run went there.
    """
    taken = Counter(
        (source, target)
        for before, after in pairwise(path)
        for source in before
        for target in after
    )
    words: dict[tuple[str, str], list[str]] = {}
    for edge in drawable.edges:
        said = words.setdefault((edge.source, edge.target), [])
        if edge.data:
            said.append(str(edge.data))
    edges = [
        {"source": source, "target": target, "words": said, "taken": taken[source, target]}
        for (source, target), said in words.items()
    ]
    return {"nodes": list(drawable.nodes), "edges": edges}
