"""Which embedder is in force: the shipped table, or MiniLM where `RUNGS_SEARCH` says so."""

from __future__ import annotations

import os

from tools.errors import SearchError
from tools.ranking.meaning import shared
from tools.ranking.vectors import Embedder


def default_embedder() -> Embedder:
    """Return the embedder that `RUNGS_SEARCH` names.

    Raises:
        SearchError: It names another, or one that is not installed.
    """
    name = os.environ.get("RUNGS_SEARCH") or "table"
    if name == "table":
        return shared()
    if name == "minilm":
        from tools.ranking.minilm import minilm

        return minilm()
    raise SearchError(f"RUNGS_SEARCH is 'table' or 'minilm', not {name!r}")
