"""Ways to search tools, each built from tools and asked for names: ours and the usual ones."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.search_sets import Tool

Search = Callable[[str, int], Sequence[str]]


def ours(tools: list[Tool], embedder: Any = None) -> Search:
    from tools.ranking.ranking import Ranking

    ranking = Ranking(embedder)
    ranking.add(tools)
    return lambda query, limit: [name for name, _ in ranking.best(ranking.search(query), limit)[0]]


def extra(tools: list[Tool]) -> Search:
    from tools.ranking.minilm import minilm

    return ours(tools, minilm())


def bm25s(tools: list[Tool]) -> Search:
    """Index name and description with bm25s, its defaults, English stop words."""
    import bm25s as library

    texts = [f"{tool.name} {tool.description}" for tool in tools]
    index = library.BM25()
    index.index(library.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def search(query: str, limit: int) -> Sequence[str]:
        tokens = library.tokenize([query], stopwords="en", show_progress=False)
        limit = min(limit, len(tools))
        found, _ = index.retrieve(tokens, k=limit, show_progress=False)
        return [tools[int(place)].name for place in found[0]]

    return search


def fts5(tools: list[Tool]) -> Search:
    """Index name, description and parameters with SQLite's FTS5 as it is."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE tool USING fts5(name, description, parameters)")
    rows = [(t.name, t.description, " ".join(t.parameters.get("properties") or {})) for t in tools]
    connection.executemany("INSERT INTO tool VALUES (?, ?, ?)", rows)

    def search(query: str, limit: int) -> Sequence[str]:
        words = dict.fromkeys(re.findall(r"\w+", query.lower()))
        match = " OR ".join(f'"{word}"' for word in words)
        if not match:
            return []
        sql = "SELECT name FROM tool WHERE tool MATCH ? ORDER BY rank LIMIT ?"
        return [name for (name,) in connection.execute(sql, (match, limit))]

    return search


METHODS: dict[str, Callable[[list[Tool]], Search]] = {
    "default": ours,
    "extra": extra,
    "bm25s": bm25s,
    "fts5": fts5,
}
