"""The texts of a tool that are searched: name, description, parameters, what is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

FIELDS: Final = ("name", "description", "parameters", "details")


class Described(Protocol):
    """What can be ranked; a `tools.Contract` is one."""

    @property
    def name(self) -> str:
        """Unique in its catalog."""
        ...

    @property
    def description(self) -> str:
        """When to use it."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON schema of its arguments."""
        ...


def texts(tools: Iterable[Described]) -> list[str]:
    """Return the texts of tools, one a field, one tool behind the other.

    Of a schema they are the names of its parameters, and what is said of them.
    """
    found: list[str] = []
    for tool in tools:
        names: list[str] = []
        details: list[str] = []
        _read(tool.parameters, names, details, 0)
        found += (tool.name, tool.description, " ".join(names), " ".join(details))
    return found


_DEEPEST: Final = 4


def _read(schema: Any, names: list[str], details: list[str], depth: int) -> None:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for name, inner in properties.items():
            names.append(str(name))
            if isinstance(inner, dict):
                if isinstance(said := inner.get("description"), str):
                    details.append(said)
                if isinstance(allowed := inner.get("enum"), list):
                    details += [value for value in allowed if isinstance(value, str)]
                if "properties" in inner or "items" in inner:
                    _read(inner, names, details, depth + 1)
    if "items" in schema:
        _read(schema["items"], names, details, depth + 1)
