"""What the search of tools costs: building, searching, adding and removing, memory."""

from __future__ import annotations

import gc
import statistics
import sys
import tracemalloc
from collections.abc import Callable

from benchmarks.measure import cpu_ms, table
from benchmarks.search_methods import Search, bm25s, bm25s_of_all, extra, ours
from benchmarks.search_sets import Set, Tool

SIZES = (1_000, 10_000, 100_000)
TURNS = {1_000: 15, 10_000: 7, 100_000: 3}
SEARCHES = 200
PASSES = 3
LIMIT = 5
MOST_FOR_A_MODEL = 1_000
"""Tools that the extra is measured with: it takes milliseconds a tool."""

Build = Callable[[list[Tool]], Search]


def many(sets: list[Set], count: int) -> list[Tool]:
    """Return tools of the sets, over again under other names where there are too few."""
    given = [tool for data in sets for tool in data.tools]
    made = []
    for number in range(count):
        tool, again = given[number % len(given)], number // len(given)
        name = f"{tool.name}_{again}" if again else tool.name
        made.append(Tool(f"{name}_{number % len(given)}", tool.description, tool.parameters))
    return made


def builds(tools: list[Tool], turns: int) -> list[list[str]]:
    """Build in turns, each until its first search is answered, with nothing kept from before."""
    ways: dict[str, Build] = {
        "default": ours,
        "bm25s, the same texts": bm25s_of_all,
        "bm25s, name and description": bm25s,
    }
    costs: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(turns):
        for name, build in ways.items():
            gc.collect()
            costs[name].append(cpu_ms(lambda b=build: b(tools)("find the weather", LIMIT)))  # type: ignore[misc]
    rows = []
    for name, spent in costs.items():
        ratios = [mine / theirs for mine, theirs in zip(costs["default"], spent, strict=True)]
        cells = (f"{min(spent):,.0f}", f"{statistics.median(spent):,.0f}")
        rows.append([f"{len(tools):,}", name, *cells, f"{statistics.median(ratios):.2f}"])
    return rows


def searches(tools: list[Tool], build: Build, queries: list[str]) -> list[str]:
    """Return the median of one search, the 95th percentile and the most, in milliseconds.

    Each query is asked of three new indexes and its least cost counts: the rest is what other
    programs on the machine did to it.
    """
    passes = []
    for _ in range(PASSES):
        search = build(tools)
        search("warm up", LIMIT)
        passes.append([cpu_ms(lambda q=query, s=search: s(q, LIMIT)) for query in queries])  # type: ignore[misc]
    each = sorted(min(costs) for costs in zip(*passes, strict=True))
    late = each[len(each) * 95 // 100]
    return [f"{cost:.2f}" for cost in (statistics.median(each), late, each[-1])]


def changes(tools: list[Tool]) -> list[str]:
    """Return what it costs to add one tool to the others, to search then, and to remove it."""
    from tools.ranking.ranking import Ranking

    ranking = Ranking()
    ranking.add(tools[1:])
    ranking.search("warm up")
    added, then, removed = [], [], []
    for _ in range(15):
        added.append(cpu_ms(lambda: ranking.add(tools[:1])))
        then.append(cpu_ms(lambda: ranking.search("send a message to a colleague")))
        removed.append(cpu_ms(lambda: ranking.remove(tools[0].name)))
        ranking.search("send a message to a colleague")
    return [f"{statistics.median(costs):.2f}" for costs in (added, then, removed)]


def memory(build: Build, tools: list[Tool]) -> str:
    """Return the megabytes that an index holds."""
    gc.collect()
    tracemalloc.start()
    kept = build(tools)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept("warm up", LIMIT)
    return f"{held / 1e6:,.0f}"


def speed(sets: list[Set]) -> None:
    queries = [query for data in sets for query, _ in data.queries]
    queries = queries[:: max(1, len(queries) // SEARCHES)]
    built, rows = [], []
    for count in SIZES:
        tools = many(sets, count)
        built += builds(tools, TURNS[count])
        ways: dict[str, Build] = {"default": ours, "bm25s": bm25s}
        if count <= MOST_FOR_A_MODEL:
            ways["extra"] = extra
        for name, build in ways.items():
            changed = changes(tools) if name == "default" else ["", "", ""]
            spent = [*searches(tools, build, queries), *changed, memory(build, tools)]
            rows.append([f"{count:,}", name, *spent])
            print(*rows[-1], file=sys.stderr)
    print(table(["tools", "build", "least ms", "median ms", "default / it"], built))
    print()
    headings = ["search ms", "95 % ms", "most ms", "add ms", "search then", "remove ms", "MB"]
    print(table(["tools", "method", *headings], rows))
