"""Sets of tools and queries: folders in one form, or the function-calling leaderboard's package."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BFCL_FILES = ("simple_python", "multiple", "parallel", "parallel_multiple", "live_simple")


@dataclass(frozen=True)
class Tool:
    """A tool to rank; its name may be one that no provider takes."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Set:
    """Tools, and queries with the names that should be found."""

    name: str
    tools: list[Tool]
    queries: list[tuple[str, frozenset[str]]]


def lines(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def folders(data: Path) -> list[Set]:
    """Read each folder with `tools.jsonl` and `queries.jsonl`; the first tool of a name counts."""
    sets = []
    for path in sorted(data.glob("*/tools.jsonl")):
        tools: dict[str, Tool] = {}
        for line in lines(path):
            tool = Tool(line["name"], line.get("description") or "", line.get("parameters") or {})
            tools.setdefault(tool.name, tool)
        asked = lines(path.with_name("queries.jsonl"))
        queries = [(line["query"], frozenset(line["gold"])) for line in asked]
        sets.append(Set(path.parent.name, list(tools.values()), queries))
    if not sets:
        raise SystemExit(f"{data} has no folder with tools.jsonl and queries.jsonl in it")
    return sets


def leaderboard() -> list[Set]:
    """Read the package bfcl-eval: every function of its categories of single turns."""
    import bfcl_eval

    data = Path(bfcl_eval.__file__).parent / "data"
    tools: dict[str, Tool] = {}
    queries = []
    for name in BFCL_FILES:
        asked = next(data.glob(f"BFCL_v*_{name}.json"))
        answers = {
            line["id"]: line["ground_truth"]
            for line in lines(data / "possible_answer" / asked.name)
        }
        for line in lines(asked):
            for given in line["function"]:
                schema = given.get("parameters") or {}
                tools.setdefault(given["name"], Tool(given["name"], given["description"], schema))
            gold = frozenset(name for call in answers[line["id"]] for name in call)
            queries.append((line["question"][0][-1]["content"], gold))
    return [Set("bfcl", list(tools.values()), queries)]
