"""Many texts at once: what a stop does to those that run."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from graphs.extracting import Extracted, extract


class NoThreads:
    """A saver that holds no checkpoint."""

    async def aget_tuple(self, config: Any) -> None:
        """Find none."""


class Stubborn:
    """A graph whose first runs end well although they are cancelled, as one that writes may."""

    memory: Any = SimpleNamespace(saver=NoThreads())

    async def aget_state(self, config: Any) -> Any:
        return SimpleNamespace(next=(), values={})

    async def ainvoke(self, given: Any, config: Any, *, context: Any) -> dict[str, Any]:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            return {"status": "record", "record": {}, "usage": None}
        return {"status": "rejected"}


async def test_a_stop_is_not_swallowed_by_a_run_that_ends_all_the_same() -> None:
    seen: list[Extracted] = []
    graph: Any = Stubborn()

    async def consume() -> None:
        texts = [(f"t{number}", "text") for number in range(4)]
        async for found in extract(graph, texts, context={}, metadata={}, jobs=2):
            seen.append(found)  # noqa: PERF401 - what came before the stop counts, too

    task = asyncio.create_task(consume())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 8)
    assert seen == []
