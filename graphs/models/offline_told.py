"""What a tool answered with data, told in words: its own names and values, nothing added."""

from __future__ import annotations

import json
from typing import Any

_MOST = 12
"""Items of a list that are told."""


def told(tool: str, result: str) -> str:
    """Tell a result: text as it is, data as names and values.

    Args:
        tool: The tool's name.
        result: Its result.
    """
    try:
        value = json.loads(result)
    except ValueError:
        return result
    if not isinstance(value, dict):
        return f"{tool}: {_inline(value)}."
    plain = [f"{_words(k)} {_inline(v)}" for k, v in value.items() if not _is_list(v)]
    lines = [f"{tool}: {', '.join(plain)}." if plain else f"{tool}:"]
    for name, items in value.items():
        if _is_list(items):
            lines.append(f"{_words(name)}: {len(items) or 'none'}")
            lines += [f"- {_inline(item)}" for item in items[:_MOST]]
            lines += [f"- and {len(items) - _MOST} more"] * (len(items) > _MOST)
    return "\n".join(lines)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{_words(name)} {_inline(item)}" for name, item in value.items())
    if isinstance(value, list):
        return "; ".join(map(_inline, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value).rstrip(".")


def _words(name: str) -> str:
    return name.replace("_", " ")
