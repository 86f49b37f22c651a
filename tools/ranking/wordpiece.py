"""WordPiece: a word cut into the pieces that the tables of meaning know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_LONGEST: Final = 64
_CONTINUED: Final = "##"


class WordPiece:
    """Cuts folded words greedily into the longest known pieces, as BERT's tokenizer does.

    Args:
        vocabulary: The pieces, in the order of their ids; `##` marks one that continues a word.
    """

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._ids = {piece: number for number, piece in enumerate(vocabulary)}

    def whole(self, word: str) -> bool:
        """Whether a word is a piece of its own, as every common word is."""
        return word in self._ids

    def cut(self, word: str) -> list[int]:
        """Return the ids of a word's pieces; none if it has a character that no piece has."""
        pieces: list[int] = []
        start, end = 0, len(word)
        if end > _LONGEST:
            return pieces
        while start < end:
            mark = _CONTINUED if start else ""
            for stop in range(end, start, -1):
                found = self._ids.get(mark + word[start:stop])
                if found is not None:
                    pieces.append(found)
                    start = stop
                    break
            else:
                return []
        return pieces
