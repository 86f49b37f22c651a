r"""Values in the columns of a table that a header names: Markdown, CSV, and lists of lists.

    | user | password |        email,password          password<TAB>hunter2
    |------|----------|        a@b.example,hunter2
    | ann  | hunter2  |

A header is a line whose cells are short names, one of them that of a secret, and each row below it
has as many cells. Under `token` and `key` stands much that is none, so there a value has a digit;
under any of them it is one word. A row of two cells, a name and such a value, needs no header.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tools.named_secrets import NAME, any_of
from tools.redaction_rules import REDACTED, Rule, Span, rule
from tools.secret_names import is_field, is_secret_name

_SIGNS = "|\t,;"
_EDGE = " \"'`*"
_CELL_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9 _./()-]{0,38}[A-Za-z0-9_)])?")
_RULER = re.compile(r"[\s|:+-]*-[\s|:+-]*")
_TWO_WORDS = re.compile(
    r"(?:new|old|current|initial|temporary|user|login|account|admin|root|database|db|wi-?fi|access"
    r"|refresh|bearer|client|app|auth|api|secret|private|signing|encryption|master|session)[ _-]"
    r"(?:pass[_-]?(?:word|phrase|code)|token|secret|key)",
    re.IGNORECASE,
)
_PASSWORD = re.compile(r"pass|pwd|secret", re.IGNORECASE)
_NO_VALUES = frozenset(
    (
        *("", "-", "--", "n/a", "none", "null", "nil", "true", "false", "yes", "no", "string"),
        *("text", "varchar", "char", "required", "optional", "bool", "int", "any", "str"),
    )
)
_TELLING = 4


class _Cell(NamedTuple):
    """A cell of a line: what is in it, without blanks, quotes and emphasis, and where that is."""

    text: str
    start: int
    end: int


def table_rule(kind: str, fields: Collection[str] | None = None) -> Rule:
    """Make the rule for columns of names: those of credentials, or the fields given.

    Args:
        kind: What is counted.
        fields: Names as `plain_name` gives them; None takes the names of credentials.
    """
    names = NAME if fields is None else any_of(fields)
    cell = rf"[{_EDGE}]{{0,4}}[A-Za-z0-9_ -]{{0,40}}?(?i:{names})[{_EDGE}]{{0,4}}"
    hint = rf"(^|[\n:\[{_SIGNS}]){cell}[\r\n\]}}{_SIGNS}]"
    row = rf"(?:[^\n{_SIGNS}]*+[{_SIGNS}][^\n]*+\n)*+[^\n]*+"
    # Prose has commas behind any words; a name that commas are about is one word.
    word, words = r"[A-Za-z0-9_-]{0,40}", r"[A-Za-z0-9_ -]{0,40}"
    first = rf"(?<=(?:^|[\n{_SIGNS}])[{_EDGE}]{{0,4}}%s)(?i:{names})[{_EDGE}]{{0,4}}[%s]"
    last = rf"(?<=[%s][{_EDGE}]{{0,4}}%s)(?i:{names})[{_EDGE}]{{0,4}}\r?\n{row}"
    watch = (
        rf"(?:(?:{first % (word, ',;')}|{first % (words, '|' + chr(9))})[^\n]*+(?:\n{row})?"
        rf"|{last % (',;', word)}|{last % ('|' + chr(9), words)})"
    )
    begins = re.compile(rf"[A-Za-z0-9_ -]{{0,40}}?(?P<name>{names})", re.IGNORECASE)
    hides = _hides(fields)

    def find(text: str, start: int) -> Iterator[Span]:
        return _spans(text, start, begins, hides)

    return rule(kind, hint, find, watch)


def _hides(fields: Collection[str] | None) -> Callable[[str], bool]:
    if fields is not None:
        return lambda name: is_field(name, fields)
    return lambda name: (
        is_secret_name(name) and (" " not in name or bool(_TWO_WORDS.fullmatch(name)))
    )


def _spans(
    text: str, start: int, begins: re.Pattern[str], hides: Callable[[str], bool]
) -> Iterator[Span]:
    columns: dict[int, tuple[int, str]] = {}
    sign, width, prose = "", 0, False
    place = text.rfind("\n", 0, start) + 1
    while place < len(text):
        stop = text.find("\n", place)
        stop = stop if stop >= 0 else len(text)
        line, begin, place = text[place:stop], place, stop + 1
        if columns:
            cells = _cells(line, begin, sign)
            if len(cells) >= width:
                if not _RULER.fullmatch(line):
                    for column, (anchor, name) in columns.items():
                        if _is_value(cells[column].text, name, sure=not prose):
                            yield anchor, cells[column].start, cells[column].end
                continue
            columns = {}
        sign = next((sign for sign in _SIGNS if sign in line), "")
        if not sign:
            continue
        cells = _cells(line, begin, sign)
        found = {
            column: (anchor, cell.text)
            for column, cell in enumerate(cells)
            if hides(cell.text) and (anchor := _anchor(cell, begins, sign)) >= start
        }
        prose = sign in ",;" and f"{sign} " in line
        pair = len(cells) == 2 and 0 in found and not prose  # noqa: PLR2004 - what a pair is
        if pair and _is_telling(cells[1].text):
            yield found[0][0], cells[1].start, cells[1].end
        elif len(cells) > 1 and all(_CELL_NAME.fullmatch(cell.text) for cell in cells):
            columns, width = found, len(cells)


def _anchor(cell: _Cell, begins: re.Pattern[str], sign: str) -> int:
    """Return where in a cell the name begins that it is known by; -1: it is no name there."""
    match = begins.fullmatch(cell.text)
    if match is None or (sign in ",;" and " " in cell.text[: match.start("name")]):
        return -1
    return cell.start + match.start("name")


def _cells(line: str, begin: int, sign: str) -> list[_Cell]:
    """Split a line; the edges of a Markdown row make no cells."""
    cells: list[_Cell] = []
    place, end = 0, len(line.rstrip())
    if sign == "|":
        place = len(line) - len(line.lstrip())
        place += line[place : place + 1] == "|"
        end -= line[:end].endswith("|") and end > place
    while place <= end:
        stop = _cell_end(line, place, end, sign)
        text = line[place:stop]
        left = len(text) - len(text.lstrip(_EDGE))
        text = text.strip(_EDGE)
        cells.append(_Cell(text, begin + place + left, begin + place + left + len(text)))
        place = stop + 1
    return cells


def _cell_end(line: str, place: int, end: int, sign: str) -> int:
    if line[place : place + 1] == '"':  # a quoted cell may hold the sign
        close = line.find('"', place + 1, end)
        place = close if close >= 0 else place
    stop = line.find(sign, place, end)
    return stop if stop >= 0 else end


def _is_value(value: str, name: str, *, sure: bool) -> bool:
    """Whether what stands below a name is to be hidden; `sure`: that it is a table."""
    if value.lower() in _NO_VALUES or value == REDACTED:
        return False
    if not is_secret_name(name):  # a field of the tools file
        return True
    if " " in value:
        return False
    return (sure and bool(_PASSWORD.search(name))) or _is_telling(value)


def _is_telling(value: str) -> bool:
    return len(value) >= _TELLING and " " not in value and any(map(str.isdigit, value))


def columns_of(rows: Sequence[Any], hides: Callable[[str], bool]) -> dict[int, str]:
    """Return which columns of a list of lists the first one names as hidden; none: no table."""
    head = rows[0] if len(rows) > 1 else None
    if not isinstance(head, list | tuple) or not all(isinstance(name, str) for name in head):
        return {}
    if len(head) == 1 or not all(_is_row(row, len(head)) for row in rows[1:]):
        return {}
    return {column: name for column, name in enumerate(head) if hides(name)}


def _is_row(row: Any, width: int) -> bool:
    return isinstance(row, list | tuple) and len(row) == width


def split_table(fields: Mapping[Any, Any], hides: Callable[[str], bool]) -> dict[str, Any]:
    """Return the columns that `{"columns": [...], "rows": [[...]]}` hides, by where its rows are.

    A column may be a name, or a mapping that has one.
    """
    heads = (fields.get(key) for key in _HEADS if key in fields)
    head = next((head for head in heads if isinstance(head, list) and head), None)
    if head is None:
        return {}
    names = [name.get("name") if isinstance(name, Mapping) else name for name in head]
    hidden = {n: name for n, name in enumerate(names) if isinstance(name, str) and hides(name)}
    if not hidden:
        return {}
    return {
        key: hidden
        for key in _ROWS
        if isinstance(rows := fields.get(key), list) and all(_is_row(r, len(head)) for r in rows)
    }


_HEADS = ("columns", "headers", "header", "fields", "fieldnames")
_ROWS = ("rows", "data", "values", "records")


def headed(fields: Mapping[Any, Any], hides: Callable[[str], bool]) -> dict[str, str]:
    """Return by what name the value of `{"name": "password", "value": ...}` is known."""
    if "value" not in fields:
        return {}
    names = (fields.get(key) for key in ("name", "key", "field", "header"))
    return next(({"value": n} for n in names if isinstance(n, str) and hides(n)), {})
