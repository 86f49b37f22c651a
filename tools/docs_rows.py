"""The rows of a documents index: one for each file, and one for each of its passages."""

import os
import sqlite3

from tools.docs_folder import Stamp
from tools.docs_query import extra_words
from tools.docs_text import Document


def remove_rows(connection: sqlite3.Connection, path: str) -> None:
    """Take a file and its passages out."""
    key = (os.fsencode(path),)
    sql = "SELECT first, last FROM file WHERE path = ?"
    first, last = connection.execute(sql, key).fetchone()
    connection.executemany(
        "DELETE FROM passage WHERE rowid = ?", ((row,) for row in range(first, last + 1))
    )
    connection.execute("DELETE FROM file WHERE path = ?", key)


def add_rows(
    connection: sqlite3.Connection, path: str, stamp: Stamp, document: Document, reason: str | None
) -> None:
    """Put a file and its passages in; `reason` says why one that has none was left out."""
    run = connection.execute
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
