r"""Values of credentials whose name is set off by markup, or stands in another line than they do.

`**Password:** x`, `- **API key**: x`, `<b>Token:</b> x`, `Password (admin): x` and
`<td>Password</td><td>x</td>` have marks between name and value; `password: |` has the value below
it, as pretty JSON may; `<input name="password" value="x">` has both in attributes. As without
markup, a bare value must look like one (digits, signs) or be alone on its line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from tools.named_secrets import NAME, any_of, is_no_value, is_telling
from tools.redaction_rules import REDACTED, Rule, Span, rule
from tools.secret_names import is_field, is_secret_name

_TAG = (
    r"</?(?:b|strong|i|em|u|s|code|kbd|tt|pre|samp|mark|small|font|span|label|p|div|li|ul|br|h[1-6]"
    r"|d[ltd]|t[rdh])(?:\s[^<>\n]{0,100})?/?>"
)
_COLON = "[:=\uff1a\uff1d]"
_ASIDE = r"[ \t]{1,2}\([^()\n]{1,40}\)"
_MARK = "[*_`~]"
_LEAD = rf"[ \t]{{0,2}}(?:{_COLON}[ \t]{{0,2}})?"
_GAP = rf"(?:{_TAG}|{_MARK}|[\s:=\uff1a\uff1d]){{1,16}}+"
_BARE = r"[^\s\"'<>(){}\[\]|`,;&]+"
_TAGS = "input|param|property|add|meta|entry|setting|option|field|variable|env"
_ELEMENT = rf"<(?:{_TAGS})\b(?:[^<>\"'\n]|\"[^\"\n]*\"|'[^'\n]*')*+"
_ATTRIBUTE = re.compile(
    r"(?<![\w-])(?P<name>[A-Za-z][\w-]{0,20})\s?=\s?(?:\"(?P<a>[^\"\n]*)\"?|'(?P<b>[^'\n]*)'?)"
)
_NAMING = frozenset(("name", "id", "key", "type", "placeholder"))
_VALUES = frozenset(("value", "content", "val"))
_NEAR = 120
_NAME_LOOK = 40
_NAME_BEFORE = re.compile(r"[\w-]*\Z")
_CELL = re.compile(r"</(?:td|th|dt)>\s{0,40}<(?:td|dd)\b[^<>]{0,100}>", re.IGNORECASE)
_COLONS, _TAGGED = re.compile(_COLON), re.compile(_TAG, re.IGNORECASE)
_HEAD = re.compile("</(?:th|dt)", re.IGNORECASE)
_DIGIT = re.compile("[0-9]")
_AROUND = re.compile(rf"(?:{_TAG}|[\s#>*_~\"'`|+.!?:-]|[0-9]{{1,3}}[.)])*", re.IGNORECASE)
_BLOCK = r"[ \t]{0,3}:[ \t]{0,3}[|>][-+0-9]{0,2}[ \t]{0,40}(?:#[^\n]*)?\r?\n"
_LINES = r"(?:[ \t][^\n]*+\n|\r?\n)*+(?:[ \t][^\n]*+)?"


def marked_rule(kind: str, fields: Collection[str] | None = None) -> Rule:
    """Make the rule for values that markup or a line's end keeps apart from their names.

    Args:
        kind: What is counted.
        fields: Names as `plain_name` gives them; None takes the names of credentials.
    """
    names = NAME if fields is None else any_of(fields)
    held = None if fields is None else frozenset(fields)
    apart = rf"(?:{_ASIDE}[ \t]{{0,2}}{_COLON}|{_LEAD}(?:{_MARK}|{_TAG}))"
    quoted = r"\"(?P<quoted>(?:[^\"\\\n]|\\.)*)"
    found = _Finder(
        re.compile(
            rf"(?P<name>{names})(?:(?={apart})(?P<aside>{_ASIDE})?(?P<gap>{_GAP})"
            rf"(?:[\"'](?P<held>[^\"'\n]+)[\"']|(?P<bare>{_BARE}))"
            rf"|[\"']?(?P<block>{_BLOCK})(?=[ \t]|\r?\n)|[\"']\s{{0,40}}:\s{{0,80}}{quoted})",
            re.IGNORECASE,
        ),
        held,
    )
    hint = (
        rf"(?i:{names})([ \t:=\uff1a\uff1d]{{0,5}}[*_`~<(]|[\"']?[ \t]{{0,3}}:[ \t]{{0,3}}[|>]"
        rf"|[\"']\s{{0,40}}:\s{{0,80}}\")|(?i:<({_TAGS})\s)"
    )
    watch = (
        rf"(?:(?i:{names})(?:(?i:{apart})(?:(?i:{_TAG})|{_MARK}|[\s:=\uff1a\uff1d]){{0,16}}[^\n]*"
        rf"|[\"']?{_BLOCK}{_LINES}|[\"']\s{{0,40}}:\s{{0,80}}\"(?:[^\"\\\n]|\\.)*)"
        rf"|(?i:{_ELEMENT})(?:[\"'][^\n]*)?)"
    )
    return rule(kind, hint, found.spans, watch)


class _Finder:
    """Finds the values in a text.

    Args:
        pattern: Of a name and what follows it.
        fields: The names; None takes those of credentials.
    """

    def __init__(self, pattern: re.Pattern[str], fields: Collection[str] | None) -> None:
        self._pattern, self._fields = pattern, fields
        self._element = re.compile(_ELEMENT, re.IGNORECASE)

    def spans(self, text: str, start: int) -> Iterator[Span]:
        """Yield where the values are, from a position on."""
        position = start
        while match := self._pattern.search(text, position):
            span = self._value(text, match)
            position = match.end("name") if span is None else span[1]
            if span is not None:
                yield match.start(), *span
        if "<" in text:
            for element in self._element.finditer(text, start):
                for begin, end in self._attributes(text, element):
                    yield element.start(), begin, end

    def _is_one(self, name: str) -> bool:
        return is_secret_name(name) if self._fields is None else is_field(name, self._fields)

    def _value(self, text: str, match: re.Match[str]) -> tuple[int, int] | None:
        """Return where the value behind a name is; None: there is none."""
        look = max(0, match.start() - _NAME_LOOK)
        before = _NAME_BEFORE.search(text, look, match.start())
        start = before.start() if before else match.start()
        if not self._is_one(text[start : match.end("name")]):
            return None
        if match["block"]:
            return _block(text, start, match.end("block"))
        if match["quoted"] is not None:
            return _shown(match, "quoted")
        gap = match["gap"]
        cell = _CELL.search(gap)
        if cell is None and (gap.count("\n") > 1 or not _COLONS.search(_TAGGED.sub("", gap))):
            return None
        if match["held"] is not None:
            return _shown(match, "held") if is_telling(match["held"]) else None
        value = match["bare"].rstrip("*_~.!?:")
        begin, end = match.start("bare"), match.start("bare") + len(value)
        if cell is None:
            told = is_telling(value) or _is_alone(text, start, end)
        else:
            digits = is_telling(value) and _DIGIT.search(value) is not None
            told = text[end : end + 1] in {"<", ""} and (digits or bool(_HEAD.match(cell[0])))
        return (begin, end) if value and told and not is_no_value(value) else None

    def _attributes(self, text: str, element: re.Match[str]) -> Iterator[tuple[int, int]]:
        """Yield the values of an element that its name says to hide."""
        found = list(_ATTRIBUTE.finditer(text, *element.span()))
        naming = ((a["a"] or a["b"] or "") for a in found if a["name"].lower() in _NAMING)
        if any(map(self._is_one, naming)):
            for one in found:
                group = "a" if one["a"] is not None else "b"
                if one["name"].lower() in _VALUES and (span := _shown(one, group)):
                    yield span


def _shown(match: re.Match[str], group: str) -> tuple[int, int] | None:
    return match.span(group) if match[group] and match[group] != REDACTED else None


def _block(text: str, name: int, place: int) -> tuple[int, int] | None:
    """Return where a YAML block is that a name stands over: lines as deep as its first."""
    line = text[max(text.rfind("\n", 0, name) + 1, name - _NEAR) : name]
    if "|" in line:  # a row of a table
        return None
    least = len(line) - len(line.lstrip(" \t")) + 1
    begin = end = -1
    while place < len(text):
        stop = text.find("\n", place)
        stop = stop if stop >= 0 else len(text)
        held = text[place:stop]
        if bare := held.strip():
            depth = len(held) - len(held.lstrip(" \t"))
            if depth < least:
                break
            if begin < 0:
                least, begin = depth, place + depth
            end = place + depth + len(bare)
        place = stop + 1
    return (begin, end) if begin >= 0 and text[begin:end] != REDACTED else None


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether name and value have a line of their own, but for markup."""
    near = text[max(0, start - _NEAR) : start]
    if "\n" not in near and start > _NEAR:
        return False
    after, _, rest = text[end : end + _NEAR].partition("\n")
    if len(after) == _NEAR and not rest:
        return False
    return all(_AROUND.fullmatch(part) for part in (near.rpartition("\n")[2], after))
