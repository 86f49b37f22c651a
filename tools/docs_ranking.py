"""Rank the passages of a documents index, and pick those worth showing."""

import dataclasses
import os
import sqlite3
from collections import Counter
from typing import Final

from tools.docs_folder import shown

_ALL_WORDS_BONUS: Final = 1.1
_LEAST_SHARE: Final = 0.3
_PER_DOCUMENT: Final = 2
_COMMON_SHARE: Final = 0.1
_COMMON_FROM: Final = 1_000


@dataclasses.dataclass(frozen=True, slots=True)
class Hit:
    """One passage: the document's title, its file (relative to the folder), its text, its score."""

    title: str
    file: str
    text: str
    score: float


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """The best passages, how many hold a word of the query, and how many documents there are."""

    hits: tuple[Hit, ...]
    matched: int
    available: int


def find(
    connection: sqlite3.Connection, terms: list[str], limit: int, available: int, passages: int
) -> Found:
    """Return the best passages for the terms of a query, ranked as `DocsIndex.search` says.

    Args:
        connection: to the index.
        terms: of the query, each ready for MATCH.
        limit: passages to return.
        available: documents in the index.
        passages: passages in the index.
    """
    telling = _telling(connection, terms, passages)
    if not telling:
        return Found((), 0, available)
    some = " OR ".join(telling)
    scores = _best(connection, some, limit * 4)
    if len(telling) > 1:
        for row, score in _best(connection, " AND ".join(telling), limit * 4).items():
            scores[row] = score * _ALL_WORDS_BONUS
    least = max(scores.values()) * _LEAST_SHARE
    rows = sorted((-score, row) for row, score in scores.items() if score >= least)
    hits = [_hit(connection, row, -score) for score, row in rows]
    return Found(_spread(hits, limit), _count(connection, some), available)


def _telling(connection: sqlite3.Connection, terms: list[str], passages: int) -> list[str]:
    """Return the terms that the index has, less the common ones; the two rarest at least."""
    most = int(max(_COMMON_FROM, passages * _COMMON_SHARE))
    counts = {term: _count(connection, term, most + 1) for term in terms}
    known = [term for term in terms if counts[term]]
    rare = [term for term in known if counts[term] <= most]
    return rare or sorted(known, key=lambda term: _count(connection, term))[:2]


def _count(connection: sqlite3.Connection, match: str, most: int = -1) -> int:
    sql = "SELECT count(*) FROM (SELECT 1 FROM passage WHERE passage MATCH ? LIMIT ?)"
    return int(connection.execute(sql, (match, most)).fetchone()[0])


def _best(connection: sqlite3.Connection, match: str, limit: int) -> dict[int, float]:
    sql = """SELECT rowid, -bm25(passage, 6, 1, 1) AS score
             FROM passage WHERE passage MATCH ? ORDER BY score DESC LIMIT ?"""
    return dict(connection.execute(sql, (match, limit)).fetchall())


def _hit(connection: sqlite3.Connection, row: int, score: float) -> Hit:
    sql = """SELECT passage.title, file.path, passage.text
             FROM passage JOIN file ON file.id = passage.file WHERE passage.rowid = ?"""
    title, path, text = connection.execute(sql, (row,)).fetchone()
    return Hit(title, shown(os.fsdecode(path)), text, score)


def _spread(hits: list[Hit], limit: int) -> tuple[Hit, ...]:
    """Take the best, but more than two of one document only after the others."""
    taken: Counter[str] = Counter()
    first, later = list[Hit](), list[Hit]()
    for hit in hits:
        taken[hit.file] += 1
        (first if taken[hit.file] <= _PER_DOCUMENT else later).append(hit)
    return tuple([*first, *later][:limit])
