"""The read-only tool that searches the help center, or a folder of one's own documents."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tools.docs_index import Found
from tools.docs_shared import shared_index

HELP_CENTER: Final = Path(__file__).with_name("help_center")
"""The documents that are searched when RUNGS_DOCS names no other folder."""

RESULTS: Final = 4
"""Passages shown for one search: at most about 6,500 characters in all."""


def search_docs(query: str) -> str:
    """Search the help center; call it before stating any policy, price, product fact or error code.

    Args:
        query: A few telling words, a name, an error code, or a whole question.

    Returns:
        The best passages, each below the title and the file of its document, or a sentence that
        says that nothing matches.

    Raises:
        ValueError: `query` has no words, or the folder can't be searched.
    """
    return _search(os.environ.get("RUNGS_DOCS") or HELP_CENTER, query)


def search_docs_in(folder: str | os.PathLike[str]) -> Callable[[str], str]:
    """Return the same tool, by the same name, over the documents in `folder`.

    Raises:
        DocsFolderError: the folder is missing, a file, unreadable or has no documents.
    """
    shared_index(folder)

    def search(query: str) -> str:
        return _search(folder, query)

    search.__name__ = search.__qualname__ = search_docs.__name__
    search.__doc__ = search_docs.__doc__
    return search


def _search(folder: str | os.PathLike[str], query: str) -> str:
    return found_as_text(query, shared_index(folder).search(query, RESULTS))


def found_as_text(query: str, found: Found) -> str:
    """Write the results, each passage led by its document's title, which an answer must quote."""
    documents = f"{found.available:,} document{'s' * (found.available != 1)}"
    if not found.hits:
        asked = " ".join(query.split())
        asked = asked if len(asked) <= 80 else asked[:79] + "…"  # noqa: PLR2004
        return (
            f'No match for "{asked}" in {documents}. '
            "Other words may help: try a synonym, fewer words or the name of the thing."
        )
    head = f"{len(found.hits)} of {found.matched:,} matching passages in {documents}, best first."
    blocks = [f"Title: {hit.title}\nFile: {hit.file}\n\n{hit.text}".rstrip() for hit in found.hits]
    return "\n\n---\n\n".join([head, *blocks])
