"""Splits the rows of tables in texts into cells: Markdown, CSV, tabs."""

from __future__ import annotations

from typing import NamedTuple

EDGE = " \"'`*\ufeff"
"""What may stand about what is in a cell."""


class Cell(NamedTuple):
    """A cell of a row: what is in it, without blanks, quotes and emphasis, and where that is."""

    text: str
    start: int
    end: int


def line_end(text: str, place: int) -> int:
    """Return where the line ends that goes on at a place."""
    end = text.find("\n", place)
    return end if end >= 0 else len(text)


class Row(NamedTuple):
    """The cells of a row, where it ends, and whether a quote in it may close beyond the text."""

    cells: list[Cell]
    stop: int
    is_open: bool


def row_at(text: str, place: int, sign: str) -> Row:
    """Split the row that begins at a place; the edges of a Markdown row make no cells.

    A cell in quotes may hold the sign and, but for Markdown, go on over lines.
    """
    cells: list[Cell] = []
    is_open = False
    stop = line_end(text, place)
    end = place + len(text[place:stop].rstrip())
    if sign == "|":
        place += len(text[place:end]) - len(text[place:end].lstrip())
        place += text[place : place + 1] == "|"
        end -= text[place:end].endswith("|")
    while place <= end:
        quoted = quoted_end(text, place, sign) if sign != "|" else 0
        is_open = is_open or quoted < 0
        if quoted > 0:
            cell_stop = quoted
            stop = line_end(text, quoted)
            end = quoted + len(text[quoted:stop].rstrip())
        else:
            cell_stop = _cell_end(text, place, end, sign)
        cells.append(_cell(text, place, cell_stop))
        place = cell_stop + 1
    return Row(cells, stop, is_open)


def quoted_end(text: str, place: int, sign: str) -> int:
    """Return where a cell ends whose quotes close before a sign or a line's end.

    0: there is no such cell; -1: nor is there, unless its quotes close where the text goes on.
    """
    if text[place : place + 1] != '"':
        return 0
    close = text.find('"', place + 1)
    while close >= 0 and text[close + 1 : close + 2] == '"':
        close = text.find('"', close + 2)
    if close < 0:
        return -1
    end = close + 1
    while text[end : end + 1] in {" ", "\r"}:
        end += 1
    return end if text[end : end + 1] in {sign, "\n", ""} else 0


def _cell_end(text: str, place: int, end: int, sign: str) -> int:
    if text[place : place + 1] == '"':
        close = text.find('"', place + 1, end)
        place = close if close >= 0 else place
    stop = text.find(sign, place, end)
    return stop if stop >= 0 else end


def _cell(text: str, start: int, stop: int) -> Cell:
    held = text[start:stop].strip()
    start = text.find(held, start)
    left = len(held) - len(held.lstrip(EDGE))
    held = held.strip(EDGE)
    return Cell(held, start + left, start + left + len(held))
