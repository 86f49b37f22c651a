"""Where a tool's description is written: the tools file and its table, or the function's lines."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Sequence
from pathlib import Path

from tools.contract import Contract


def places(file: Path, tools: Sequence[Contract]) -> dict[str, str]:
    """Return, for each tool of a tools file, the file and the table or function to edit."""
    sections = tomllib.loads(file.read_text(encoding="utf-8"))
    tables = {
        name: (section, table) for section in sections for name, table in sections[section].items()
    }
    found: dict[str, str] = {}
    for tool in tools:
        section, table = tables.get(tool.name, ("", {}))
        written = f"{file}: [{section}.{tool.name}]" if section else str(file)
        if section and "description" in table:
            found[tool.name] = f"{written} description"
        else:
            found[tool.name] = _function(tool) or written
    return found


def _function(tool: Contract) -> str | None:
    code = inspect.unwrap(tool.source.code[0]) if tool.source.code else None
    code = getattr(code, "func", None) or getattr(code, "coroutine", None) or code
    if not inspect.isfunction(code):
        return None
    try:
        _, line = inspect.getsourcelines(code)
        return f"{inspect.getsourcefile(code)}:{line}: {code.__qualname__}"
    except (OSError, TypeError):
        return None
