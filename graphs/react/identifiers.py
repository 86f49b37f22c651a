"""What a summary must not lose: identifiers, numbers, paths and links, word for word."""

import re
from collections.abc import Iterator

from tools.limits import without_marker

MOST = 1_000
"""Characters of the list that is added to a summary."""

HEADING = "Also seen:"

_AROUND = ".,;:!?()[]{}<>\"'`|*=\u201c\u201d\u2018\u2019"
_APART = re.compile(r"[\s\[\](){}<>|\"\u201c\u201d]+")
_LINK = re.compile(r"(?:https?|ftp|file)://|www\.", re.IGNORECASE)
_DIGITS = 2
_LONG = 8


def missing_from(summary: str, replaced: str) -> str:
    """List what a text has and its summary has not, as one line of at most `MOST` characters.

    Args:
        summary: The summary.
        replaced: What it stands for.

    Returns:
        The line, "" where nothing is missing; what did not fit is counted at its end.
    """
    lost = [word for word in dict.fromkeys(_telling(replaced)) if word not in summary]
    if not lost:
        return ""
    line, number = HEADING, 0
    for number, word in enumerate(lost):
        longer = f"{line}{',' if number else ''} {word}"
        if len(longer) > MOST - len(_left_out(len(lost))):
            return line + _left_out(len(lost) - number)
        line = longer
    return line


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
