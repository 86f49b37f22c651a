"""The text that stands for turns that were taken out, in its parts: each stands in it once."""

import re
from typing import NamedTuple

from graphs.react.identifiers import Seen, missing_from, seen_in

_DROPPED = re.compile(r"[>*\s-]{0,8}\((\d{1,9}) turns? dropped without a summary\)\s{0,8}")


class Parts(NamedTuple):
    """What a summary says, and what is added to it.

    Attributes:
        said: The summarizer's own words.
        dropped: Turns of the run that went without a summary.
        seen: The list of what the words have not.
    """

    said: str
    dropped: int = 0
    seen: Seen = Seen()

    @property
    def text(self) -> str:
        """The parts as one text, which `parts_of` reads back."""
        turns = f"{self.dropped} turn{'s' * (self.dropped != 1)}"
        gone = f"({turns} dropped without a summary)" if self.dropped else ""
        return "\n".join(part for part in (self.said, gone, self.seen.line) if part)

    def followed_by(self, said: str, new: str, dropped: int = 0) -> "Parts":
        """Return what stands for these parts and more turns: one count, and one bounded list.

        Args:
            said: The summarizer's words for both; those it copied from what is added count once.
            new: The turns, as written.
            dropped: How many of them went without a summary.
        """
        copied = parts_of(said)
        words = dict.fromkeys([*self.seen.words, *copied.seen.words])
        before = Seen(tuple(words), self.seen.left_out)
        seen = missing_from(copied.said, new, earlier=self.said, before=before)
        return Parts(copied.said, self.dropped + dropped, seen)


def parts_of(text: str) -> Parts:
    """Read a text back in its parts."""
    said: list[str] = []
    dropped, words, left_out = 0, dict[str, None](), 0
    for line in text.split("\n"):
        if found := _DROPPED.fullmatch(line):
            dropped += int(found.group(1))
        elif seen := seen_in(line):
            words |= dict.fromkeys(seen.words)
            left_out += seen.left_out
        else:
            said.append(line)
    return Parts("\n".join(said).strip(), dropped, Seen(tuple(words), left_out))
