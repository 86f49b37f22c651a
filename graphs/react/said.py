"""What of a reply counts, told while the reply still comes in pieces."""

from __future__ import annotations

from typing import Literal

import regex

from graphs.react.closing import Closing
from graphs.react.keywords import FENCE_LENGTH, PATTERN, Found, keyword_of, lead_of, opens_fence
from graphs.react.thinking import Thinking

_MAY_BECOME = regex.compile(PATTERN)
_MARK = "```"
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"

Place = Literal["open", "answer", "name", "following", "input", "bracket", "over", "whole"]


class Said:
    """Takes a streamed reply, and lets go what `parse` will say of it was said.

    It keeps true that
    * the pieces let go, put together, are the `said` of the whole reply, however it is cut, blanks
      at its ends aside;
    * what is held back is what may be the beginning of a keyword's line, of a thinking tag or of a
      fence, blanks at the end, and what comes before the first keyword: it may be thinking of which
      only the end is marked. Where such an end comes later, what was let go can't be taken back,
      and the reply begins anew on a line of its own;
    * each character is looked at a bounded number of times.

    Attributes:
        ended: Whether the model wrote an Observation itself: nothing behind it counts, and the rest
            of the reply need not be read.
    """

    def __init__(self) -> None:
        self.ended = False
        self._thinking = Thinking()
        self._out: list[str] = []
        self._begin()

    def _begin(self) -> None:
        self._at: Place = "open"
        self._line: str | None = ""  # a line's undecided beginning; None behind that
        self._indented = self._fenced = self._known = self._told = self._named = False
        self._early: list[str] = []  # what came before the first keyword
        self._blank: list[str] = []  # what is told only if more is
        self._closing = Closing()

    def push(self, piece: str) -> str:
        """Take a piece, and return what can be let go by now."""
        self._take(self._thinking.push(piece))
        return self._let_go()

    def flush(self) -> str:
        """Return the rest: the reply is whole."""
        self._take(self._thinking.flush())
        if self._line and not self.ended:
            self._decide(self._line)
        self._release()
        return self._let_go()

    def _take(self, parts: list[str | None]) -> None:
        for part in parts:
            if part is None:
                told = self._told and not self._early
                self._begin()
                self._out += "\n" if told else ""
                continue
            for piece in part.splitlines(keepends=True):
                if self.ended:
                    return
                self._fragment(piece, whole=piece[-1] in _LINE_ENDS)

    def _fragment(self, piece: str, *, whole: bool) -> None:
        """Take a part of one line, its end included where it is whole."""
        if self._line is None:
            self._go_on(piece)
        else:
            line = self._line + piece
            if whole or not self._waits(line):
                self._line = None
                self._decide(line)
            elif line.strip():
                self._line = line
            else:  # blanks alone, of which there may be many
                self._indented = True
                self._tell(line)
        if whole:
            if self._at == "name" and self._named:
                self._at = "following"
            self._line, self._indented = "", False

    def _waits(self, line: str) -> bool:
        """Tell whether what a line is can't be known before more of it has come."""
        text = line[lead_of(line) :]
        if not text:
            return True
        found = _MAY_BECOME.match(text, partial=True)
        if found and (found.partial or found.end() == len(text)):
            return True
        if self._at != "open" or text[0] != "`":
            return _MARK.startswith(text) and text != _MARK
        return len(text) < (len(_MARK) if self._told else FENCE_LENGTH)

    def _decide(self, line: str) -> None:
        """Take a line's beginning, from which its keyword can be told."""
        found = keyword_of(line)
        keyword = found.keyword if found else None
        if keyword == "observation":
            self.ended = True
            self._release()
        elif self._at == "open":
            self._opening(line, found)
        elif self._at == "name" and line.strip() and keyword:
            self._at = "whole"
            self._tell(line)
        elif self._at == "following" and line.strip():
            self._at = "input" if keyword == "action input" else "whole"
            self._tell(line)
        elif self._at == "input" and keyword:
            self._at = "over"
        elif self._ends_fence(line):
            self._blank.append(line)
        else:
            self._go_on(line)

    def _opening(self, line: str, found: Found | None) -> None:
        if not self._told and opens_fence(line.lstrip()):
            self._fenced = self._told = True
            self._blank.clear()
            return
        if line.lstrip().startswith(_MARK):
            self._fenced = not self._fenced
        if found is not None:
            self._tell(line[: found.end])
            self._release()
            if found.keyword == "final answer":
                self._at = "answer"
            elif found.keyword == "action":
                self._at = "name"
            line = line[found.end :]
        self._go_on(line)

    def _go_on(self, text: str) -> None:
        """Take more of a line that is known to begin with no keyword, or behind its keyword."""
        if self._at == "name" and text.strip():
            self._named = True
            start, bracket, text = text.partition("[")
            self._tell(start + bracket)
            if bracket:
                self._at = "bracket"
        if self._at == "bracket":
            self._tell(self._closing.push(text))
            if self._closing.closed:
                self._at = "over"
        elif self._at != "over":
            self._tell(text)

    def _ends_fence(self, line: str) -> bool:
        """Tell whether a line may end the fence that the reply stands in."""
        inside = self._fenced and self._at in {"answer", "input"} and not self._indented
        return inside and line.rstrip() == _MARK

    def _tell(self, text: str) -> None:
        body = text.rstrip()
        if not body:
            self._blank.append(text)
            return
        first = "".join(self._blank) + body
        self._blank = [text[len(body) :]]
        if not self._told:
            first = first.lstrip()
        self._told = True
        (self._out if self._known else self._early).append(first)

    def _release(self) -> None:
        """Let go what came before the first keyword."""
        self._known = True
        self._out += self._early
        self._early = []

    def _let_go(self) -> str:
        told = "".join(self._out)
        self._out = []
        return told
