"""Redacts a text that comes in pieces: nothing is let go that may still become part of a match."""

from __future__ import annotations

import functools
from typing import Any

import regex

from tools.own_rules import WATCH_SECONDS
from tools.personal_rules import EMAIL_RULE
from tools.redact import Filter, current_filter
from tools.redaction_rules import merged
from tools.redactor import Found, Redactor, replaced

_NEVER = "\ufdd1"
"""A noncharacter, which no text holds: what must be followed by it is never matched, and a text's
end is the beginning of such a match for as long as it may go on."""
_MORE = 1.02


class HeldBack:
    """Redacts a text as it comes in.

    It keeps true that
    * what is let go, put together, is what `redact` makes of the whole text, however it is cut;
    * no part of a match is ever let go, nor anything before it is known to be none;
    * a clean text is let go as it came, as soon as its end can't become a match.

    Args:
        found: Where what is taken out is counted, by kind.
        filter_: What is taken out; None takes the filter in force.
    """

    def __init__(self, found: Found | None = None, filter_: Filter | None = None) -> None:
        self._filter = filter_ or current_filter()
        self._found = found
        self._watches = _watches(self._filter.redactor)
        if self._filter.own is not None:
            self._watches = (*self._watches, _watch(EMAIL_RULE.watch))
        self._past = ""  # what was let go of the line and the one before: rules look there
        self._held = ""
        self._table = 0  # how much was held when it was last looked at as a table that goes on

    def push(self, piece: str) -> str:
        """Take a piece, and return what can be let go by now."""
        if not piece:
            return ""
        self._held += piece
        text = self._past + self._held
        start = len(self._past)
        return self._let_go(text, start, self._undecided(text, start, piece))

    def flush(self) -> str:
        """Return the rest: the text is whole."""
        text, start = self._past + self._held, len(self._past)
        return self._let_go(text, start, len(text))

    def _undecided(self, text: str, start: int, piece: str) -> int:
        """Return from where on the text, which a piece has come to, may still become a match."""
        first = self._table_of(text, start, piece)
        if first == start:
            return start
        for watch in self._watches:
            if watch is None:
                return start
            try:
                match = watch.search(text, start, partial=True, timeout=WATCH_SECONDS)
            except TimeoutError:
                return start  # it goes when the text is whole, in linear time
            if match and match.start() < first:
                first = match.start()
        return first

    def _table_of(self, text: str, start: int, piece: str) -> int:
        """Return from where on the text is a table that may go on; its end: there is none.

        A long table is looked at again when some lines more have come: each look reads all of it.
        """
        held = len(text) - start
        if self._table and ("\n" not in piece or held < self._table * _MORE):
            return start
        first = len(text)
        for rule in self._filter.redactor.rules:
            if rule.undecided is not None and rule.may_be(text):
                first = min(first, rule.undecided(text, start))
        self._table = held if first == start else 0
        return first

    def _let_go(self, text: str, start: int, stop: int) -> str:
        if stop == start:
            return ""
        hits = merged(self._filter.redactor.hits(text, start, own=self._filter.own))
        for hit in reversed(hits):
            if hit.anchor < stop < hit.end:  # what is undecided may become one with it
                stop = hit.anchor
        hits = [hit for hit in hits if hit.start < stop]
        line = text.rfind("\n", 0, max(text.rfind("\n", 0, stop), 0))
        self._past = text[max(line, 0) : stop]
        self._held = text[stop:]
        return replaced(text, hits, start, stop, self._found)


@functools.lru_cache(maxsize=64)
def _watches(redactor: Redactor) -> tuple[Any, ...]:
    ours = "|".join(rule.watch for rule in redactor.rules if not rule.is_own)
    return (_watch(ours), *(_watch(rule.watch) for rule in redactor.rules if rule.is_own))


@functools.lru_cache(maxsize=256)
def _watch(pattern: str) -> Any:
    """Compile a watch; None, which holds all back, for what this engine can't read."""
    try:
        return regex.compile(f"(?:{pattern}){_NEVER}")
    except regex.error:
        return None
