"""The tools of a graph, some of which are known only when somebody has been asked for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, overload

from tools.contract import Contract
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
    """A graph's tools: those of its file, and those that servers list at first use.

    It keeps true that names are unique: a tool of the file goes before a server's, a server before
    those that follow it in the file, and what has to stand back is left out with a warning. Whoever
    looks at the tools before they are listed waits until they are; `is_ready` tells beforehand.

    Args:
        known: The tools of the file.
        late: The others.
        redaction: What the file says is taken out.
    """

    def __init__(
        self, known: Sequence[Contract], late: Late, redaction: RedactionPolicy = DEFAULT_POLICY
    ) -> None:
        self._known, self._late, self.redaction = tuple(known), late, redaction
        self._lock = threading.Lock()
        self._all: Mapping[str, Contract] = {}
        self._made = False
        self.edition = 0

    @property
    def is_ready(self) -> bool:
        """Whether the tools can be looked at without waiting."""
        return self._made and self._late.is_listed

    def prepare(self) -> None:
        """Have the tools listed, which may take some seconds; nothing to do where they are."""
        with self._lock:
            if self._late.ask() or not self._made:
                self._all = self._joined()
                self._made = True
                self.edition += 1

    @property
    def by_name(self) -> Mapping[str, Contract]:
        """The tools by name, as far as they are listed now."""
        if not self._made:
            self.prepare()
        return self._all

    @property
    def failures(self) -> Sequence[str]:
        """Say which servers' tools are missing, and why."""
        return self._late.failures

    def close(self) -> None:
        """Let go of the servers; they are opened anew when a tool of theirs is called."""
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

    def _joined(self) -> Mapping[str, Contract]:
        tools = {tool.name: tool for tool in self._known}
        for tool in self._late.contracts():
            first = tools.setdefault(tool.name, tool)
            if first is not tool:
                owner = first.origin or "a tool of the tools file"
                self._late.warn(
                    f"{tool.origin} is left out: {owner} has the name '{tool.name}' already; "
                    "a prefix in the server's table tells them apart"
                )
        return tools
