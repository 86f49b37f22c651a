"""Passwords told in a sentence without spaces: `密码是hunter2`, `パスワードはhunter2です`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.redaction_rules import Span, rule
from tools.secret_words import UNSPACED

_VALUE = "[!#$%*+./0-9:=?@A-Z^_a-z|~-]"
"""What follows without a space and is none of these may be more of the sentence."""

_TOLD = rf"(?:{'|'.join(UNSPACED)})[ \t]{{0,3}}[是为為は은는][ \t]{{0,3}}"
_PATTERN = re.compile(rf"{_TOLD}({_VALUE}{{4,}})")


def _spans(text: str, start: int) -> Iterator[Span]:
    for match in _PATTERN.finditer(text, start):
        if any(map(str.isdigit, match[1])):
            yield match.start(), *match.span(1)


TOLD_RULE = rule("credential", _TOLD, _spans, rf"{_TOLD}{_VALUE}{{4,}}")
