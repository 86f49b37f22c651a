"""A small library and the replies of a model that searches it, for the tests of both variants."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from graphs import open_graph
from graphs.models import ScriptedModel
from tests.support import Mode, run
from tools import Contract, contract


class Library:
    """Support tools whose runs are counted, some of which change something."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, Any]] = []

    def tool(self, name: str, about: str, *, needs_yes: bool = False, **policy: Any) -> Contract:
        def body(order: str) -> str:
            self.ran.append((name, order))
            return f"{name} of {order} done"

        body.__doc__ = f"{about}\n\nArgs:\n    order: The order's id."
        effect: Any = "state_changing" if needs_yes else "read_only"
        return contract(body, name=name, effect=effect, **policy)

    def tools(self) -> list[Contract]:
        return [
            self.tool("refund_quote", "Work out the refund of an order."),
            self.tool("refund_order", "Pay the refund of an order.", needs_yes=True),
            self.tool("refund_status", "Tell how far a refund is."),
            self.tool("refund_policy", "Read what the refund policy says."),
            self.tool("track_parcel", "Tell where the parcel of an order is."),
        ]


def search(call_id: str, query: Any, **more: Any) -> dict[str, Any]:
    """Make a reply that searches."""
    return calls({"id": call_id, "name": "tool_search", "args": {"query": query, **more}})


def use(call_id: str, name: str, order: str = "O-1") -> dict[str, Any]:
    """Make a reply that calls a tool by its own name."""
    return calls({"id": call_id, "name": name, "args": {"order": order}})


def calls(*made: dict[str, Any]) -> dict[str, Any]:
    """Make a reply of calls."""
    return {"tool_calls": list(made)}


class Desk:
    """A variant on a memory file that is opened anew for each step, as another process would."""

    def __init__(self, name: str, mode: Mode, folder: Path, *replies: Any) -> None:
        self.name, self.mode, self.db = name, mode, folder / "r.sqlite"
        self.library = Library()
        self.model = ScriptedModel(replies=list(replies))
        self.build: dict[str, Any] = {}

    def run(
        self,
        given: Any,
        tools: Sequence[Any] | None = None,
        *,
        then: Callable[[Any], Any] = lambda graph: None,
        **context: Any,
    ) -> dict[str, Any]:
        """Run one step; `then` may look at the graph while it is open."""
        build = {"tools": self.library.tools() if tools is None else tools, **self.build}
        if "catalog" in build:
            build["tools"] = None
        with open_graph(self.name, db=self.db, model=self.model, **build) as graph:
            output = run(self.mode, graph, given, context=context or None)
            then(graph)
        return output

    @property
    def shown(self) -> list[list[str]]:
        """Return the tools that each request held."""
        return [request.tools for request in self.model.requests]


def behind_writers(desk: Desk) -> list[Contract]:
    """Make one tool that only reads, and more that match a refund better and change something."""
    writers = [
        desk.library.tool(f"refund_{way}", f"Pay the refund of an order by {way}.", needs_yes=True)
        for way in ("card", "cash", "coupon", "cheque", "transfer")
    ]
    return [*writers, desk.library.tool("quote", "Tell the sum of a possible order refund.")]
