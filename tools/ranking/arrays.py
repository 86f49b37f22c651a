"""Arrays: their types, one that grows, and sums of rows."""

from __future__ import annotations

from typing import Any, Final, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32]
Flags: TypeAlias = NDArray[np.bool_]

Number = TypeVar("Number", bound=np.generic)

_AT_ONCE: Final = 1_024
"""Sums that are made together: few enough to stay in the processor's cache."""


class Growing(Generic[Number]):
    """An array that rows are appended to, with room to spare."""

    def __init__(self, empty: NDArray[Number]) -> None:
        self._rows = empty
        self._used = len(empty)

    def __len__(self) -> int:
        return self._used

    @property
    def rows(self) -> NDArray[Number]:
        """What has been appended so far; a view."""
        return self._rows[: self._used]

    def append(self, rows: NDArray[Number]) -> None:
        """Append rows."""
        end = self._used + len(rows)
        if end > len(self._rows):
            room: Any = np.zeros((end + end // 8 + 64, *self._rows.shape[1:]), self._rows.dtype)
            room[: self._used] = self.rows
            self._rows = room
        self._rows[self._used : end] = rows
        self._used = end

    def keep(self, places: Ints) -> None:
        """Drop every row but these."""
        self._rows = self._rows[places]
        self._used = len(places)


def sums(rows: Floats, places: Ints, lengths: Ints) -> Floats:
    """Return one sum of rows a group.

    Args:
        rows: What is added up.
        places: Of rows, one group after the other, in the order in which they are added.
        lengths: How many places each group has; 0 makes a sum of zeros.
    """
    made = np.zeros((len(lengths), rows.shape[1]), np.float32)
    starts = np.cumsum(lengths) - lengths
    for begin in range(0, len(lengths), _AT_ONCE):
        group = slice(begin, begin + _AT_ONCE)
        made[group] = _sums(rows, places, starts[group], lengths[group])
    return made


def _sums(rows: Floats, places: Ints, starts: Ints, lengths: Ints) -> Floats:
    # The first row of every group, then the second of those that have one, and so on.
    order = np.argsort(-lengths, kind="stable")
    starts, falling = starts[order], -lengths[order]
    total = np.zeros((len(lengths), rows.shape[1]), np.float32)
    for turn in range(int(lengths.max(initial=0))):
        longer = int(np.searchsorted(falling, -turn, side="left"))
        total[:longer] += rows[places[starts[:longer] + turn]]
    made = np.empty_like(total)
    made[order] = total
    return made
