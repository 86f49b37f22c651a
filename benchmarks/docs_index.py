"""Time the document index on 10,000 files of 5 kB, each beside plain SQLite FTS5 in the same run.

Run it by hand: `python benchmarks/docs_index.py [FILES]`. The baseline of a build inserts the same
files whole in one transaction; that of a search is one `SELECT` of the same words on that table.
"""

import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tools.docs_index import DocsIndex, scan

FILE_BYTES = 5_000
VOCABULARY = 20_000
ROUNDS = 15


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def make_files(folder: Path, count: int, rng: random.Random) -> list[str]:
    """Write files whose words are as unevenly common as in real text; return the vocabulary."""
    words = [
        "".join(rng.choices("etaoinshrdlucmfw", k=rng.randint(3, 10))) for _ in range(VOCABULARY)
    ]
    weights = [1 / rank for rank in range(1, VOCABULARY + 1)]
    for number in range(count):
        text = rng.choices(words, weights, k=900)
        lines = [" ".join(text[at : at + 60]) + ".\n\n" for at in range(0, len(text), 60)]
        path = folder / f"part {number // 500}" / f"document {number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text((f"# Document {number} {text[0]}\n\n" + "".join(lines))[:FILE_BYTES])
    return words


def plain_build(folder: Path, database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE VIRTUAL TABLE doc USING fts5(text, tokenize = 'porter unicode61')")
    connection.execute("BEGIN")
    for path in folder.rglob("*.md"):
        connection.execute("INSERT INTO doc VALUES (?)", (path.read_text(),))
    connection.execute("COMMIT")
    return connection


def plain_search(connection: sqlite3.Connection, query: str) -> list[tuple[str]]:
    match = " OR ".join(f'"{word}"' for word in query.split())
    sql = "SELECT text FROM doc WHERE doc MATCH ? ORDER BY bm25(doc) LIMIT 5"
    return connection.execute(sql, (match,)).fetchall()


def row(name: str, ours: float, plain: float | None = None) -> None:
    beside = f"{plain * 1e3:12,.1f}{ours / plain:9.2f}" if plain else ""
    print(f"{name:<46}{ours * 1e3:12,.1f}{beside}")


def main(count: int) -> None:
    rng = random.Random(7)  # noqa: S311 - the same files each time
    with tempfile.TemporaryDirectory() as name:
        folder, work = Path(name, "docs"), Path(name)
        folder.mkdir()
        words = make_files(folder, count, rng)
        index = DocsIndex(folder, work / "index.sqlite")
        plain: list[sqlite3.Connection] = []
        baseline = timed(lambda: plain.append(plain_build(folder, work / "plain.sqlite")))
        calls: list[int] = []
        built = timed(lambda: index.refresh(lambda done, _: calls.append(done)))
        assert calls[-1] == count
        print(f"{count:,} files of {FILE_BYTES / 1_000:g} kB; milliseconds")
        print(f"{'':<46}{'ours':>12}{'plain FTS5':>12}{'ratio':>9}")
        row("build in one pass", built, baseline)
        again = [timed(index.refresh) for _ in range(ROUNDS)]
        bare = [timed(lambda: scan(folder, lambda *_: None)) for _ in range(ROUNDS)]
        row(
            "check that nothing changed (beside a bare walk)",
            *map(statistics.median, (again, bare)),
        )
        (folder / "part 0" / "document 0.md").write_text("# Changed\n\nNow it is about zithers.\n")
        row("take in one changed file", timed(index.refresh))
        with DocsIndex(folder, work / "index.sqlite") as second:
            row("first search of a new process", timed(lambda: second.search(words[3_000])))
        kinds = {"3 rare words": (2_000, 9_000, 3), "6 middling words": (100, 2_000, 6)}
        kinds |= {"3 words, 1 very common": (10, 3_000, 3), "a 40-word text": (0, 20_000, 40)}
        for kind, (low, high, size) in kinds.items():
            queries = [" ".join(rng.sample(words[low:high], size)) for _ in range(ROUNDS)]
            if "common" in kind:
                queries = [f"{query} {words[2]}" for query in queries]
            ours, theirs = [], []
            for query in queries:
                index._next_check = time.monotonic() + 60  # the check has a row of its own
                ours.append(timed(lambda q=query: index.search(q)))  # type: ignore[misc]
                theirs.append(timed(lambda q=query: plain_search(plain[0], q)))  # type: ignore[misc]
            row(f"search: {kind}", statistics.median(ours), statistics.median(theirs))
        print(f"index file: {(work / 'index.sqlite').stat().st_size / 1e6:.0f} MB")
        plain[0].close()
        index.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
