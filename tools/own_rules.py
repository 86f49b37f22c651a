"""Rules of the user's own: patterns that are matched in time linear in the text.

They run on RE2, which has no pattern that takes exponential time: a pattern that needs more than
it offers (backreferences, lookarounds) is refused when it is read, not when it hangs.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from tools.redaction_rules import REDACTED, Rule, Span

_MOST_CHARACTERS = 1000
_MOST_MEMORY = 1 << 20
"""Bytes of a compiled pattern; `(a{1000}){1000}` needs more."""

WATCH_SECONDS = 0.05
"""How long it may take to see whether the end of a streamed text can become a match: the engine
that tells that is not linear. What takes longer is held back until the text is whole."""

_SURROGATES = re.compile(r"[\ud800-\udfff]")


class PatternError(ValueError):
    """A pattern that can't be used; the rest of a sentence that begins with its name."""


@functools.lru_cache(maxsize=256)
def own_rule(kind: str, pattern: str) -> Rule:
    """Make the rule of a pattern.

    Raises:
        PatternError: It is no RE2 pattern, too large, or would match everywhere.
    """
    import re2  # only who has patterns of their own waits for it

    if len(pattern) > _MOST_CHARACTERS:
        raise PatternError(f"is longer than {_MOST_CHARACTERS:,} characters")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    try:
        compiled: Any = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as exc:
        raise PatternError(f"is no RE2 pattern: {_reason(exc)}") from None
    if compiled.search(""):
        raise PatternError("matches the empty text, and so everywhere")
    if compiled.search(REDACTED):
        raise PatternError(f"matches {REDACTED!r}, which stands for what was taken out")

    def may_be(text: str) -> bool:
        return compiled.search(_encodable(text)) is not None

    def find(text: str, start: int) -> Iterator[Span]:
        for match in compiled.finditer(_encodable(text), start):
            if match.end() > match.start():
                yield match.start(), *match.span()

    return Rule(kind, "", may_be, find, rf"(?a:{pattern})", is_own=True)


def _encodable(text: str) -> str:
    """Replace halves of surrogate pairs, which RE2's text can't hold, one for one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text)
    return text


def _reason(exc: Exception) -> str:
    told = exc.args[0] if exc.args else exc
    return told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
