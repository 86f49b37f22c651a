"""What is saved on Postgres in one statement is what LangGraph's own saver saves in several."""

import asyncio
import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME, _DeltaSnapshot

from graphs.memory import open_memory
from graphs.memory.postgres.saver import Saver
from tests.postgres import new_database, postgres, programs

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(
        programs() is None and not os.environ.get("RUNGS_CLUSTER"),
        reason="Postgres is not installed: apt-get install postgresql",
    ),
]

ROWS = {
    "checkpoints": "checkpoint_id, parent_checkpoint_id, checkpoint, metadata",
    "checkpoint_blobs": "channel, version, type, blob",
    "checkpoint_writes": "checkpoint_id, task_id, idx, task_path, channel, type, blob",
}


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with postgres() as url:
        yield new_database(url, "saver")


class Told:
    """What the saver tells the server, once it may.

    Attributes:
        statements: One of each round trip.
        free: Is set as long as it may.
    """

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.free = threading.Event()
        self.free.set()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """Listen to all savers."""
    listening, execute = Told(), Saver._execute

    def listen(saver: Saver, sql: str, lists: Sequence[Sequence[Any]]) -> None:
        assert listening.free.wait(10)
        listening.statements.append(sql)
        execute(saver, sql, lists)

    monkeypatch.setattr(Saver, "_execute", listen)
    return listening


def step(thread: str, number: int, **values: Any) -> tuple[RunnableConfig, Any, Any, Any]:
    """Return what `put` takes for a thread's next checkpoint."""
    checkpoint = empty_checkpoint()
    checkpoint["id"] = str(uuid6(clock_seq=number))
    checkpoint["channel_values"] = values
    checkpoint["channel_versions"] = dict.fromkeys(values, f"{number:032}.0")
    config: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    about = {"source": "loop", "step": number, "parents": {}}
    return config, checkpoint, about, dict(checkpoint["channel_versions"])


def of(saver: PostgresSaver, table: str, thread: str) -> list[tuple[Any, ...]]:
    """Return the rows of a thread."""
    with saver._cursor() as cursor:
        cursor.execute(
            f"SELECT {ROWS[table]} FROM {table} WHERE thread_id = %s ORDER BY 1, 2, 3",  # noqa: S608
            (thread,),
        )
        return [tuple(row.values()) for row in cursor.fetchall()]


def saved_by(saver: PostgresSaver, thread: str, steps: Sequence[Any]) -> None:
    """Save a story, some of it twice, as a run that was resumed does."""
    config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    for _, checkpoint, about, versions in steps:
        for _ in range(2):
            next_config = saver.put(config, checkpoint, about, versions)
        config = next_config
        saver.put_writes(config, [("messages", [AIMessage("a", id="1")]), ("n", 1)], "t1", "~p")
        saver.put_writes(config, [("messages", ["other"]), ("n", 2), ("more", None)], "t1", "~p")
        saver.put_writes(config, [(INTERRUPT, "why?")], "t2")
        saver.put_writes(config, [(INTERRUPT, "why not?")], "t2")
        saver.put_writes(config, [("n", 3), (INTERRUPT, "a"), (INTERRUPT, "b")], "t2")
        saver.put_writes(config, [(ERROR, "wrong"), (RESUME, [1, 2])], "t3")
        saver.put_writes(config, [("n", 3), (ERROR, "late")], "t3")
        saver.put_writes(config, [], "t4")


def test_the_rows_are_those_of_langgraphs_saver(database: str) -> None:
    values = {
        "text": 'quoted "\\" ü',
        "big": 10**30,
        "nothing": None,
        "items": [{"a": 1}],
        "messages": _DeltaSnapshot([AIMessage("hi", id="2")]),
    }
    steps = [step("ours", n, **values, count=n) for n in range(3)]
    for _, checkpoint, _, versions in steps[1:]:
        checkpoint["channel_versions"]["items"] = steps[0][1]["channel_versions"]["items"]
        versions.pop("items")
    with open_memory(database) as memory:
        assert isinstance(memory.saver, Saver)
        theirs = PostgresSaver(memory.saver._pool)
        saved_by(memory.saver, "ours", steps)
        saved_by(theirs, "theirs", steps)
        for table in ROWS:
            assert of(theirs, table, "ours") == of(theirs, table, "theirs") != []
        read = [
            (saved.checkpoint, saved.metadata, saved.pending_writes)
            for saved in theirs.list({"configurable": {"thread_id": "ours"}})
        ]
        assert read == [
            (saved.checkpoint, saved.metadata, saved.pending_writes)
            for saved in memory.saver.list({"configurable": {"thread_id": "theirs"}})
        ]


def test_a_step_is_one_statement_and_what_its_task_wrote_another(database: str, told: Told) -> None:
    with open_memory(database) as memory:
        saved = memory.saver.put(*step("one", 1, a=[1], b=[2], c=3))
        memory.saver.put_writes(saved, [("a", [2]), ("b", None), ("c", 1)], "t")
    assert len(told.statements) == 2


async def test_what_fifty_runs_save_at_once_is_a_statement_or_two(
    database: str, told: Told
) -> None:
    told.free.clear()
    with open_memory(database) as memory:
        steps = [step(f"many{n}", 1, a=[n], n=n) for n in range(50)]
        puts = [asyncio.create_task(memory.saver.aput(*each)) for each in steps]
        places: list[RunnableConfig] = [
            {"configurable": {**each[0]["configurable"], "checkpoint_id": each[1]["id"]}}
            for each in steps
        ]
        writes = [
            asyncio.create_task(memory.saver.aput_writes(place, [("a", [n])], f"t{n}"))
            for n, place in enumerate(places)
        ]
        await asyncio.sleep(0)
        told.free.set()
        await asyncio.gather(*puts, *writes)
        assert len(told.statements) <= 2
        for n, place in enumerate(places):
            found = await memory.saver.aget_tuple(place)
            assert found is not None
            assert found.checkpoint["channel_values"] == {"a": [n], "n": n}
            assert found.pending_writes == [(f"t{n}", "a", [n])]


async def test_a_step_that_can_t_be_saved_takes_none_with_it_that_came_at_the_same_time(
    database: str,
) -> None:
    with open_memory(database) as memory:
        asked = [step("g1", 1, a=[1]), step("g\0", 1, a=[1]), step("g2", 1, a=threading.Lock())]
        asked.append(step("g3", 1, a=[3]))
        ended = await asyncio.gather(
            *(memory.saver.aput(*each) for each in asked), return_exceptions=True
        )
        assert [isinstance(one, Exception) for one in ended] == [False, True, True, False]
        for name in ("g1", "g3"):
            assert await memory.saver.aget_tuple({"configurable": {"thread_id": name}})


def test_a_database_of_an_earlier_version_takes_rollbacks(database: str) -> None:
    config, *saved = step("earlier", 1)
    with open_memory(database) as memory, memory.saver._cursor() as cursor:  # type: ignore[attr-defined]
        cursor.execute("ALTER TABLE checkpoint_writes DROP COLUMN run_id")
    with open_memory(database) as memory:
        place = memory.saver.put(config, *saved)
        memory.saver.put_writes({**place, "metadata": {"run_id": "r"}}, [("n", 1)], "t1")
        assert memory.saver.get_tuple(place).pending_writes  # type: ignore[union-attr]
        memory.saver.delete_for_runs(["r"])
        assert memory.saver.get_tuple(place).pending_writes == []  # type: ignore[union-attr]
