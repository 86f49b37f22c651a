"""What a Google-style docstring says of a function and its arguments."""

from __future__ import annotations

import re

_SECTION = re.compile(r"^(Args|Arguments|Parameters):\s*$", re.MULTILINE)
_ENTRY = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")


def summary(docstring: str) -> str:
    """Return the first paragraph on one line."""
    return " ".join(docstring.strip().split("\n\n", 1)[0].split())


def argument_descriptions(docstring: str) -> dict[str, str]:
    """Return what the section `Args:` says of each argument, on one line each.

    Args:
        docstring: As `inspect.getdoc` gives it, that is, without the common indentation.
    """
    section = _SECTION.search(docstring)
    if section is None:
        return {}
    told: dict[str, list[str]] = {}
    indent, name = 0, ""
    for line in docstring[section.end() :].splitlines():
        blanks = len(line) - len(line.lstrip())
        if line.strip() and not blanks:
            break
        entry = _ENTRY.match(line.strip())
        indent = indent or blanks
        if entry and blanks == indent:
            name = entry[1]
            told[name] = [entry[2]]
        elif name and line.strip():
            told[name].append(line.strip())
    return {name: " ".join(lines).strip() for name, lines in told.items()}
