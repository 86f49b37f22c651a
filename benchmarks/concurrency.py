"""Many runs at once against a model that takes its time, beside `create_agent` and the ideal.

    python -m benchmarks.concurrency [URL] [--runs 200] [--rounds 5] [--latency 0.05] [--turns 3]

The ideal is that of a model which serves all runs at the same time, where nothing else takes any:
one latency for each round, and one for the answer. Each turn runs every contender once, so that
noise meets all of them; what is told is the median of the turns, and the ratios are taken turn by
turn. A run is lost where its answer, or a message of its thread as the saver has it, is missing;
one lost run ends the measurement.

URL is a Postgres server (`postgresql://...`; `RUNGS_DATABASE_URL` without it). Where there is none,
one is started in a folder of its own, if this machine has Postgres; else that part is left out.
"""

import argparse
import asyncio
import gc
import os
import statistics
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from langchain.agents import create_agent

from benchmarks.contenders import QUESTION, RoundsModel, looking
from benchmarks.local_postgres import postgres
from benchmarks.measure import table
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
    """How one turn of a contender went, in seconds: all runs together, and each."""

    wall: float
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


async def on_a_loop(open_one: Open, db: str, load: Load) -> Turn:
    """Make all runs on one event loop."""
    async with open_one(db, load) as who:
        await who.graph.ainvoke(**who.asked(load.runs))

        async def one(number: int) -> float:
            begun = time.perf_counter()
            _check(await who.graph.ainvoke(**who.asked(number)), load)
            return time.perf_counter() - begun

        began = time.perf_counter()
        each = await asyncio.gather(*map(one, range(load.runs)))
        wall = time.perf_counter() - began
        for number in range(load.runs):
            _check((await who.graph.aget_state(who.config(number))).values, load)
        return Turn(wall, each)


async def in_threads(open_one: Open, db: str, load: Load) -> Turn:
    """Make every run in a thread of its own."""
    async with open_one(db, load) as who:
        return await asyncio.to_thread(_in_threads, who, load)


def _in_threads(who: Contender, load: Load) -> Turn:
    who.graph.invoke(**who.asked(load.runs))

    def one(number: int) -> float:
        begun = time.perf_counter()
        _check(who.graph.invoke(**who.asked(number)), load)
        return time.perf_counter() - begun

    with ThreadPoolExecutor(load.runs) as pool:
        began = time.perf_counter()
        each = list(pool.map(one, range(load.runs)))
        wall = time.perf_counter() - began
    for number in range(load.runs):
        _check(who.graph.get_state(who.config(number)).values, load)
    return Turn(wall, each)


How = Callable[[Open, str, Load], Coroutine[Any, Any, Turn]]
WAYS: dict[str, How] = {"threads": in_threads, "asyncio": on_a_loop}


def _check(values: dict[str, Any], load: Load) -> None:
    kinds = [message.type for message in values["messages"]]
    if kinds != ["human", *["ai", "tool"] * load.rounds, "ai"]:
        raise SystemExit(f"a run is lost: its thread holds {kinds}")


def measured(
    where: str, db: str, how: How, others: dict[str, Open], load: Load, *, turns: int
) -> list[list[str]]:
    """Measure `rungs` and the others on one database, in turns, and return rows of the table."""
    contenders = [("rungs", rungs), *others.items()]
    seen: dict[str, list[Turn]] = {name: [] for name, _ in contenders}
    for turn in range(turns):
        for name, open_one in contenders if turn % 2 else reversed(contenders):
            gc.collect()
            seen[name].append(asyncio.run(how(open_one, db, load)))
    rows = []
    for name, done in seen.items():
        wall = statistics.median(turn.wall for turn in done)
        p95 = statistics.median(turn.p95 for turn in done)
        pairs = list(zip(seen["rungs"], done, strict=True))
        rows.append(
            [
                f"{where}: {name}",
                f"{load.runs / wall:.0f}",
                f"{load.ideal / wall:.3f}",
                f"{p95:.2f}",
                f"{p95 / load.ideal:.1f}",
                f"{statistics.median(other.wall / ours.wall for ours, other in pairs):.2f}",
                f"{statistics.median(ours.p95 / other.p95 for ours, other in pairs):.2f}",
            ]
        )
    return rows


HEADINGS = ["", "runs/s", "of ideal", "p95 s", "to ideal", "rungs: runs/s", "rungs: p95"]
"""The last two: what `rungs` has of it, as a ratio to that row."""


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("url", nargs="?", default=os.environ.get("RUNGS_DATABASE_URL"))
    options.add_argument("--runs", type=int, default=200)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--latency", type=float, default=0.05)
    options.add_argument("--turns", type=int, default=3)
    given = options.parse_args()
    load = Load(given.runs, given.rounds, given.latency)
    print(f"{load.runs} runs at once of {load.rounds} rounds, {load.latency * 1000:g} ms a reply")
    print(f"the ideal: {load.ideal:.2f} s a run, {load.runs / load.ideal:.0f} runs/s")
    agents: dict[str, Open] = {"create_agent, same saver": same_saver}
    langgraphs: dict[str, Open] = {"create_agent, LangGraph's saver": langgraphs_saver}
    rows = []
    with TemporaryDirectory() as folder:
        for words, how in WAYS.items():
            db = str(Path(folder) / f"{words}.sqlite")
            rows += measured(f"SQLite, {words}", db, how, agents, load, turns=given.turns)
    with postgres(given.url) as (url, why):
        if url is None:
            print(f"Postgres is left out: {why}")
        else:
            for words, how in WAYS.items():
                others = agents | (langgraphs if how is on_a_loop else {})
                rows += measured(f"Postgres, {words}", url, how, others, load, turns=given.turns)
    print(table(HEADINGS, rows))


if __name__ == "__main__":
    main()
