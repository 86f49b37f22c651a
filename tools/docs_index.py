"""Keep a full-text index of a folder of Markdown and text files up to date, and search it."""

import logging
import os
import sqlite3
import threading
import time
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
from tools.docs_parts import Part, held_by
from tools.docs_query import query_terms
from tools.docs_ranking import Found, Hit, find
from tools.docs_rows import add_rows, remove_rows
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
    "default_database",
    "query_terms",
    "read_document",
    "scan",
]

log = logging.getLogger("rungs.docs")

Progress = Callable[[int, int], None]
"""Called with (files done, files to do) as an index is brought up to date."""


_RACY_NS: Final = 20_000_000  # a file this young may change again within one tick of its mtime
_PAUSE_FACTOR: Final = 10
_MAX_PAUSE: Final = 60.0


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
        part: the part of the folder that is searched; None is all of it.

    Raises:
        DocsFolderError: the folder is missing, a file, unreadable or has no documents.
        DocsIndexError: the file given as `database` can't be used.
    """

    _known: dict[str, Stamp]

    def __init__(
        self,
        folder: str | os.PathLike[str],
        database: str | os.PathLike[str] | None = None,
        *,
        part: Part | None = None,
    ) -> None:
        self.folder = resolve_folder(folder)
        self._part = part
        self._lock = threading.RLock()
        self._warned: set[tuple[str, str]] = set()
        self._scan()
        path = Path(database) if database else default_database(self.folder, part)
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
            size = (self._available, self._passages)
            return find(self._file.connection, terms, limit, *size)

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
            remove_rows(self._file.connection, path)
        changed = [path for path, stamp in found.items() if known.get(path) != stamp]
        for done, path in enumerate(changed):
            if on_progress:
                on_progress(done, len(changed))
            if path in known:
                remove_rows(self._file.connection, path)
            self._add(path, found[path])
        if on_progress and changed:
            on_progress(len(changed), len(changed))

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
        add_rows(self._file.connection, path, stamp, document, reason)

    def _forget(self) -> None:
        self._known = {}
        self._available = self._passages = 0
        self._next_check = 0.0

    def _scan(self) -> dict[str, Stamp]:
        self._passed_over: dict[str, str] = {}
        found = scan(self.folder, self._pass_over)
        if self._part is None:
            return found
        return held_by(self._part, self.folder, found)

    def _pass_over(self, path: str, reason: str) -> None:
        self._passed_over[path] = reason
        self._warn(path, reason)

    def _warn(self, path: str, reason: str) -> None:
        if (path, reason) not in self._warned:
            self._warned.add((path, reason))
            log.warning("left out of the document search: %s (%s)", shown(path), reason)
