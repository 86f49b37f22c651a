r"""Values in the columns of a table that a header names: Markdown, CSV, and tabs.

    | user | password |        email,password          password<TAB>hunter2
    |------|----------|        a@b.example,hunter2
    | ann  | hunter2  |

A header is a line whose cells are short names, one of them that of a secret, and each row below it
has as many cells; one in quotes may go on over lines. Under `token` and `key` stands much that is
none, so there a value has a digit and is one word; under `password` it is a word, or words that
explain nothing. A row of two cells, a name and a value with a digit, needs no header. A column that
is the only one begins a text or a block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import replace
from typing import NamedTuple, cast

from tools.named_secrets import NAME, any_of
from tools.passphrases import is_passphrase
from tools.redaction_rules import REDACTED, Rule, Span, rule
from tools.secret_names import is_field, is_secret_name
from tools.secret_words import WORDS
from tools.table_cells import EDGE, Cell, line_end, quoted_end, row_at

_SIGNS = "|\t,;"
_CELL_NAME = re.compile(r"[^\W\d_](?:[\w ./()-]{0,38}[\w)])?")
_RULER = re.compile(r"[\s|:+-]*-[\s|:+-]*")
_SEVERAL_WORDS = re.compile(
    rf"{WORDS}|(?:new|old|current|initial|temporary|user|login|account|admin|root|database|db|wi-?fi|access"
    r"|refresh|bearer|client|app|auth|api|secret|private|signing|encryption|master|session)[ _-]"
    r"(?:pass[_-]?(?:word|phrase|code)|token|secret|key)",
    re.IGNORECASE,
)
_PASSWORD = re.compile(rf"pass|pwd|secret|{WORDS}", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*/?>|\n", re.IGNORECASE)
_NO_VALUES = frozenset(
    (
        *("", "-", "--", "n/a", "none", "null", "nil", "true", "false", "yes", "no", "string"),
        *("text", "varchar", "char", "required", "optional", "bool", "int", "any", "str"),
    )
)
_LONE = re.compile(rf"[{EDGE}]{{0,4}}[^\s{EDGE}](?:.*[^\s{EDGE}])?[{EDGE}]{{0,4}}\r?")
_CODE = re.compile(r"[A-Z]{1,5}-[0-9]+")
_TELLING = 4


def table_rule(kind: str, fields: Collection[str] | None = None) -> Rule:
    """Make the rule for columns of names: those of credentials, or the fields given.

    Args:
        kind: What is counted.
        fields: Names as `plain_name` gives them; None takes the names of credentials.
    """
    names = NAME if fields is None else any_of(fields)
    cell = rf"[{EDGE}]{{0,4}}[^\n{_SIGNS}]{{0,40}}?(?i:{names})[{EDGE}]{{0,4}}"
    hint = rf"(^|[\n:\[{_SIGNS}]){cell}[\r\n\]}}{_SIGNS}]"
    row = rf"(?:[^\n{_SIGNS}]*+[{_SIGNS}][^\n]*+\n)*+[^\n]*+"
    # Prose has commas behind any words; a name that commas are about is one word.
    word, words = r"[\w-]{0,40}", r"[\w -]{0,40}"
    kept = names.replace("%", "%%")
    first = rf"(?<=(?:^|[\n{_SIGNS}])[{EDGE}]{{0,4}}%s)(?i:{kept})[{EDGE}]{{0,4}}[%s]"
    last = rf"(?<=[%s][{EDGE}]{{0,4}}%s)(?i:{kept})[{EDGE}]{{0,4}}\r?\n{row}"
    alone = rf"(?<=(?:^|\n)[{EDGE}]{{0,4}}{words})(?i:{names})[{EDGE}]{{0,4}}\r?\n"
    watch = (
        rf"(?:{alone}|(?:{first % (word, ',;')}|{first % (words, '|' + chr(9))})[^\n]*+(?:\n{row})?"
        rf"|{last % (',;', word)}|{last % ('|' + chr(9), words)})"
    )
    begins = re.compile(rf"[\w -]{{0,40}}?(?P<name>{names})", re.IGNORECASE)
    hides = _hides(fields)

    def find(text: str, start: int) -> Iterator[Span]:
        yield from _walk(text, start, begins, hides)

    def undecided(text: str, start: int) -> int:
        walk = _walk(text, start, begins, hides)
        while True:
            try:
                next(walk)
            except StopIteration as end:
                return cast("int", end.value)

    return replace(rule(kind, hint, find, watch), undecided=undecided)


def _hides(fields: Collection[str] | None) -> Callable[[str], bool]:
    if fields is not None:
        return lambda name: is_field(name, fields)
    return lambda name: (
        is_secret_name(name) and (" " not in name or bool(_SEVERAL_WORDS.fullmatch(name)))
    )


def _walk(
    text: str, start: int, begins: re.Pattern[str], hides: Callable[[str], bool]
) -> Generator[Span, None, int]:
    """Yield the spans of a text; return from where on what follows may decide, or its end."""
    place, decided = text.rfind("\n", 0, start) + 1, len(text)
    while place < len(text):
        stop = line_end(text, place)
        line = text[place:stop]
        sign = next((sign for sign in _SIGNS if sign in line), "")
        if not sign:
            cell = row_at(text, place, "\n").cells[0]
            anchor = _anchor(cell, begins, "\n") if _LONE.fullmatch(line) else -1
            place = stop + 1
            if hides(cell.text) and anchor >= start and _is_first(text, stop - len(line)):
                place, is_open = yield from _column(text, anchor, place)
                decided = min(decided, anchor) if is_open else decided
            continue
        cells, place = row_at(text, place, sign).cells, stop + 1
        found = {
            column: (anchor, cell.text)
            for column, cell in enumerate(cells)
            if hides(cell.text) and (anchor := _anchor(cell, begins, sign)) >= start
        }
        prose = sign in ",;" and f"{sign} " in line
        pair = len(cells) == 2 and 0 in found and not prose  # noqa: PLR2004 - what a pair is
        if pair and _is_pair(cells[1].text, cells[0].text):
            yield found[0][0], cells[1].start, cells[1].end
        elif found and (len(cells) > 1 or sign == "|") and all(map(_is_name, cells)):
            table = _Table(sign, len(cells), found, sure=not prose)
            place, is_open = yield from table.rows(text, place)
            if is_open:
                decided = min(decided, *(anchor for anchor, _ in found.values()))
    return decided


def _is_name(cell: Cell) -> bool:
    return _CELL_NAME.fullmatch(cell.text) is not None


class _Table(NamedTuple):
    """A table below its header: sign, width, and the hidden columns with anchors and names."""

    sign: str
    width: int
    columns: dict[int, tuple[int, str]]
    sure: bool

    def rows(self, text: str, place: int) -> Generator[Span, None, tuple[int, bool]]:
        """Yield what is hidden in its rows; return where it ends, and whether it may go on."""
        may_go_on = False
        while place < len(text):
            stop = line_end(text, place)
            if self.sign == "|" and "+" in text[place:stop] and _RULER.fullmatch(text[place:stop]):
                place = stop + 1  # as consoles of databases draw it
                continue
            cells, stop, is_open = row_at(text, place, self.sign)
            may_go_on = may_go_on or is_open
            if len(cells) < self.width or (self.width == 1 and self.sign not in text[place:stop]):
                return place, may_go_on or stop == len(text)
            if not _RULER.fullmatch(text[place:stop]):
                for column, (anchor, name) in self.columns.items():
                    if _is_value(cells[column].text, name, sure=self.sure):
                        yield anchor, cells[column].start, cells[column].end
            place = stop + 1
        return place, True


def _is_first(text: str, place: int) -> bool:
    """Whether the line at a place may be the first of a file: behind a blank, `:` or a fence."""
    before = text[text.rfind("\n", 0, max(place - 1, 0)) + 1 : place].strip()
    return not before or before.endswith(":") or before.startswith("```")


def _column(text: str, anchor: int, place: int) -> Generator[Span, None, tuple[int, bool]]:
    """Yield the values of the one column of a table, if one of them has a digit.

    Labels of a form and lists of names stand in lines like these, too.

    Returns:
        Where it ends, and whether it may go on.
    """
    values: list[Cell] = []
    may_go_on = ends = False
    while place < len(text):
        (cell, *_), stop, is_open = row_at(text, place, "\n")
        may_go_on = may_go_on or is_open or stop == len(text)
        ends = not cell.text or (" " in cell.text and quoted_end(text, place, "\n") <= 0)
        if ends:
            break
        values.append(cell)
        place = stop + 1
    if any(map(_tells_alone, (cell.text for cell in values))):
        for cell in values:
            if cell.text.lower() not in _NO_VALUES and cell.text != REDACTED:
                yield anchor, cell.start, cell.end
    return place, may_go_on or not ends


def _anchor(cell: Cell, begins: re.Pattern[str], sign: str) -> int:
    """Return where in a cell the name begins that it is known by; -1: it is no name there."""
    match = begins.fullmatch(cell.text)
    if match is None or (sign in ",;" and " " in cell.text[: match.start("name")]):
        return -1
    return cell.start + match.start("name")


def _tells_alone(value: str) -> bool:
    """Whether a value tells by itself that the column is one of secrets; `E-4042` is a code."""
    digits = any(map(str.isdigit, value))
    return len(value) >= _TELLING and digits and not _CODE.fullmatch(value.rstrip(".,;:!?()"))


def _is_pair(value: str, name: str) -> bool:
    """Whether what stands beside a name in a row of two, without a header, is to be hidden."""
    if value == REDACTED:
        return False
    words = value.count(" ") + 1
    long = words >= _TELLING and bool(_PASSWORD.search(name)) and is_passphrase(value)
    return long or any(_is_telling(part.strip()) for part in _BREAK.split(value))


def _is_value(value: str, name: str, *, sure: bool) -> bool:
    """Whether what stands below a name is to be hidden; `sure`: that it is a table."""
    if value.lower() in _NO_VALUES or value == REDACTED:
        return False
    if not is_secret_name(name):  # a field of the tools file
        return True
    parts = [part.strip(EDGE) for part in _BREAK.split(value)]
    if any(map(_is_telling, parts)):
        return True
    if not sure or not _PASSWORD.search(name):
        return False
    return all(" " not in part or is_passphrase(part) for part in parts)


def _is_telling(value: str) -> bool:
    return len(value) >= _TELLING and " " not in value and any(map(str.isdigit, value))
