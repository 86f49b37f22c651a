r"""What is taken out beside credentials: the `[redaction]` table of a tools file.

[redaction]
fields = ["date_of_birth"]       # whatever stands behind these names
allow = ["*@globex.example"]     # never taken out: texts, with * for any letters

[redaction.patterns]             # RE2 syntax; the name is what is counted
ssn = '\b\d{3}-\d{2}-\d{4}\b'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tools.errors import ToolsFileError
from tools.own_rules import PatternError, own_rule
from tools.secret_names import plain_name
from tools.text import nearest

_KEYS = ("fields", "patterns", "allow")
_PATTERN_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_TABLE = "redaction"


@dataclass(frozen=True, slots=True)
class RedactionPolicy:
    """What a tools file says about redaction.

    Attributes:
        fields: Names whose values are taken out, as `plain_name` spells them.
        patterns: Names and RE2 patterns, of texts that are taken out.
        allow: Texts that stay, in lower case; `*` stands for any letters.
    """

    fields: frozenset[str] = frozenset()
    patterns: tuple[tuple[str, str], ...] = ()
    allow: tuple[str, ...] = ()

    def __or__(self, other: RedactionPolicy) -> RedactionPolicy:
        """Return what both take out; only what both allow stays."""
        if self == other:
            return self
        patterns = dict.fromkeys((*self.patterns, *other.patterns))
        allow = tuple(text for text in self.allow if text in other.allow)
        return RedactionPolicy(self.fields | other.fields, tuple(patterns), allow)


DEFAULT_POLICY = RedactionPolicy()


def read_policy(file: object, table: Any) -> RedactionPolicy:
    """Read the `[redaction]` table of a tools file; None: there is none.

    Raises:
        ToolsFileError: Anything is wrong with it: one line with file, table and reason.
    """
    if table is None:
        return DEFAULT_POLICY
    if not isinstance(table, Mapping):
        raise ToolsFileError(file, "must be a table", _TABLE)
    for key in table:
        if key not in _KEYS:
            near = nearest(key, _KEYS)
            hint = f"; did you mean {near!r}?" if near else f"; there are {', '.join(_KEYS)}"
            raise ToolsFileError(file, f"unknown key {key!r}{hint}", _TABLE)
    fields = [plain_name(name) for name in _texts(file, table, "fields")]
    if "" in fields:
        raise ToolsFileError(file, "fields must hold names of letters and digits", _TABLE)
    allow = tuple(text.lower() for text in _texts(file, table, "allow"))
    if any(not text.strip("*") for text in allow):
        raise ToolsFileError(file, "allow must not hold '*' alone: nothing would be hidden", _TABLE)
    return RedactionPolicy(frozenset(fields), _patterns(file, table.get("patterns", {})), allow)


def _texts(file: object, table: Mapping[str, Any], key: str) -> list[str]:
    texts = table.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(t, str) and t.strip() for t in texts):
        raise ToolsFileError(file, f"{key} must be a list of texts", _TABLE)
    return [text.strip() for text in texts]


def _patterns(file: object, table: Any) -> tuple[tuple[str, str], ...]:
    where = f"{_TABLE}.patterns"
    if not isinstance(table, Mapping):
        raise ToolsFileError(file, "must be a table of name = 'pattern'", where)
    for name, pattern in table.items():
        if not _PATTERN_NAME.fullmatch(name):
            raise ToolsFileError(file, f"{name!r} must be a name in lower case", where)
        if not isinstance(pattern, str):
            raise ToolsFileError(file, f"{name} must be text, a pattern", where)
        try:
            own_rule(name, pattern)
        except PatternError as exc:
            raise ToolsFileError(file, f"{name} {exc}", where) from None
    return tuple(table.items())
