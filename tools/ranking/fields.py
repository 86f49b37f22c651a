"""The three texts of a tool that are searched: its name, its description, its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, Protocol

FIELDS: Final = ("name", "description", "parameters")


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


class Texts(NamedTuple):
    """A tool's texts, one a field."""

    name: str
    description: str
    parameters: str


def texts(tool: Described) -> Texts:
    """Return the texts of a tool; of a schema the names and descriptions, nested ones too."""
    return Texts(tool.name, tool.description, " ".join(_schema_texts(tool.parameters, 0)))


_DEEPEST: Final = 4


def _schema_texts(schema: Any, depth: int) -> Iterator[str]:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        yield str(name)
        if isinstance(inner, Mapping):
            if isinstance(said := inner.get("description"), str):
                yield said
            yield from _schema_texts(inner, depth + 1)
    yield from _schema_texts(schema.get("items"), depth + 1)
