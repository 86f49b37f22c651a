"""What a redaction rule is, and how the spans that several rules find become one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tools.finder import finder

REDACTED = "[redacted]"

SPACE = r"[\s\x1c-\x1f]"
"""In a watch: what Python's own engine takes for a space."""

Span = tuple[int, int, int]
"""Where a match begins, where what is hidden of it begins, and where that ends, in characters."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of thing that is taken out of texts.

    Attributes:
        kind: What is counted: `credential`, `card`, `email`, or a pattern's own name.
        hint: A pattern of Rust's `regex` crate, which any text matches that holds one; "" where
            `may_be` is no pattern of it.
        may_be: Tells quickly whether a text may hold one; never False where it does.
        find: Yields the spans that begin at a position or after it. What stands before the position
            is looked at, but not matched: it was decided on already.
        watch: A pattern, of the `regex` module, of everything that `find` decides by, from where
            hiding may begin to where it is decided. A text whose end it may go on from can still
            become a match.
        is_own: Whether it is a pattern of the user's own.
        undecided: Tells, like `watch`, from where on a text that goes on may still become a match,
            where no pattern can; its end: from nowhere.
    """

    kind: str
    hint: str
    may_be: Callable[[str], bool]
    find: Callable[[str, int], Iterator[Span]]
    watch: str
    is_own: bool = False
    undecided: Callable[[str, int], int] | None = None


def rule(kind: str, hint: str, find: Callable[[str, int], Iterator[Span]], watch: str) -> Rule:
    """Make a rule whose quick look is its hint."""
    return Rule(kind, hint, finder(hint), find, watch)


@dataclass(frozen=True, slots=True)
class Hit:
    """A part of a text that is replaced.

    Attributes:
        anchor: Where what it is known by begins: the name before a value.
        start: Where it begins.
        end: Where it ends.
        kind: The kind of the longest match in it.
    """

    anchor: int
    start: int
    end: int
    kind: str


def merged(found: Iterable[Hit]) -> list[Hit]:
    """Merge overlapping hits into one each, which has the kind of the longest; others stay."""
    hits: list[Hit] = []
    longest = 0
    for hit in sorted(found, key=lambda hit: (hit.start, -hit.end)):
        length = hit.end - hit.start
        if hits and hit.start < hits[-1].end:
            last = hits[-1]
            kind = hit.kind if length > longest else last.kind
            hits[-1] = Hit(min(last.anchor, hit.anchor), last.start, max(last.end, hit.end), kind)
            longest = max(longest, length)
        else:
            hits.append(hit)
            longest = length
    return hits
