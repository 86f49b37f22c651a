"""Measure the search of tools: what it finds, what it costs, which tokens it saves.

    python -m benchmarks.search [FOLDER]

FOLDER holds sets, one folder each: `tools.jsonl` (name, description, parameters) and
`queries.jsonl` (query, gold). Without it the set is the Berkeley Function Calling Leaderboard's.
A gold tool among the first k counts; recall@k is the mean over queries of found gold / gold.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path

from benchmarks.measure import table
from benchmarks.search_methods import METHODS, Search, ours
from benchmarks.search_sets import Set, Tool, folders, leaderboard
from benchmarks.search_speed import SEARCHES, speed

CUTS = (1, 3, 5)
CHARACTERS_A_TOKEN = 4
SHOWN = 3


def recalls(search: Search, data: Set) -> list[float]:
    sums = [0.0] * len(CUTS)
    for query, gold in data.queries:
        found = list(search(query, max(CUTS)))
        for place, cut in enumerate(CUTS):
            sums[place] += len(gold & set(found[:cut])) / len(gold)
    return [total / len(data.queries) for total in sums]


def quality(sets: list[Set], methods: list[str]) -> None:
    rows: list[list[str]] = []
    means: dict[str, list[list[float]]] = {name: [] for name in methods}
    for data in sets:
        for name in methods:
            got = recalls(METHODS[name](data.tools), data)
            means[name].append(got)
            rows.append([data.name, name, *(f"{value:.3f}" for value in got)])
            print(*rows[-1], file=sys.stderr)
    for name, every in means.items():
        mean = [statistics.mean(column) for column in zip(*every, strict=True)]
        rows.append(["mean", name, *(f"{value:.3f}" for value in mean)])
    print(table(["set", "method", *(f"recall@{cut}" for cut in CUTS)], rows))


def cost(tool: Tool) -> int:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    shown = json.dumps({"type": "function", "function": function}, ensure_ascii=False)
    return -(-len(shown) // CHARACTERS_A_TOKEN)


def savings(sets: list[Set]) -> None:
    """Compare a request with every schema to one with the search, three schemas and two turns."""
    tool_search = Tool(
        "tool_search",
        "Find tools by what they do; search before assuming that none exists.",
        {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    )
    rows = []
    for data in sets:
        each = {tool.name: cost(tool) for tool in data.tools}
        search = ours(data.tools)
        some = data.queries[:SEARCHES]
        # The found schemas are bound, and named in the result; the call repeats the query.
        spent = [
            cost(tool_search)
            + 2 * sum(each[name] for name in search(query, SHOWN))
            + len(query) // CHARACTERS_A_TOKEN
            for query, _ in some
        ]
        whole, used = sum(each.values()), statistics.mean(spent)
        saved = f"{100 * (1 - used / whole):.1f} %"
        rows.append([data.name, str(len(each)), f"{whole:,}", f"{used:,.0f}", saved])
    headings = ["set", "tools", "tokens, all tools", "tokens, search", "saved"]
    print(table(headings, rows))


def main() -> None:
    began = time.monotonic()
    folder = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("DATA", "")
    sets = folders(Path(folder).expanduser()) if folder else leaderboard()
    ours([Tool("warm_up", "Load what is loaded once.", {})])("load", 1)
    speed(sets)
    print()
    savings(sets)
    print()
    quality(sets, list(METHODS))
    print(
        f"\n{time.monotonic() - began:.0f} s; CPU times of this process, tokens as characters / 4"
    )


if __name__ == "__main__":
    main()
