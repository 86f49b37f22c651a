"""The ReAct parser: the text of a reply is an action, a final answer, or a format error.

The first keyword decides (SPEC section 10): what follows an action is dropped, and so is everything
from an `Observation:` of the model's own. Nothing but a model's own reply is ever given to it.
Each step looks at a line, or at a bracket, once: time is linear in the length of the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from graphs.react.closing import Closing
from graphs.react.keywords import FENCE_LENGTH, Keyword, keyword_of, opens_fence
from graphs.react.thinking import without_thinking

EMPTY = "the reply was empty"
NO_KEYWORD = "the reply has neither an Action line nor a Final Answer line"
OWN_OBSERVATION = "the reply wrote an Observation itself, which the system does"
NO_INPUT = "the Action line is not of the form tool_name[input]"
NOT_CLOSED = "the input's closing bracket ] is missing"
NO_ANSWER = "there is nothing after Final Answer:"


@dataclass(frozen=True, slots=True)
class Action:
    """A tool's name and its input, both as they were written.

    Attributes:
        name: The tool's name; whether there is such a tool is not the parser's to say.
        text: The input, without the brackets and one pair of quotes around the whole of it.
        said: The reply as far as it counts: up to the end of the action.
    """

    name: str
    text: str
    said: str


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """All that follows `Final Answer:`, trimmed at its ends, and the reply as far as it counts."""

    text: str
    said: str


@dataclass(frozen=True, slots=True)
class FormatError:
    """Why a reply is neither, in half a sentence, and the reply as far as it counts."""

    reason: str
    said: str


Parsed = Action | FinalAnswer | FormatError


class _Line(NamedTuple):
    """A line: where it begins, what is on it, its keyword, and the place behind its colon."""

    start: int
    text: str
    keyword: Keyword | None
    end: int


def parse(reply: str) -> Parsed:
    """Read a reply.

    Args:
        reply: The text that a model sent.

    Returns:
        One of the three, whatever the text.
    """
    text = without_thinking(reply).strip()
    first = text[:FENCE_LENGTH].splitlines(keepends=True)
    fenced = bool(first) and opens_fence(first[0])
    text = text[len(first[0]) :] if fenced else text
    for line in _lines(text):
        if line.text.lstrip().startswith("```"):
            fenced = not fenced
        if line.keyword == "observation":
            said = text[: line.start].rstrip()
            return FormatError(OWN_OBSERVATION, said)
        if line.keyword == "final answer":
            return _answer(_until_observation(text, line.end), line.end, fenced=fenced)
        if line.keyword == "action":
            return _action(_until_observation(text, line.end), line.end, fenced=fenced)
    return FormatError(NO_KEYWORD if text else EMPTY, text)


def _lines(text: str, start: int = 0) -> Iterator[_Line]:
    """Read lines from a place on; a line that does not begin there has no keyword."""
    place = start
    for whole in text[start:].splitlines(keepends=True):
        line = whole.rstrip("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
        found = keyword_of(line) if place != start or start == 0 else None
        yield _Line(
            place,
            line,
            found.keyword if found else None,
            place + (found.end if found else len(line)),
        )
        place += len(whole)


def _until_observation(text: str, start: int) -> str:
    """Cut a reply where a server that honours the stop sequence would have cut it."""
    for line in _lines(text, start):
        if line.keyword == "observation":
            return text[: line.start].rstrip()
    return text


def _answer(text: str, start: int, *, fenced: bool) -> FinalAnswer | FormatError:
    said = _without_fence(text) if fenced else text
    answer = said[start:].strip()
    return FinalAnswer(answer, said) if answer else FormatError(NO_ANSWER, said)


def _without_fence(text: str) -> str:
    """Drop the end of a code fence that was opened before the answer."""
    return text[:-3].rstrip() if text.endswith("\n```") else text


def _action(text: str, start: int, *, fenced: bool) -> Action | FormatError:
    lines = (line for line in _lines(text, start) if line.text.strip())
    first = next(lines, None)
    if first is None or first.keyword:
        return FormatError(NO_INPUT, text)
    bracket = first.text.find("[")
    if bracket >= 0:
        name = _name(first.text[:bracket])
        opened = first.start + bracket
        closed = _closing(text, opened)
        if closed is None:
            return FormatError(NOT_CLOSED, text)
        return Action(name, unquoted(text[opened + 1 : closed]), text[: closed + 1])
    following = next(lines, None)
    if following is None or following.keyword != "action input":
        return FormatError(NO_INPUT, text)
    end = next((line.start for line in lines if line.keyword), len(text))
    said = text[:end].rstrip()
    said = _without_fence(said) if fenced else said
    return Action(_name(first.text), unquoted(said[following.end :]), said)


def _name(text: str) -> str:
    """Return a tool's name without what Markdown puts around it."""
    return text.strip().strip("*`").strip()


_QUOTED = {
    '"': re.compile(r'\s*+"(?:[^"\\]|\\.)*+"\s*+', re.DOTALL),
    "'": re.compile(r"\s*+'(?:[^'\\]|\\.)*+'\s*+", re.DOTALL),
    "\u201c": re.compile(r"\s*+\u201c[^\u201c\u201d]*+\u201d\s*+"),
    "\u2018": re.compile(r"\s*+\u2018[^\u2018\u2019]*+\u2019\s*+"),
}
"""A whole input in quotes, by the quote that it opens with."""


def _closing(text: str, opened: int) -> int | None:
    """Return the place of the bracket that closes the one opened, or None."""
    closing = Closing()
    told = closing.push(text[opened + 1 :])
    closing.flush()
    return opened + len(told) if closing.closed else None


def unquoted(text: str) -> str:
    """Trim an input, and drop one pair of quotes that encloses the whole of it.

    `"red shoes"` loses its quotes, `"a" and "b"` keeps them.
    """
    text = text.strip()
    whole = _QUOTED.get(text[:1])
    return text[1:-1].strip() if whole and whole.fullmatch(text) else text
