"""The lines in which the rule-based model notes its progress, and reads it back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_SETTLED = re.compile(r"^\[x\] (.+?) => (.+)$")
_FOUND = re.compile(r'^- ([^\[\s]+)\[(.*)\] -> (".*")$')


def noted(text: str, answer: str | None) -> str:
    """Note a part of the question, with its answer where it has one."""
    return f"[x] {one_line(text)} => {one_line(answer)}" if answer else f"[ ] {one_line(text)}"


def settled_in(lines: Sequence[str]) -> dict[str, str]:
    """Return the parts that are answered, with their answers."""
    found = (_SETTLED.match(line) for line in lines)
    return {one.group(1): one.group(2) for one in found if one}


def recalled(lines: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the results that a summary kept: tool, input, and the beginning of the result."""
    results: list[tuple[str, str, str]] = []
    for line in lines:
        if found := _FOUND.match(line):
            name, text, quoted = found.groups()
            try:
                results.append((name, text, str(json.loads(quoted))))
            except ValueError:
                continue
    return results


def one_line(text: str) -> str:
    """Write a text on one line."""
    return " ".join(text.split())
