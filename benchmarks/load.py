"""The load of `benchmarks.concurrency`, and who is put under it."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from langchain.agents import create_agent

from benchmarks.contenders import QUESTION, RoundsModel, looking
from graphs import open_graph
from graphs.memory import open_memory
from tools import contract

CHARACTERS = 200
CONNECTIONS = 20


class SlowModel(RoundsModel):
    """Answers like `RoundsModel`, after a while."""

    latency: float

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        time.sleep(self.latency)
        return super()._generate(messages, *args, **kwargs)

    async def _agenerate(self, messages: Any, *_: Any, **__: Any) -> Any:
        await asyncio.sleep(self.latency)
        return super()._generate(messages)


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked of everybody: so many runs at once, of so many rounds, at such a latency."""

    runs: int
    rounds: int
    latency: float

    @property
    def ideal(self) -> float:
        """Seconds that one run takes where nothing but the model takes time."""
        return (self.rounds + 1) * self.latency

    @property
    def model(self) -> SlowModel:
        """The model."""
        return SlowModel(rounds=self.rounds, latency=self.latency)


@dataclass(frozen=True, slots=True)
class Turn:
    """How one turn of a contender went.

    Attributes:
        wall: Seconds that all runs took together.
        cpu: CPU seconds of the process meanwhile, which other processes disturb least.
        each: Seconds that each run took.
    """

    wall: float
    cpu: float
    each: list[float]

    @property
    def p95(self) -> float:
        """What 95 of 100 runs took at the most."""
        return statistics.quantiles(self.each, n=20, method="inclusive")[-1]


@dataclass(frozen=True, slots=True)
class Contender:
    """A graph that is asked.

    Attributes:
        graph: The graph.
        settings: The context of its runs, if it takes one.
        mark: What the ids of its threads begin with.
    """

    graph: Any
    settings: dict[str, Any] | None
    mark: str

    def asked(self, number: int) -> dict[str, Any]:
        """Return what `invoke` is called with for one run."""
        return {
            "input": QUESTION,
            "config": self.config(number),
            "context": self.settings,
            "durability": "sync",
        }

    def config(self, number: int) -> Any:
        """Return the config of one run."""
        thread = f"{self.mark}-{number}"
        return {"configurable": {"thread_id": thread}, "recursion_limit": 1000}


Open = Callable[[str, Load], AbstractAsyncContextManager[Contender]]
"""Opens a contender on a SQLite file or a Postgres server."""


@asynccontextmanager
async def rungs(db: str, load: Load) -> AsyncIterator[Contender]:
    """Open `tools_in_context`, as `open_graph` does it."""
    look = contract(
        looking(CHARACTERS), effect="read_only"
    )  # kept in no ledger: create_agent has none
    opened = open_graph("tools_in_context", db=db, model=load.model, tools=[look])
    async with opened as graph:
        yield Contender(graph, {"max_tool_rounds": load.rounds + 1}, uuid4().hex)


@asynccontextmanager
async def same_saver(db: str, load: Load) -> AsyncIterator[Contender]:
    """Open `create_agent` on the saver that `open_graph` takes there."""
    async with await asyncio.to_thread(open_memory, db) as memory:
        yield Contender(_agent(load, memory.saver), None, uuid4().hex)


@asynccontextmanager
async def langgraphs_saver(db: str, load: Load) -> AsyncIterator[Contender]:
    """Open `create_agent` on LangGraph's `AsyncPostgresSaver`, with a pool of connections."""
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg.rows import dict_row
    from psycopg_pool import AsyncConnectionPool

    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(db, max_size=CONNECTIONS, open=False, kwargs=options) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        yield Contender(_agent(load, saver), None, uuid4().hex)


def _agent(load: Load, saver: Any) -> Any:
    return create_agent(load.model, [looking(CHARACTERS)], checkpointer=saver)
