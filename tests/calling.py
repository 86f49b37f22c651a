"""Contracts as the nodes use them: check, fill, call; shared by the tests of the tools."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from langchain_core.tools import InjectedToolArg
from langgraph.runtime import Runtime
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from tools import CallScope, Contract, contract


@dataclass
class Context:
    user_id: str = "u-ann"
    token: str = "tok-123"


STORE = InMemoryStore()
SCOPE = CallScope(
    runtime=Runtime(context=Context(), store=STORE),
    config={"configurable": {"tenant": "acme"}},
    state={"messages": ["hi"], "turn": 3},
    call_id="c1",
)


def calculator(expression: str) -> str:
    """Evaluate arithmetic; use it for every sum.

    Args:
        expression: What to work out.
    """
    return expression


def save_note(
    text: str,
    user_id: Annotated[str, InjectedToolArg],
    token: Annotated[str, InjectedToolArg],
) -> Any:
    """Store a durable fact."""
    return text, user_id, token


class Line(BaseModel):
    """One line of an order."""

    sku: str
    count: int = 1


class Order(BaseModel):
    lines: list[Line]
    title: str | None = None


def from_schema(
    schema: Any, function: Callable[..., Any] = lambda **arguments: arguments
) -> Contract:
    described = {"name": "t", "description": "Does it.", "parameters": schema}
    return contract({**described, "function": function})


def run(made: Contract, arguments: dict[str, Any], scope: CallScope = SCOPE) -> Any:
    """Check, fill and call, as the nodes do."""
    checked = made.check(arguments)
    assert checked.arguments is not None, checked.error
    values = made.fill(checked.arguments, scope)
    if made.sync:
        return made.sync(**values)
    assert made.asynchronous
    return asyncio.run(_awaited(made.asynchronous(**values)))


async def _awaited(result: Any) -> Any:
    return await result


def refused(made: Contract, arguments: dict[str, Any]) -> str:
    checked = made.check(arguments)
    assert checked.arguments is None
    assert checked.error
    assert "\n" not in checked.error
    return checked.error
