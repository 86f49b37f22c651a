"""Measure alternatives in turns, in one process, so that noise meets all of them."""

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU milliseconds of one alternative.

    Attributes:
        best: The smallest of all turns, the least disturbed.
        median: The middle one.
    """

    best: float
    median: float


def in_turns(alternatives: Mapping[str, Callable[[], float]], turns: int) -> dict[str, Cost]:
    """Run each alternative once a turn and collect what it says it cost, in milliseconds."""
    costs: dict[str, list[float]] = {name: [] for name in alternatives}
    for turn in range(turns + 1):
        for name, run in alternatives.items():
            gc.collect()
            cost = run()
            if turn:  # the first turn warms caches up
                costs[name].append(cost)
    return {name: Cost(min(seen), statistics.median(seen)) for name, seen in costs.items()}


def cpu_ms(run: Callable[[], object]) -> float:
    """Return the CPU time of the whole process, all its threads, in milliseconds."""
    before = time.process_time()
    run()
    return (time.process_time() - before) * 1000


def table(headings: list[str], rows: list[list[str]]) -> str:
    """Lay rows out in columns."""
    lines = [headings, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )
