"""What a summary must not lose: identifiers, numbers, paths and links, word for word."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from tools.limits import without_marker

MOST = 1_000
"""Characters of the list that is added to a summary."""

HEADING = "Also seen:"

_AROUND = ".,;:!?()[]{}<>\"'`|*=\u201c\u201d\u2018\u2019"
_APART = re.compile(r"[\s\[\](){}<>|\"\u201c\u201d]+")
_LINK = re.compile(r"(?:https?|ftp|file)://|www\.", re.IGNORECASE)
_LEFT_OUT = re.compile(r"\(\d{1,9} more left out\)")
_LINE = re.compile(rf"[>*\s-]{{0,8}}{HEADING}(.*?)(?:\((\d{{1,9}}) more left out\))?\s{{0,8}}")
_DIGITS = 2
_LONG = 8


class Seen(NamedTuple):
    """The list.

    Attributes:
        words: What it names, the newest last.
        left_out: How many more there was no room for, since the run's first summary.
    """

    words: tuple[str, ...] = ()
    left_out: int = 0

    @property
    def line(self) -> str:
        """The list as one line of at most `MOST` characters; "" where it is empty."""
        if not self.words and not self.left_out:
            return ""
        named = f" {', '.join(self.words)}" if self.words else ""
        return HEADING + named + (_left_out(self.left_out) if self.left_out else "")


_NONE = Seen()


def seen_in(line: str) -> Seen | None:
    """Read a line back that `Seen.line` wrote; None where it is another."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    named, left_out = found.group(1).strip(), int(found.group(2) or 0)
    words = tuple(named.split(", ")) if named else ()
    ours = all(_is_telling(word) and not _APART.search(word) for word in words)
    return Seen(words, left_out) if ours and (words or left_out) else None


def missing_from(summary: str, new: str, *, earlier: str = "", before: Seen = _NONE) -> Seen:
    """List what there was and a summary has not.

    Where not all of it fits, what is new and what was known before have half of the room each, and
    what the other leaves; of both the newest is kept, and the rest is counted.

    Args:
        summary: The summary.
        new: What it is the first to stand for.
        earlier: The summary before, which it stands for too.
        before: The list below that one.
    """
    fresh = dict.fromkeys(word for word in _telling(new) if word not in summary)
    known = dict.fromkeys([*before.words, *_telling(_LEFT_OUT.sub(" ", earlier))])
    old = [word for word in known if word not in summary and word not in fresh]
    number = before.left_out + len(old) + len(fresh)
    room = MOST - len(HEADING) - len(_left_out(number))
    kept = _newest(old, room - _size(_newest(fresh, room // 2)))
    words = (*kept, *_newest(fresh, room - _size(kept)))
    return Seen(words, number - len(words))


def _newest(words: Collection[str], room: int) -> list[str]:
    """Take from the end what there is room for, in the order in which it came."""
    taken: list[str] = []
    for word in reversed([*words]):
        if (size := _size([word])) <= room:
            taken.append(word)
            room -= size
    return taken[::-1]


def _size(words: Sequence[str]) -> int:
    return sum(len(word) + len(", ") for word in words)


def _left_out(number: int) -> str:
    return f" ({number} more left out)"


def _telling(text: str) -> Iterator[str]:
    """Find the words that no other word can stand for."""
    for word in _APART.split(without_marker(text)):
        bare = word.strip(_AROUND)
        if _is_telling(bare):
            yield bare


def _is_telling(word: str) -> bool:
    digits = sum(char.isdigit() for char in word)
    if digits >= _DIGITS or _LINK.match(word):
        return True
    if "@" in word[1:-1] and "." in word:
        return True
    if _is_path(word):
        return True
    return "_" in word[1:-1] and len(word) >= _LONG


def _is_path(word: str) -> bool:
    slashes = word.count("/") + word.count("\\")
    if not slashes or len(word) < _DIGITS + 2:
        return False
    return slashes > 1 or word[0] in "/~\\." or "." in word.replace("\\", "/").rsplit("/", 1)[-1]
