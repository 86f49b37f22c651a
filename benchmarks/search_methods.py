"""Ways to search tools, each built from tools and asked for names: ours and the usual ones."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.search_sets import Tool
from tools.ranking.words import STOP_WORDS

Search = Callable[[str, int], Sequence[str]]


def ours(tools: list[Tool], embedder: Any = None, mix: Any = None) -> Search:
    from tools.ranking.ranking import Ranking

    ranking = Ranking(embedder, mix)
    ranking.add(tools)
    return lambda query, limit: [name for name, _ in ranking.best(ranking.search(query), limit)[0]]


def extra(tools: list[Tool]) -> Search:
    from tools.ranking.minilm import minilm

    return ours(tools, minilm())


def words(tools: list[Tool]) -> Search:
    """Rank as the default does, without meaning."""
    from tools.ranking.parts import Mix

    return ours(tools, mix=Mix(meaning=0, alike=2))


def bm25s(tools: list[Tool]) -> Search:
    """Index name and description with bm25s: its stop words and a stemmer, as it recommends."""
    return _bm25s(tools, [f"{tool.name} {tool.description}" for tool in tools])


def bm25s_of_all(tools: list[Tool]) -> Search:
    """Index with bm25s what the default indexes; its build alone is measured."""
    from tools.ranking.fields import FIELDS, texts

    each = texts(tools)
    groups = (each[start : start + len(FIELDS)] for start in range(0, len(each), len(FIELDS)))
    return _bm25s(tools, [" ".join(group) for group in groups])


def _bm25s(tools: list[Tool], texts: list[str]) -> Search:
    import bm25s as library
    import Stemmer

    stemmer = Stemmer.Stemmer("english")

    def tokens(some: list[str]) -> Any:
        return library.tokenize(some, stopwords="en", stemmer=stemmer, show_progress=False)

    index = library.BM25()
    index.index(tokens(texts), show_progress=False)

    def search(query: str, limit: int) -> Sequence[str]:
        found, _ = index.retrieve(tokens([query]), k=min(limit, len(tools)), show_progress=False)
        return [tools[int(place)].name for place in found[0]]

    return search


def fts5(tools: list[Tool]) -> Search:
    """Index name, description and parameters with SQLite's FTS5 as it is."""
    return _fts5(tools, "unicode61", "rank", str, frozenset())


def fts5_porter(tools: list[Tool]) -> Search:
    """Index them stemmed and weighted, names split, and ask without stop words."""
    return _fts5(tools, "porter unicode61", "bm25(tool, 4, 2, 1)", _apart, STOP_WORDS)


def _apart(text: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", text)


def _fts5(
    tools: list[Tool],
    tokenize: str,
    rank: str,
    read: Callable[[str], str],
    stops: frozenset[str],
) -> Search:
    connection = sqlite3.connect(":memory:")
    columns = f"name, description, parameters, tokenize='{tokenize}'"
    connection.execute(f"CREATE VIRTUAL TABLE tool USING fts5({columns})")
    rows = [(t.name, t.description, " ".join(t.parameters.get("properties") or {})) for t in tools]
    texts = [(name, *map(read, (name, *others))) for name, *others in rows]
    connection.execute("CREATE TABLE named (name)")
    connection.executemany("INSERT INTO named VALUES (?)", [(name,) for name, *_ in texts])
    connection.executemany("INSERT INTO tool VALUES (?, ?, ?)", [each for _, *each in texts])
    found = "SELECT named.name FROM tool JOIN named ON named.rowid = tool.rowid"
    sql = f"{found} WHERE tool MATCH ? ORDER BY {rank} LIMIT ?"

    def search(query: str, limit: int) -> Sequence[str]:
        words = dict.fromkeys(re.findall(r"\w+", read(query).lower()))
        words = {word: None for word in words if word not in stops}
        match = " OR ".join(f'"{word}"' for word in words)
        if not match:
            return []
        return [name for (name,) in connection.execute(sql, (match, limit))]

    return search


METHODS: dict[str, Callable[[list[Tool]], Search]] = {
    "default": ours,
    "extra": extra,
    "words alone": words,
    "bm25s": bm25s,
    "fts5": fts5,
    "fts5, porter": fts5_porter,
}
