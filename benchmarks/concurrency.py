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
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.load import Contender, Load, Open, Turn, langgraphs_saver, rungs, same_saver
from benchmarks.local_postgres import postgres
from benchmarks.measure import table


async def on_a_loop(open_one: Open, db: str, load: Load) -> Turn:
    """Make all runs on one event loop."""
    async with open_one(db, load) as who:
        await who.graph.ainvoke(**who.asked(load.runs))

        async def one(number: int) -> float:
            begun = time.perf_counter()
            _check(await who.graph.ainvoke(**who.asked(number)), load)
            return time.perf_counter() - begun

        began, cpu = time.perf_counter(), time.process_time()
        each = await asyncio.gather(*map(one, range(load.runs)))
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        for number in range(load.runs):
            _check((await who.graph.aget_state(who.config(number))).values, load)
        return Turn(wall, cpu, each)


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
        began, cpu = time.perf_counter(), time.process_time()
        each = list(pool.map(one, range(load.runs)))
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    for number in range(load.runs):
        _check(who.graph.get_state(who.config(number)).values, load)
    return Turn(wall, cpu, each)


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
        cpu = min(turn.cpu for turn in done) / load.runs * 1000
        pairs = list(zip(seen["rungs"], done, strict=True))
        rows.append(
            [
                f"{where}: {name}",
                f"{load.runs / wall:.0f}",
                f"{load.ideal / wall:.3f}",
                f"{p95:.2f}",
                f"{p95 / load.ideal:.1f}",
                f"{cpu:.1f}",
                f"{statistics.median(other.wall / ours.wall for ours, other in pairs):.2f}",
                f"{statistics.median(ours.p95 / other.p95 for ours, other in pairs):.2f}",
            ]
        )
    return rows


HEADINGS = ["", "runs/s", "of ideal", "p95 s", "to ideal", "CPU ms", "rungs: runs/s", "rungs: p95"]
"""CPU: of a run, in the best turn. The last two: what `rungs` has, as a ratio to that row."""


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
