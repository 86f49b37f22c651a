"""The timer that ends a tool's time is all that is left of it once the tool has ended."""

import asyncio
import gc
import weakref
from contextvars import ContextVar

from graphs.models import ScriptedModel
from tests.support import compiled
from tools import contract


class Held:
    """What a caller's context holds."""


held: ContextVar[Held] = ContextVar("held")


def look() -> str:
    """Look."""
    return "seen"


async def test_nothing_of_a_run_is_kept_until_the_time_of_its_tools_would_be_up() -> None:
    call = {"id": "c1", "name": "look", "args": {}}
    graph = compiled(
        ScriptedModel(replies=[{"tool_calls": [call]}, "Done."]),
        [contract(look, effect="read_only")],
    )

    async def one() -> "weakref.ref[Held]":
        value = Held()
        held.set(value)
        asked = {"messages": [("user", "?")]}
        assert (await graph.ainvoke(asked, context={"tool_timeout": 600}))["answer"] == "Done."
        return weakref.ref(value)

    # A timer that comes sooner: those that were stopped are only dropped from the front.
    sooner = asyncio.get_running_loop().call_later(300, held.get, None)
    seen = await asyncio.create_task(one())
    for _ in range(100):  # the thread that ran the tool lets go of it a moment later
        gc.collect()
        if seen() is None:
            break
        await asyncio.sleep(0.02)
    sooner.cancel()
    assert seen() is None
