"""Passwords in the short options of commands, where it is known what `-p` and `-u` mean.

`-p` is a port, a path or a project for most programs: only behind `sshpass`, the clients of MySQL
(`-phunter2`, in one word), or a user's name (`-u ann -p hunter2`) does it hold a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.redaction_rules import REDACTED, Span, rule

_VALUE = r"[\"']?(?P<value>[^\s\"'$<-][^\s\"']*)"
_LINE = r"[^\n]{0,200}?"
_COMMANDS = (
    rf"\bsshpass\s{{1,3}}-p\s{{0,3}}{_VALUE}",
    rf"\bmysql[a-z]{{0,10}}\s(?:{_LINE}\s)?-p{_VALUE}",
    rf"(?<!\S)(?:-u|--user(?:name)?)[ =]\S{{1,100}}\s{{1,3}}-p\s{{1,3}}{_VALUE}",
    rf"\bcurl\s(?:{_LINE}\s)?(?:-u|--user)[ =]?[\"']?[^\s:\"']{{1,100}}:{_VALUE}",
)
_PATTERNS = tuple(re.compile(command) for command in _COMMANDS)
_PORTS = re.compile(r"[0-9.:/]*(?:tcp|udp)?")


def _spans(text: str, start: int) -> Iterator[Span]:
    for pattern in _PATTERNS:
        for match in pattern.finditer(text, start):
            if match["value"] != REDACTED and not _PORTS.fullmatch(match["value"]):
                yield match.start(), *match.span("value")


COMMAND_RULE = rule(
    "credential",
    r"sshpass\s|\bmysql[a-z]*\s[^\n]*-p|-p\s|\bcurl\s[^\n]*-(u|-user)",
    _spans,
    rf"(?:{'|'.join(command.replace('?P<value>', '?:') for command in _COMMANDS)})",
)
