"""Keep a full-text index of a folder of Markdown and text files up to date, and search it."""

import dataclasses
import logging
import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from tools.docs_file import IndexFile, default_database, error_code
from tools.docs_folder import (
    DocsFolderError,
    DocsIndexError,
    Stamp,
    named,
    resolve_folder,
    scan,
    shown,
)
from tools.docs_query import extra_words, query_terms
from tools.docs_text import PASSAGE_CHARS, Document, SkippedError, read_document

__all__ = [
    "PASSAGE_CHARS",
    "DocsFolderError",
    "DocsIndex",
    "DocsIndexError",
    "Document",
    "Found",
    "Hit",
    "Progress",
    "Stamp",
    "build",
    "default_database",
    "query_terms",
    "read_document",
    "scan",
    "shared_index",
]

log = logging.getLogger("rungs.docs")

Progress = Callable[[int, int], None]
"""Called with (files done, files to do) as an index is brought up to date."""


_RACY_NS: Final = 20_000_000  # a file this young may change again within one tick of its mtime
_PAUSE_FACTOR: Final = 10
_MAX_PAUSE: Final = 60.0
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


class DocsIndex:
    """Search a folder of documents; every search sees the files as they are.

    * A search first compares the folder with the index, and reads again only what changed. So that
      this takes at most a tenth of the time, a comparison that took t seconds is not repeated for
      10 t, a minute at most: that is how old an answer may be (0.4 s for 10,000 files).
    * A change of the index is one transaction under SQLite's write lock: a killed process leaves
      the old index, and of two processes the second finds the work done.
    * The file is a cache: damaged or of another version, it is made anew. A file that is no index
      of ours is never written to. Without a writable cache directory the index is in memory.
    * One object serves any number of threads.

    Args:
        folder: holds the documents (.md, .markdown, .txt, .rst), in subfolders too.
        database: the index file; None is one in the user's cache directory.

    Raises:
        DocsFolderError: the folder is missing, a file, unreadable or has no documents.
        DocsIndexError: the file given as `database` can't be used.
    """

    _known: dict[str, Stamp]

    def __init__(
        self, folder: str | os.PathLike[str], database: str | os.PathLike[str] | None = None
    ) -> None:
        self.folder = resolve_folder(folder)
        self._lock = threading.RLock()
        self._warned: set[tuple[str, str]] = set()
        self._scan()
        path = Path(database) if database else default_database(self.folder)
        self._file = IndexFile(path, given=bool(database), on_open=self._forget)

    @property
    def database(self) -> Path | None:
        """The index file; None where the index is in memory."""
        return self._file.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index file; the object can't be used any more."""
        with self._lock:
            self._file.close()

    def refresh(self, on_progress: Progress | None = None) -> None:
        """Bring the index up to date with the folder, now.

        Raises:
            DocsFolderError: the folder can't be searched (any more).
            DocsIndexError: the index file can't be used.
        """
        with self._lock:
            self._file.recovering(lambda: self._update(on_progress))

    def search(self, query: str, limit: int = 5) -> Found:
        """Return the `limit` (1 to 20) best passages for `query`, a few words or a question.

        Ranked by BM25 over the words they hold, a word of the title counting six times; a passage
        with all the words gets a tenth more. One that scores less than 0.3 of the best is left
        out, and a document gives a third passage only where no other has one. A word that is in
        more than a tenth of a large folder's passages is left out beside rarer ones: it says next
        to nothing, and takes most of the time.

        Raises:
            ValueError: the query has no words, or `limit` is out of range.
            DocsFolderError: the folder can't be searched (any more).
            DocsIndexError: the index file can't be used.
        """
        if not 1 <= limit <= 20:  # noqa: PLR2004
            raise ValueError(f"limit must be from 1 to 20, got {limit}")
        terms = query_terms(query)
        if not terms:
            raise ValueError("the query has no words: give a few words to look for")

        def work() -> Found:
            if time.monotonic() >= self._next_check:
                self._update(None)
            return self._find(terms, limit)

        with self._lock:
            return self._file.recovering(work)

    def skipped(self) -> dict[str, str]:
        """Return why, by path, each file, folder or link that was left out is not in the index."""
        with self._lock:
            rows = self._file.connection.execute(
                "SELECT path, skipped FROM file WHERE skipped NOTNULL"
            )
            files = {shown(os.fsdecode(path)): reason for path, reason in rows}
            return {shown(path): reason for path, reason in self._passed_over.items()} | files

    # -- looking up

    def _find(self, terms: list[str], limit: int) -> Found:
        telling = self._telling(terms)
        if not telling:
            return Found((), 0, self._available)
        some = " OR ".join(telling)
        scores = self._best(some, limit * 4)
        if len(telling) > 1:
            for row, score in self._best(" AND ".join(telling), limit * 4).items():
                scores[row] = score * _ALL_WORDS_BONUS
        least = max(scores.values()) * _LEAST_SHARE
        rows = sorted((-score, row) for row, score in scores.items() if score >= least)
        hits = [self._hit(row, -score) for score, row in rows]
        return Found(_spread(hits, limit), self._count(some), self._available)

    def _telling(self, terms: list[str]) -> list[str]:
        """Return the terms that the index has, less the common ones; the two rarest at least."""
        most = int(max(_COMMON_FROM, self._passages * _COMMON_SHARE))
        counts = {term: self._count(term, most + 1) for term in terms}
        known = [term for term in terms if counts[term]]
        rare = [term for term in known if counts[term] <= most]
        return rare or sorted(known, key=self._count)[:2]

    def _count(self, match: str, most: int = -1) -> int:
        sql = "SELECT count(*) FROM (SELECT 1 FROM passage WHERE passage MATCH ? LIMIT ?)"
        return int(self._file.connection.execute(sql, (match, most)).fetchone()[0])

    def _best(self, match: str, limit: int) -> dict[int, float]:
        sql = """SELECT rowid, -bm25(passage, 6, 1, 1) AS score
                 FROM passage WHERE passage MATCH ? ORDER BY score DESC LIMIT ?"""
        return dict(self._file.connection.execute(sql, (match, limit)).fetchall())

    def _hit(self, row: int, score: float) -> Hit:
        sql = """SELECT passage.title, file.path, passage.text
                 FROM passage JOIN file ON file.id = passage.file WHERE passage.rowid = ?"""
        title, path, text = self._file.connection.execute(sql, (row,)).fetchone()
        return Hit(title, shown(os.fsdecode(path)), text, score)

    # -- keeping up to date

    def _update(self, on_progress: Progress | None) -> None:
        began = time.monotonic()
        found = self._scan()
        took = time.monotonic() - began
        if not self._known:
            self._load()
        if found != self._known:
            try:
                with self._file.writing():
                    self._apply(self._scan(), on_progress)
            except sqlite3.OperationalError as error:
                if error_code(error) != sqlite3.SQLITE_BUSY or not self._available:
                    raise
                log.warning(
                    "%s is being indexed by another process; its old index is used", self.folder
                )
            self._load()
        self._next_check = time.monotonic() + min(_MAX_PAUSE, _PAUSE_FACTOR * took)
        if not self._available:
            skipped = self.skipped()
            but = f", but {named(skipped)}" if skipped else ""
            raise DocsFolderError(
                f"no document in {shown(self.folder)} has any text that can be read{but}: "
                "put Markdown or text files into it, or name another folder"
            )

    def _load(self) -> None:
        rows = self._file.connection.execute("SELECT path, size, mtime_ns, ctime_ns FROM file")
        self._known = {os.fsdecode(path): Stamp(*stamp) for path, *stamp in rows}
        sql = "SELECT count(*) FILTER (WHERE last >= first), total(last - first + 1) FROM file"
        self._available, passages = self._file.connection.execute(sql).fetchone()
        self._passages = int(passages)

    def _apply(self, found: dict[str, Stamp], on_progress: Progress | None) -> None:
        # What another process has just done is read under the lock, and not done again.
        self._load()
        known = self._known
        for path in known.keys() - found.keys():
            self._remove(path)
        changed = [path for path, stamp in found.items() if known.get(path) != stamp]
        for done, path in enumerate(changed):
            if on_progress:
                on_progress(done, len(changed))
            if path in known:
                self._remove(path)
            self._add(path, found[path])
        if on_progress and changed:
            on_progress(len(changed), len(changed))

    def _remove(self, path: str) -> None:
        key = (os.fsencode(path),)
        sql = "SELECT first, last FROM file WHERE path = ?"
        first, last = self._file.connection.execute(sql, key).fetchone()
        self._file.connection.executemany(
            "DELETE FROM passage WHERE rowid = ?", ((row,) for row in range(first, last + 1))
        )
        self._file.connection.execute("DELETE FROM file WHERE path = ?", key)

    def _add(self, path: str, stamp: Stamp) -> None:
        reason = None
        document = Document("", [])
        try:
            document = read_document(os.path.join(self.folder, path))  # noqa: PTH118
        except SkippedError as error:
            reason = str(error)
            self._warn(path, reason)
        if 0 <= time.time_ns() - stamp.mtime_ns < _RACY_NS:
            stamp = stamp._replace(mtime_ns=-1)
        run = self._file.connection.execute
        first = run("SELECT coalesce(max(rowid), 0) + 1 FROM passage").fetchone()[0]
        file = run(
            "INSERT INTO file VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
            (os.fsencode(path), *stamp, first, first + len(document.passages) - 1, reason),
        ).lastrowid
        for row, text in enumerate(document.passages, first):
            run(
                "INSERT INTO passage (rowid, title, text, extra, file) VALUES (?, ?, ?, ?, ?)",
                (row, document.title, text, extra_words(f"{document.title}\n{text}"), file),
            )

    def _forget(self) -> None:
        self._known = {}
        self._available = self._passages = 0
        self._next_check = 0.0

    def _scan(self) -> dict[str, Stamp]:
        self._passed_over: dict[str, str] = {}
        return scan(self.folder, self._pass_over)

    def _pass_over(self, path: str, reason: str) -> None:
        self._passed_over[path] = reason
        self._warn(path, reason)

    def _warn(self, path: str, reason: str) -> None:
        if (path, reason) not in self._warned:
            self._warned.add((path, reason))
            log.warning("left out of the document search: %s (%s)", shown(path), reason)


def _spread(hits: list[Hit], limit: int) -> tuple[Hit, ...]:
    """Take the best, but more than two of one document only after the others."""
    taken: Counter[str] = Counter()
    first, later = list[Hit](), list[Hit]()
    for hit in hits:
        taken[hit.file] += 1
        (first if taken[hit.file] <= _PER_DOCUMENT else later).append(hit)
    return tuple([*first, *later][:limit])


_shared: dict[tuple[Path, Path | None], DocsIndex] = {}
_shared_lock = threading.Lock()


def shared_index(folder: str | os.PathLike[str]) -> DocsIndex:
    """Return this process's index of `folder`; raises as `DocsIndex` does."""
    path = resolve_folder(folder)
    key = path, default_database(path)
    with _shared_lock:
        if key not in _shared:
            _shared[key] = DocsIndex(path)
        return _shared[key]


def build(folder: str | os.PathLike[str], *, progress: Progress | None = None) -> DocsIndex:
    """Bring the shared index of `folder` up to date, telling `progress` (done, total) as it goes.

    Raises:
        DocsFolderError: the folder can't be searched.
    """
    index = shared_index(folder)
    index.refresh(progress)
    return index
