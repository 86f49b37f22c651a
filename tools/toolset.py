"""The tools of a graph, some of which are known only when somebody has been asked for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, overload

from tools.contract import Contract
from tools.errors import ContractError
from tools.redaction_policy import DEFAULT_POLICY, RedactionPolicy


class Late(Protocol):
    """Tools that others list, such as MCP servers."""

    @property
    def is_listed(self) -> bool:
        """Whether nobody needs to be asked."""

    @property
    def failures(self) -> Sequence[str]:
        """Say whose tools are missing, and why."""

    def ask(self) -> bool:
        """Ask whoever is to be asked, in bounded time; tell whether there was anybody."""

    def contracts(self) -> Sequence[Contract]:
        """Return what has been listed."""

    def warn(self, warning: str) -> None:
        """Say once that something is left out."""

    def close(self) -> None:
        """Let go of whatever was opened."""


class ToolSet(Sequence[Contract]):
    """A graph's tools: those it was built with, and those that servers list at first use.

    It keeps true that names are unique: a tool of the file goes before a server's, a server before
    those that follow it in the file, and what has to stand back is left out with a warning. Whoever
    looks at the tools before they are listed waits until they are; `is_ready` tells beforehand.

    Args:
        known: The tools of the file.
        late: The others, if there may be any.
        redaction: What the file says is taken out.
        left_out: Names of tools that are left out, whoever has one.

    Attributes:
        known: The tools of the file.
        edition: Goes up whenever the tools have been listed.
    """

    def __init__(
        self,
        known: Sequence[Contract],
        late: Late | None = None,
        redaction: RedactionPolicy = DEFAULT_POLICY,
        left_out: frozenset[str] = frozenset(),
    ) -> None:
        self.known, self._late, self.redaction = tuple(known), late, redaction
        self._left_out = left_out
        self._lock = threading.Lock()
        self._listed = _Listed({tool.name: tool for tool in known}) if late is None else None
        self.edition = 0

    def beside(self, *tools: Contract) -> ToolSet:
        """Return a set with more tools, of which nobody is asked either before it is looked at.

        Raises:
            ContractError: A tool of the file has the name of one of them.
        """
        taken = {tool.name for tool in self.known}
        for tool in tools:
            if tool.name in taken:
                raise ContractError(tool.name, "another tool has the same name")
        return ToolSet([*self.known, *tools], self._late, self.redaction, self._left_out)

    def without(self, name: str) -> ToolSet:
        """Return a set that has no tool of a name, of which nobody is asked either."""
        known = [tool for tool in self.known if tool.name != name]
        return ToolSet(known, self._late, self.redaction, self._left_out | {name})

    @property
    def is_ready(self) -> bool:
        """Whether the tools can be looked at without waiting."""
        return self._listed is not None and (self._late is None or self._late.is_listed)

    def prepare(self) -> None:
        """Have the tools listed, which may take some seconds; nothing to do where they are."""
        self._made(renew=True)

    @property
    def by_name(self) -> Mapping[str, Contract]:
        """The tools by name."""
        return self._made().by_name

    def names(self, *, read_only: bool = False) -> Sequence[str]:
        """Return the names of the tools, or of those that change nothing."""
        listed = self._made()
        return listed.safe if read_only else listed.names

    @property
    def failures(self) -> Sequence[str]:
        """Say which servers' tools are missing, and why."""
        return self._late.failures if self._late else ()

    def close(self) -> None:
        """Let go of the servers; they are opened anew when a tool of theirs is called."""
        if self._late:
            self._late.close()

    def __iter__(self) -> Iterator[Contract]:
        return iter(self.by_name.values())

    def __len__(self) -> int:
        return len(self.by_name)

    @overload
    def __getitem__(self, index: int) -> Contract: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Contract]: ...
    def __getitem__(self, index: Any) -> Any:
        """Return the tool at a place."""
        return list(self)[index]

    def _made(self, *, renew: bool = False) -> _Listed:
        """Return the tools, listed first where they never were."""
        listed = self._listed
        if self._late is None or (listed is not None and not renew):
            return listed or _Listed({})
        with self._lock:
            if self._late.ask() or self._listed is None:
                self._listed = _Listed(self._joined(self._late))
                self.edition += 1
            return self._listed

    def _joined(self, late: Late) -> dict[str, Contract]:
        tools = {tool.name: tool for tool in self.known}
        for tool in late.contracts():
            if tool.name in self._left_out:
                continue
            first = tools.setdefault(tool.name, tool)
            if first is not tool:
                owner = first.origin or "a tool of the tools file"
                late.warn(
                    f"{tool.origin} is left out: {owner} has the name '{tool.name}' already; "
                    "a prefix in the server's table tells them apart"
                )
        return tools


class _Listed:
    """The tools that there are, looked at from the sides that are needed at every step."""

    def __init__(self, by_name: dict[str, Contract]) -> None:
        self.by_name: Mapping[str, Contract] = by_name
        self.names = tuple(by_name)
        self.safe = tuple(tool.name for tool in by_name.values() if tool.effect == "read_only")


def tool_set(tools: Sequence[Contract]) -> ToolSet:
    """Return tools as a set of them, which they may be already."""
    return tools if isinstance(tools, ToolSet) else ToolSet(tools)
