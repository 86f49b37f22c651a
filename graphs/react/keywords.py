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

_BLANK = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
"""A blank, or a mark that is not seen: right-to-left replies begin with one."""


def _in_any_case(words: str) -> str:
    # By character classes: to ignore case takes in letters beyond ASCII, such as the long s.
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in words)


_WORDS = _in_any_case("thought|action input|action|observation|final answer")
PATTERN = (
    rf"(?:#{{1,6}}\s{{1,3}})?[*_]{{0,3}}{_BLANK}{{0,3}}({_WORDS.replace(' ', '[ _-]{1,3}')})"
    rf"(?:\s{{0,3}}\d{{1,4}})?{_BLANK}{{0,3}}[*_]{{0,3}}{_BLANK}{{0,3}}[:\uff1a][*_]{{0,3}}"
)
"""A keyword up to its colon, and the emphasis behind it; the blanks before it are left out."""

FENCE_LENGTH = 40
"""Characters of a line that opens a code fence, at most."""

_FENCE = re.compile(r"```\w{0,20}")
_KEYWORD = re.compile(PATTERN)
_LEAD = re.compile(rf"\s*+{_BLANK}{{0,8}}")
_SPLIT = re.compile(r"[ _-]{1,3}")


class Found(NamedTuple):
    """A keyword at the start of a line: which one, and the place behind its colon."""

    keyword: Keyword
    end: int


def keyword_of(line: str) -> Found | None:
    """Return the keyword that a line starts with, or None."""
    found = _KEYWORD.match(line, lead_of(line))
    if found is None:
        return None
    return Found(cast("Keyword", _SPLIT.sub(" ", found.group(1).lower())), found.end())


def lead_of(line: str) -> int:
    """Return how many blanks, and marks that are not seen, a line begins with."""
    found = _LEAD.match(line)
    return found.end() if found else 0


def opens_fence(line: str) -> bool:
    """Tell whether a reply whose first line this is stands in a code fence."""
    return len(line) < FENCE_LENGTH and _FENCE.fullmatch(line.strip()) is not None


def quoted(text: str) -> str:
    """Quote a text that the model did not write, so that no line of it starts with a keyword."""
    return "\n".join(f"{QUOTE}{line}".rstrip() for line in text.splitlines())


def behind_keyword(text: str) -> str:
    """Quote a text that stands behind a keyword, as an Observation does.

    Its first line is on the keyword's line, and so starts none; every other one is quoted.
    """
    first, *others = text.splitlines() or [""]
    return "\n".join([first, *(f"{QUOTE}{line}".rstrip() for line in others)])
