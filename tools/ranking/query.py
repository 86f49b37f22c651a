"""A query, taken apart: the whole of it, and each clause of one that asks for several things."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 2_000
"""Characters of a query that are read; what it is about is said before."""
MOST_CLAUSES: Final = 8

_LITERAL: Final = re.compile(
    r""" "[^"\n]{1,200}" | “[^”\n]{1,200}” | `[^`\n]{1,200}`
    | (?<!\w)'[^'\n]{2,100}'(?!\w)
    | \bhttps?://\S+ | \bwww\.\S+ | (?<!\w)[^\s@]{1,80}@[^\s@]{1,80}
    | \{[^{}]{0,500}\} | \[[^\[\]]{0,500}\]
    | (?<!\w)\S{0,80}\d\S{0,80} """,
    re.VERBOSE,
)
"""Quoted text, addresses, data, and whatever has a digit in it: what a tool is called with.

The last ones are looked for where a word begins alone, and so once a word, not once a letter."""
_BREAK: Final = re.compile(
    r"[.;!?\n]+(?=\s|$)|,(?=\s)|\s(?:and|then|also|or|as well as|plus|after that|before|while)\s"
    r"|\s-\s|[:()]|[\u3001\u3002\uff0c\uff1b\uff01\uff1f]",
    re.IGNORECASE,
)


def clauses(query: str) -> list[str]:
    """Return the clauses of a query without its literal values; none if there is only one."""
    bare = _LITERAL.sub(" ", query)
    parts = [part for part in (p.strip() for p in _BREAK.split(bare)) if " " in part]
    return parts[:MOST_CLAUSES] if len(parts) > 1 else []
