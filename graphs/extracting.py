"""Many texts into records: at the same time, in order, and none that is finished asked again."""

import asyncio
import hashlib
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import HumanMessage

from graphs.thread_graph import ThreadGraph
from graphs.threads import aended_with

FINISHED = ("record", "rejected")
"""How a text stands that need not be asked about again; a model that failed is asked again."""

_WINDOW = 8
"""Texts begun for each that may run: a slow one in front holds up no more than these."""


_PATIENCE = 5.0
"""Seconds that what runs is given to end when it is given up."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What came of a text.

    Attributes:
        thread_id: The thread in which it was asked about.
        status: `record`, `rejected`, or `no_answer` where the model failed.
        record: The record, where there is one.
        rejection: Why there is none.
        usage: What it cost; None where it was remembered.
    """

    thread_id: str
    status: str
    record: dict[str, Any] | None
    rejection: dict[str, Any] | None
    usage: Mapping[str, Any] | None


def thread_of(text: str, **asked_with: Any) -> str:
    """Return the thread of a text: the same one for the same text, asked in the same way.

    Args:
        text: The text.
        asked_with: All that the record depends on: schema, model, user and the like, as JSON.
    """
    told = json.dumps([text, asked_with], sort_keys=True, ensure_ascii=True, default=str)
    return f"extract-{hashlib.sha256(told.encode()).hexdigest()[:32]}"


async def extract(
    graph: ThreadGraph,
    texts: Iterable[tuple[str, str]],
    *,
    context: Mapping[str, Any],
    metadata: Mapping[str, Any],
    jobs: int,
    again: bool = False,
    progress: Callable[[], None] = lambda: None,
) -> AsyncGenerator[Extracted]:
    """Make a record of each text, and yield what came of them in their order.

    What a killed process had begun is gone on with: a reply that was recorded is not asked for
    again. Closing the iterator gives up what runs.

    Args:
        graph: `forced_output` on a memory file.
        texts: Each with its thread, which no two share.
        context: The runs' settings.
        metadata: What each thread keeps of them.
        jobs: How many run at the same time.
        again: Ask about texts that are finished, too.
        progress: Told of each text that ended, in the order in which they end.
    """
    limit = asyncio.Semaphore(jobs)

    async def one(thread_id: str, text: str) -> Extracted:
        async with limit:
            ended = await _one(graph, thread_id, text, context, metadata, again=again)
        progress()
        return ended

    begun: deque[asyncio.Task[Extracted]] = deque()
    try:
        for thread_id, text in texts:
            begun.append(asyncio.create_task(one(thread_id, text)))
            while begun and (len(begun) >= _WINDOW * jobs or begun[0].done()):
                yield await _end_of_first(begun)
        while begun:
            yield await _end_of_first(begun)
    finally:
        for task in begun:
            task.cancel()
        if begun:
            await asyncio.wait(begun, timeout=_PATIENCE)
        for task in begun:
            if task.done() and not task.cancelled():
                task.exception()  # nobody waits for it any more


async def _end_of_first(begun: deque[asyncio.Task[Extracted]]) -> Extracted:
    """Wait for the oldest task without being bound to it.

    Who waits for a task by `await` and is cancelled cancels the task instead of itself; one that
    is about to end anyway, or that finishes what it writes, would swallow it.
    """
    await asyncio.wait({begun[0]})
    return begun.popleft().result()


async def _one(
    graph: ThreadGraph,
    thread_id: str,
    text: str,
    context: Mapping[str, Any],
    metadata: Mapping[str, Any],
    *,
    again: bool,
) -> Extracted:
    config: Any = {"configurable": {"thread_id": thread_id}, "metadata": dict(metadata)}
    known = await graph.aget_state(config)
    status = await aended_with(graph.memory, thread_id)
    if not again and status in FINISHED:
        return _extracted(thread_id, known.values, None)
    goes_on = bool(known.values) and status is None and not again
    given = None if goes_on else {"messages": [HumanMessage(text)]}
    values = await graph.ainvoke(given, config, context=dict(context))
    return _extracted(thread_id, values, values.get("usage"))


def _extracted(
    thread_id: str, values: Mapping[str, Any], usage: Mapping[str, Any] | None
) -> Extracted:
    return Extracted(
        thread_id, values["status"], values.get("record"), values.get("rejection"), usage
    )
