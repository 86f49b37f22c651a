"""Schemas that refer to themselves for the same value: no validator gets to an end with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tools.errors import ContractError
from tools.references import References


def check_loops(tool: str, schema: Mapping[str, Any]) -> None:
    """Refuse a schema a part of which applies itself to the very value that it is applied to.

    Validators follow it until the process has no stack left.

    Args:
        tool: What to call it in the error.
        schema: A schema of bounded depth that is well-formed.

    Raises:
        ContractError: It has such a part.
    """
    references = References(schema)
    done: set[int] = set()
    for part in _parts(schema):
        if id(part) in done:
            continue
        above = {id(part)}
        path = [(part, _applied(part, references))]
        while path:
            here, rest = path[-1]
            inner = next(rest, path)
            if inner is path:
                path.pop()
                above.discard(id(here))
                done.add(id(here))
            elif isinstance(inner, Mapping) and id(inner) not in done:
                if id(inner) in above:
                    raise ContractError(tool, "its schema refers to itself without an end")
                above.add(id(inner))
                path.append((inner, _applied(inner, references)))


def _applied(part: Mapping[str, Any], references: References) -> Iterator[Any]:
    yield from references.in_place(part)
    yield part.get("not")


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield every object in a schema that refers to something; no loop is without one."""
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            if isinstance(part.get("$ref"), str):
                yield part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
