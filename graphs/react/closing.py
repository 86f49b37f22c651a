"""Where the input of an action ends, found while its text still comes in pieces."""

import json
import re
from typing import Literal

_BRACKET = re.compile(r"[\[\]]")
_MARK = {"{": re.compile(r'[{}"\\]'), '"': re.compile(r'["\\]'), "'": re.compile(r"['\\]")}
_CURLY = {"\u201c": re.compile("[\u201c\u201d]"), "\u2018": re.compile("[\u2018\u2019]")}
_QUOTES = {*_MARK, *_CURLY} - {"{"}
_JSON = json.JSONDecoder(strict=False)


class Closing:
    """Looks for the bracket that closes an action's input.

    * It is the one that balances the bracket which opened the input.
    * Where the input is a JSON object, or stands in quotes, it is the one behind that: brackets
      inside close nothing. An object that can't be read, and quotes around a part, don't count.

    What is no input any more, if the object or the quotes that have begun come to nothing, is held
    back until that is known. Each character is looked at once by each of the two rules.
    """

    def __init__(self) -> None:
        self._depth = 1
        self._balanced = False  # the first rule has found its bracket
        self._held = ""  # what came behind that
        self._whole = _Whole()

    @property
    def closed(self) -> bool:
        """Whether the bracket has come."""
        return self._balanced and self._whole.standing == "none"

    def push(self, text: str) -> str:
        """Take a piece, and return what of it is the input's for sure, closing bracket included."""
        if self.closed:
            return ""
        end = self._whole.push(text)
        if end is not None:
            told, self._held = self._held + text[:end], ""
            self._balanced = True
            return told
        if self._balanced:
            return self._later(text)
        for bracket in _BRACKET.finditer(text):
            self._depth += 1 if bracket.group() == "[" else -1
            if self._depth == 0:
                self._balanced = True
                return text[: bracket.end()] + self._later(text[bracket.end() :])
        return text

    def flush(self) -> None:
        """No more of the text will come."""
        self._whole.standing = "none"
        self._held = ""

    def _later(self, text: str) -> str:
        self._held = "" if self.closed else self._held + text
        return ""


class _Whole:
    """Follows an object, or quotes, that may be the whole of an input."""

    def __init__(self) -> None:
        self.standing: Literal["begins", "inside", "behind", "none"] = "begins"
        self._kind = ""
        self._parts: list[str] = []
        self._depth = 0
        self._quoted = False
        self._escaped = False

    def push(self, text: str) -> int | None:
        """Take a piece; return the place behind the bracket that closes the input, if it is in."""
        place = 0
        if self.standing == "begins":
            place = len(text) - len(text.lstrip())
            if place == len(text):
                return None
            self._kind = text[place]
            known = self._kind == "{" or self._kind in _QUOTES
            self.standing = "inside" if known else "none"
            if self._kind != "{":
                place += 1
        if self.standing == "inside":
            end = self._object(text, place) if self._kind == "{" else self._quotes(text, place)
            if end is None:
                return None
            self.standing, place = "behind", end
        if self.standing == "behind":
            place += len(text[place:]) - len(text[place:].lstrip())
            if place < len(text):
                self.standing = "none"
                return place + 1 if text[place] == "]" else None
        return None

    def _quotes(self, text: str, start: int) -> int | None:
        """Return the place behind the closing quote."""
        if (curly := _CURLY.get(self._kind)) is not None:
            found = curly.search(text, start)
            if found is None:
                return None
            if found.group() == self._kind:
                self.standing = "none"
                return None
            return found.end()
        for place in self._marks(text, start):
            if text[place] != "\\":
                return place + 1
        return None

    def _object(self, text: str, start: int) -> int | None:
        """Return the place behind the object."""
        for place in self._marks(text, start):
            mark = text[place]
            if mark == '"':
                self._quoted = not self._quoted
            elif not self._quoted and mark in "{}":
                self._depth += 1 if mark == "{" else -1
                if self._depth == 0:
                    self._parts.append(text[start : place + 1])
                    if not _is_json("".join(self._parts)):
                        self.standing = "none"
                        return None
                    return place + 1
        self._parts.append(text[start:])
        return None

    def _marks(self, text: str, start: int) -> list[int]:
        """Return the places of what counts: no character behind a backslash does."""
        places: list[int] = []
        free = start + 1 if self._escaped else start
        self._escaped = False
        for found in _MARK[self._kind].finditer(text, start):
            if found.start() < free:
                continue
            if found.group() != "\\":
                places.append(found.start())
            else:
                free = found.end() + 1
        self._escaped = free > len(text)
        return places


def _is_json(text: str) -> bool:
    try:
        _JSON.raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return True
