"""The keywords of the ReAct format, by one rule: the parser reads by it, and quoting defeats it.

A keyword counts at the start of a line, in any case, with Markdown emphasis, a full-width colon or
a number allowed: `**Action 2:**` (SPEC section 10). Every quantifier is bounded, so that a line
costs no more than its length.
"""

import re
from typing import Literal, NamedTuple, cast

Keyword = Literal["thought", "action", "action input", "observation", "final answer"]

QUOTE = "> "
"""What a quoted line begins with, and no keyword does."""

_KEYWORD = re.compile(
    r"(?:#{1,6}\s{1,3})?[*_]{0,3}\s{0,3}"
    r"(thought|action[ _-]input|action|observation|final[ _-]{1,3}answer)"
    r"(?:\s{0,3}\d{1,4})?\s{0,3}[*_]{0,3}\s{0,3}[:\uff1a][*_]{0,3}",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"[ _-]{1,3}")


class Found(NamedTuple):
    """A keyword at the start of a line: which one, and the place behind its colon."""

    keyword: Keyword
    end: int


def keyword_of(line: str) -> Found | None:
    """Return the keyword that a line starts with, or None."""
    found = _KEYWORD.match(line, len(line) - len(line.lstrip()))
    if found is None:
        return None
    return Found(cast("Keyword", _SPLIT.sub(" ", found.group(1).lower())), found.end())


def quoted(text: str) -> str:
    """Quote a text that the model did not write, so that no line of it starts with a keyword."""
    return "\n".join(f"{QUOTE}{line}".rstrip() for line in text.splitlines())


def behind_keyword(text: str) -> str:
    """Quote a text that stands behind a keyword, as an Observation does.

    Its first line is on the keyword's line, and so starts none; every other one is quoted.
    """
    first, *others = text.splitlines() or [""]
    return "\n".join([first, *(f"{QUOTE}{line}".rstrip() for line in others)])
