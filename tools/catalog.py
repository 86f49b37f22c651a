"""The catalog: a library of tools that is searched by what they do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tools.contract import Contract
from tools.errors import ContractError, SearchError
from tools.text import one_line, shorten

if TYPE_CHECKING:
    from tools.ranking.reasons import Reason

LIMITS: Final = range(1, 21)
"""How many tools one search may return; SPEC section 10."""


@dataclass(frozen=True, slots=True)
class Match:
    """One tool that a search found.

    Attributes:
        tool: The whole contract; its name, description and schema are what a model is shown.
        score: Above 0, comparable within one search alone.
        reasons: Which words matched where, and what each was worth; empty unless asked for.
    """

    tool: Contract
    score: float
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The best matches, best first; a sequence of them.

    Attributes:
        matches: At most as many as were asked for.
        matched: How many tools match at all.
        available: How many tools the catalog holds.
    """

    matches: tuple[Match, ...]
    matched: int
    available: int

    def __iter__(self) -> Iterator[Match]:
        return iter(self.matches)

    def __len__(self) -> int:
        return len(self.matches)

    def __getitem__(self, place: int) -> Match:
        return self.matches[place]


class Catalog:
    """Tools by name, searched by what they do.

    It keeps true that
    * what a search finds depends on the tools that are there and their order alone;
    * equal scores are in the order of the tools;
    * adding or removing one tool touches no other;
    * any thread may search, add and remove at any time.

    Args:
        tools: Contracts, as `tools.as_contracts` and `tools.load_tools` make them.

    Raises:
        ContractError: Two have one name.
    """

    def __init__(self, tools: Iterable[Contract] = ()) -> None:
        from tools.ranking.ranking import Ranking  # numpy, which only a catalog needs

        self._lock = threading.RLock()
        self._ranking = Ranking()
        self._tools: dict[str, Contract] = {}
        for tool in tools:
            _refuse_other_than_contract(tool)
            self._refuse_a_second(tool.name)
            self._tools[tool.name] = tool
        self._ranking.add(self._tools.values())

    def search(
        self,
        query: str,
        limit: int = 3,
        *,
        reasons: bool = False,
        allowed: Callable[[Contract], bool] | None = None,
    ) -> Found:
        """Rank the tools by how well they answer a query.

        Args:
            query: What is needed, in words or a sentence.
            limit: How many tools to return, 1 to 20.
            reasons: Whether to say why each was found.
            allowed: Says whether a tool may be found; one that may not does not count as a match.

        Raises:
            SearchError: The query is empty or the limit out of bounds: a sentence for the model.
        """
        if not isinstance(query, str):
            raise SearchError(f"the query is text, not {type(query).__name__}")
        if not query.strip():
            raise SearchError("the query is empty: say in a few words what the tool should do")
        if type(limit) is not int or limit not in LIMITS:
            raise SearchError(f"limit is {LIMITS[0]} to {LIMITS[-1]}, not {limit!r}")
        with self._lock:
            parts = self._ranking.search(query)
            tools = self._tools
            may = None if allowed is None else lambda name: allowed(tools[name])
            best, matched = self._ranking.best(parts, limit, may)
            matches = tuple(
                Match(
                    self._tools[name],
                    score,
                    self._ranking.reasons(parts, name) if reasons else (),
                )
                for name, score in best
            )
            return Found(matches, matched, len(self._tools))

    def add(self, tool: Contract) -> None:
        """Take in one more tool.

        Raises:
            ContractError: There is one of that name; remove it first.
        """
        _refuse_other_than_contract(tool)
        with self._lock:
            self._refuse_a_second(tool.name)
            self._ranking.add([tool])
            self._tools[tool.name] = tool

    def remove(self, name: str) -> Contract:
        """Let a tool go and return it.

        Raises:
            KeyError: There is no tool of that name.
        """
        with self._lock:
            tool = self._tools.pop(name)
            self._ranking.remove(name)
            return tool

    def get(self, name: str) -> Contract | None:
        """Return the tool of that name, or None."""
        return self._tools.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[Contract]:
        with self._lock:
            return iter(list(self._tools.values()))

    def _refuse_a_second(self, name: str) -> None:
        if name in self._tools:
            raise ContractError(name, "another tool has the same name")


def _refuse_other_than_contract(tool: object) -> None:
    if not isinstance(tool, Contract):
        said = getattr(tool, "__name__", None) or getattr(tool, "name", None) or repr(tool)
        raise ContractError(
            shorten(one_line(str(said)), 80),
            "a catalog takes contracts, which contract(tool) and as_contracts(tools) make",
        )
