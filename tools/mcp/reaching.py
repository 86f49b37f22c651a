"""How a server is reached: the keys of its table that say so, with `${NAME}` filled in."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tools.errors import ToolsFileError
from tools.redact import is_secret_name, redact

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_SCHEME = re.compile(r"(?:Bearer|Basic|Token)?\s*", re.IGNORECASE)
_SECRET_LENGTH = 6
"""Characters that make a secret: to take shorter values out of a text would spoil it."""


def read_connection(
    file: Path, where: str, table: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a connection as langchain-mcp-adapters takes it, and the secrets in it.

    Args:
        file: The tools file; `cwd` is read from its folder.
        where: The table's name, for errors.
        table: With either `command` or `url`, its keys checked.

    Raises:
        ToolsFileError: A variable is not set, a secret stands in the file, or the address is none.
    """
    variables = _Variables(file, where)
    read = _stdio if "command" in table else _http
    return read(file, where, table, variables), tuple(variables.secrets)


class _Variables:
    """Fills in `${NAME}` from the environment, and remembers the values, for they are secrets."""

    def __init__(self, file: Path, where: str) -> None:
        self._file, self._where = file, where
        self.secrets: list[str] = []

    def fill(self, key: str, text: str, *, named: str = "") -> str:
        """Fill in a text.

        Args:
            key: Where it stands, for an error.
            text: The text.
            named: The variable or the header that it is the value of.
        """
        bare = _VARIABLE.sub("", text)
        if redact(bare) != bare or (is_secret_name(named) and not _SCHEME.fullmatch(bare)):
            reason = f"{key} holds a secret: keep it in the environment, and write ${{NAME}} here"
            raise ToolsFileError(self._file, reason, self._where)
        return _VARIABLE.sub(lambda match: self._value(key, match[1]), text)

    def _value(self, key: str, name: str) -> str:
        found = os.environ.get(name)
        if not found:
            reason = f"{key} needs the environment variable {name!r}, which is not set"
            raise ToolsFileError(self._file, reason, self._where)
        if len(found) >= _SECRET_LENGTH:
            self.secrets.append(found)
        return found


def _stdio(file: Path, where: str, table: Mapping[str, Any], given: _Variables) -> dict[str, Any]:
    if not table["command"].strip():
        raise ToolsFileError(file, "command must name a program", where)
    env = table.get("env", {})
    return {
        "transport": "stdio",
        "command": os.path.expanduser(given.fill("command", table["command"])),  # noqa: PTH111 - a Path would make ./x an x, which is searched for
        "args": [given.fill("args", text) for text in table.get("args", ())],
        "env": {key: given.fill(f"env.{key}", text, named=key) for key, text in env.items()},
        "cwd": str(
            file.resolve().parent / Path(given.fill("cwd", table.get("cwd", "."))).expanduser()
        ),
    }


def _http(file: Path, where: str, table: Mapping[str, Any], given: _Variables) -> dict[str, Any]:
    url = given.fill("url", table["url"])
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ToolsFileError(
            file, "url must be an address that begins with http:// or https://", where
        )
    headers = table.get("headers", {})
    return {
        "transport": "streamable_http",
        "url": url,
        "headers": {
            key: given.fill(f"headers.{key}", text, named=key) for key, text in headers.items()
        },
    }
