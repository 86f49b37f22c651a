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
        self._first: dict[str, int] = {}
        self._further: dict[str, int] = {}
        for number, piece in enumerate(vocabulary):
            if piece.startswith(_CONTINUED):
                self._further[piece.removeprefix(_CONTINUED)] = number
            else:
                self._first[piece] = number
        self._longest = max(map(len, [*self._first, *self._further]), default=0)

    def whole(self, word: str) -> bool:
        """Whether a word is a piece of its own, as every common word is."""
        return word in self._first

    def cut(self, word: str) -> list[int]:
        """Return the ids of a word's pieces; none if it has a character that no piece has."""
        known = self._first
        if (whole := known.get(word)) is not None:
            return [whole]
        pieces: list[int] = []
        start, end = 0, len(word)
        if end > _LONGEST:
            return pieces
        while start < end:
            for stop in range(min(end, start + self._longest), start, -1):
                found = known.get(word[start:stop])
                if found is not None:
                    pieces.append(found)
                    start, known = stop, self._further
                    break
            else:
                return []
        return pieces
