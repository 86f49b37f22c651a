"""A reply without the thinking that some models write between tags: nothing in it is parsed."""

import re

from graphs.react.keywords import keyword_of

_NAMES = ("think", "thinking", "thought", "reasoning")
_TAG = re.compile(rf"(?ai:<(/?)({'|'.join(_NAMES)})>)")
_TAGS = tuple(f"<{end}{name}>" for name in _NAMES for end in ("", "/"))
_LONGEST = max(map(len, _TAGS))
_LINE_START = 200
"""Characters of a line's beginning that are kept, more than a keyword can have."""


class Thinking:
    """Leaves out what stands between thinking tags, before the first action or answer.

    * A block that never ends takes the rest of the text with it.
    * An end without a beginning, which templates leave that open the tag in the prompt, takes what
      is before it; but none behind an `Observation:` does: a server that honours the stop sequence
      sends nothing of that, and a stream is not read so far.
    * Behind an `Action:` or a `Final Answer:` a tag is the model's own text and stays.

    The text may come in pieces; what may become a tag is held back until the next one.
    """

    def __init__(self) -> None:
        self._held = ""
        self._inside: str | None = None
        self._tags = 0
        self._line = ""  # the unfinished line of what was kept, without the blanks before it
        self._decided = self._over = False  # whether a keyword has come; an Observation

    def push(self, piece: str) -> list[str | None]:
        """Take a piece.

        Returns:
            What is kept of the text, in parts; None takes back all that was kept before.
        """
        text = self._held + piece
        kept: list[str | None] = []
        place = 0
        for tag in _TAG.finditer(text):
            closes, name = bool(tag.group(1)), tag.group(2).lower()
            self._tags += 1
            if self._inside is not None:
                if closes and name == self._inside:
                    self._inside, place = None, tag.end()
            elif closes:
                if self._tags == 1 and not self._is_over(text[place : tag.start()]):
                    kept, place = [None], tag.end()
                    self._line, self._decided = "", False
            elif not self._decided:
                before = text[place : tag.start()]
                self._keep(before, kept)
                place = tag.start()
                if not self._decided:
                    self._inside, place = name, tag.end()
        end = len(text) - _begun(text)
        self._held = text[max(end, place) :]
        if self._inside is None:
            self._keep(text[place:end], kept)
        return kept

    def flush(self) -> list[str | None]:
        """Return the rest: the text is whole."""
        held, self._held = self._held, ""
        return [held] if held and self._inside is None else []

    def _keep(self, text: str, kept: list[str | None]) -> None:
        if not text:
            return
        kept.append(text)
        if not self._decided or not (self._over or self._tags):
            self._look(text)

    def _is_over(self, text: str) -> bool:
        """Tell whether an Observation has come, up to the end of a text."""
        return self._over or self._look(text)

    def _look(self, text: str) -> bool:
        *whole, rest = f"{self._line}{text}\0".splitlines()
        self._line = rest[:-1].lstrip()[:_LINE_START]
        found = {one.keyword for one in map(keyword_of, [*whole, self._line]) if one}
        self._decided = self._decided or bool(found - {"thought"})
        self._over = self._over or "observation" in found
        return self._over


def without_thinking(text: str) -> str:
    """Leave the thinking out of a whole text, as `Thinking` does."""
    if "<" not in text:
        return text
    thinking = Thinking()
    kept = [*thinking.push(text), *thinking.flush()]
    return "".join(part for part in kept if part is not None)


def _begun(text: str) -> int:
    """Return how much of a text's end may become a tag."""
    start = text.rfind("<", max(0, len(text) - _LONGEST + 1))
    if start < 0:
        return 0
    end = text[start:].lower()
    return len(end) if any(tag.startswith(end) for tag in _TAGS) else 0
