"""The saver: one object for sync and async callers, threads, event loops and processes."""

import asyncio
import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from itertools import pairwise
from operator import add
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from graphs.errors import UsageError
from graphs.memory import FileMemory, open_memory, server_checkpointer, server_store


def append(messages: list[AnyMessage], writes: Sequence[Any]) -> list[AnyMessage]:
    return [*messages, *(message for write in writes for message in write)]


class State(TypedDict):
    messages: Annotated[list[AnyMessage], DeltaChannel(append, snapshot_frequency=1000)]
    rounds: int
    results: Annotated[list[str], add]


def speak(state: State) -> dict[str, Any]:
    said = len(state["messages"])
    return {"messages": [AIMessage(f"message {said}", id=str(said))], "rounds": said}


def calculate(state: State) -> dict[str, Any]:
    return {"results": [str(2 ** (32 * state["rounds"]))]}


def graph(saver: BaseCheckpointSaver[Any], calculator: Any = calculate, rounds: int = 3) -> Any:
    """A small loop with a `DeltaChannel`, a plain channel and an adding one."""

    def more(state: State) -> str:
        return "more" if state["rounds"] < rounds else "done"

    builder = StateGraph(State)
    builder.add_node("speak", speak)
    builder.add_node("calculate", calculator)
    builder.add_edge(START, "speak")
    builder.add_edge("speak", "calculate")
    builder.add_conditional_edges("calculate", more, {"more": "speak", "done": END})
    return builder.compile(checkpointer=saver)


QUESTION = {"messages": [HumanMessage("hi", id="question")], "rounds": 0}


def thread(name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": name}}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[FileMemory]:
    with open_memory(tmp_path / "rungs.sqlite") as memory:
        yield memory


def rows(memory: FileMemory, name: str) -> list[Any]:
    """What a run left on disk, ids and times taken out."""
    checkpoints = [
        (
            item.metadata,
            {k: v for k, v in item.checkpoint.items() if k not in {"id", "ts"}},
            [(channel, value) for _, channel, value in item.pending_writes or ()],
        )
        for item in memory.saver.list(thread(name))
    ]
    writes = memory.saver.conn.execute(
        "SELECT task_path, idx, channel, type, value FROM writes WHERE thread_id = ? "
        "ORDER BY checkpoint_id, task_path, idx",
        (name,),
    ).fetchall()
    return [*checkpoints, *writes]


async def test_the_four_ways_to_run_a_graph_give_the_same_result_and_the_same_rows(
    memory: FileMemory,
) -> None:
    """Case CKP-11."""
    app = graph(memory.saver)
    results = {
        "invoke": await asyncio.to_thread(app.invoke, QUESTION, thread("invoke")),
        "ainvoke": await app.ainvoke(QUESTION, thread("ainvoke")),
        "stream": (
            await asyncio.to_thread(
                lambda: list(app.stream(QUESTION, thread("stream"), stream_mode="values"))
            )
        )[-1],
        "astream": [
            item async for item in app.astream(QUESTION, thread("astream"), stream_mode="values")
        ][-1],
    }
    assert len(results["invoke"]["messages"]) == 4
    written = rows(memory, "invoke")
    assert len(written) > 20
    for name, result in results.items():
        assert result == results["invoke"]
        assert rows(memory, name) == written
        assert app.get_state(thread(name)).values == result
        assert (await app.aget_state(thread(name))).values == result
        assert [s.values async for s in app.aget_state_history(thread(name))] == [
            s.values for s in app.get_state_history(thread(name))
        ]


def test_one_saver_serves_event_loops_one_after_the_other(memory: FileMemory) -> None:
    app = graph(memory.saver)
    first = asyncio.run(app.ainvoke(QUESTION, thread("a")))
    second = asyncio.run(app.ainvoke(QUESTION, thread("b")))
    assert first == second == app.invoke(QUESTION, thread("c"))


async def test_async_calls_do_not_wait_for_threads_that_hanging_tools_occupy(
    memory: FileMemory,
) -> None:
    loop = asyncio.get_running_loop()
    release = threading.Event()
    loop.set_default_executor(ThreadPoolExecutor(max_workers=1))
    hanging = loop.run_in_executor(None, release.wait)
    try:
        assert await memory.saver.aget_tuple(thread("a")) is None
        assert await memory.store.aget(("a",), "b") is None
        assert await memory.cache.aget([(("a",), "b")]) == {}
    finally:
        release.set()
        await hanging


async def test_no_sql_runs_on_the_event_loop(
    memory: FileMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    users: set[int] = set()
    for part in (memory.saver, memory.store):
        part.conn.set_trace_callback(lambda _: users.add(threading.get_ident()))
    memory.cache._conn.set_trace_callback(lambda _: users.add(threading.get_ident()))
    app = graph(memory.saver)
    await app.ainvoke(QUESTION, thread("a"))
    await app.aget_state(thread("a"))
    await memory.store.aput(("a",), "b", {"text": "c"})
    await memory.cache.aset({(("a",), "b"): ("c", None)})
    await memory.saver.acopy_thread("a", "b")
    await memory.saver.adelete_thread("a")
    assert users
    assert threading.get_ident() not in users


def test_eight_threads_may_write_at_once(memory: FileMemory) -> None:
    app = graph(memory.saver)

    def run(number: int) -> int:
        for turn in range(5):
            app.invoke(QUESTION, thread(f"{number}-{turn}"))
            memory.store.put(("n",), f"{number}-{turn}", {"text": "x"})
            memory.cache.set({(("n",), f"{number}-{turn}"): ("x", 60)})
        return number

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(run, range(8))) == list(range(8))
    assert len(memory.store.search(("n",), limit=100)) == 40
    assert len({item.config["configurable"]["thread_id"] for item in memory.saver.list(None)}) == 40


WRITER = """
import sys
from langgraph.store.base import GetOp, PutOp
from graphs.memory import open_memory
with open_memory(sys.argv[1]) as memory:
    for number in range(100):
        memory.store.batch([GetOp(("n",), "shared"), PutOp(("n",), "shared", {"by": sys.argv[2]})])
        memory.store.put(("n", sys.argv[2]), str(number), {"text": "x"})
"""


def checkpoint(number: int) -> tuple[RunnableConfig, Any, Any, Any]:
    """Return what `put` takes for a first checkpoint of a thread."""
    config: RunnableConfig = {"configurable": {"thread_id": f"c{number}", "checkpoint_ns": ""}}
    return config, empty_checkpoint(), {"source": "input", "step": -1, "parents": {}}, {}


async def test_writes_of_async_callers_that_come_at_once_share_transactions(
    memory: FileMemory,
) -> None:
    commits: list[str] = []
    memory.saver.conn.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else 0)
    with memory.saver.lock:  # the first write waits, and the others with it
        writes = [asyncio.create_task(memory.saver.aput(*checkpoint(n))) for n in range(50)]
        await asyncio.sleep(0.05)
        assert not any(write.done() for write in writes)
    saved = await asyncio.gather(*writes)
    assert len(commits) <= 2
    for config in saved:
        assert await memory.saver.aget_tuple(config)


async def test_a_write_that_fails_takes_none_with_it_that_came_at_the_same_time(
    memory: FileMemory,
) -> None:
    unserializable = checkpoint(1)
    unserializable[1]["channel_values"]["x"] = threading.Lock()
    unwritable = checkpoint(2)
    unwritable[0]["configurable"]["checkpoint_ns"] = ("no", "text")
    asked = [checkpoint(0), unserializable, unwritable, checkpoint(3)]
    with memory.saver.lock:
        writes = [asyncio.create_task(memory.saver.aput(*one)) for one in asked]
        gone = asyncio.create_task(memory.saver.aput(*checkpoint(4)))
        await asyncio.sleep(0.05)
        gone.cancel()
    ended = await asyncio.gather(*writes, gone, return_exceptions=True)
    assert [isinstance(one, BaseException) for one in ended] == [False, True, True, False, True]
    assert isinstance(ended[1], TypeError)
    assert isinstance(ended[2], sqlite3.Error)
    for place in (0, 3):
        assert await memory.saver.aget_tuple(asked[place][0])


@pytest.mark.processes
def test_several_processes_may_write_at_once(memory: FileMemory) -> None:
    """Each batch reads before it writes, which SQLite refuses a transaction that began reading."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(memory.path), name]) for name in "abc"
    ]
    app = graph(memory.saver)
    for turn in range(10):
        app.invoke(QUESTION, thread(str(turn)))
    assert [writer.wait(120) for writer in writers] == [0, 0, 0]
    assert len(memory.store.search(("n",), limit=1000)) == 301


VISITOR = """
import sys
from graphs.memory import open_memory
with open_memory(sys.argv[1]) as memory:
    print(len(memory.store.search(("n",))))
"""


def visit(path: Path) -> str:
    """Count the items from another process, which on closing would clear away an unused log."""
    command = [sys.executable, "-c", VISITOR, str(path)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


@pytest.mark.processes
def test_opening_a_file_twice_in_one_process_drops_no_lock_of_the_first(memory: FileMemory) -> None:
    """A file that is opened and closed by hand loses every lock that its process holds on it."""
    memory.store.put(("n",), "a", {"text": "first"})
    open_memory(memory.path).close()
    assert visit(memory.path) == "1"
    memory.store.put(("n",), "b", {"text": "second"})
    assert visit(memory.path) == "2"


KILLED = """
import sys, time
from pathlib import Path
from graphs.memory import open_memory
from tests.test_memory_saver import QUESTION, calculate, graph, thread

log = Path(sys.argv[2])

def calculator(state):
    with log.open("a") as file:
        file.write(f"{state['rounds']} begins\\n")
    if state["rounds"] == 2:
        time.sleep(600)
    return calculate(state)

with open_memory(sys.argv[1]) as memory:
    graph(memory.saver, calculator).invoke(QUESTION, thread("t"), durability="sync")
"""


@pytest.mark.processes
def test_a_run_that_is_killed_leaves_a_thread_that_can_be_read_and_finished(
    tmp_path: Path,
) -> None:
    path, log = tmp_path / "rungs.sqlite", tmp_path / "log"
    victim = subprocess.Popen([sys.executable, "-c", KILLED, str(path), str(log)])
    while not log.exists() or "2 begins" not in log.read_text():
        assert victim.poll() is None
        time.sleep(0.02)
    victim.send_signal(signal.SIGKILL)
    victim.wait()

    def calculator(state: State) -> dict[str, Any]:
        log.write_text(log.read_text() + f"{state['rounds']} again\n")
        return calculate(state)

    with open_memory(path) as memory:
        app = graph(memory.saver, calculator)
        left = app.get_state(thread("t"))
        assert left.next == ("calculate",)
        assert [message.text for message in left.values["messages"]] == [
            "hi",
            "message 1",
            "message 2",
        ]
        finished = asyncio.run(app.ainvoke(None, thread("t")))
        assert finished == graph(memory.saver).invoke(QUESTION, thread("whole"))
    assert log.read_text().split("\n")[:-1] == ["1 begins", "2 begins", "2 again", "3 again"]


def test_exact_numbers_are_stored_as_text_and_reloaded_exactly(tmp_path: Path) -> None:
    """Case CKP-05."""
    exact = [str(2**64), str(10**30), "1/3"]
    path = tmp_path / "rungs.sqlite"
    with open_memory(path) as memory:
        graph(memory.saver, lambda _: {"results": exact}, rounds=1).invoke(QUESTION, thread("t"))
    with open_memory(path) as memory:
        assert graph(memory.saver).get_state(thread("t")).values["results"] == exact


def test_a_field_that_changed_its_type_reads_back_as_it_was_stored(memory: FileMemory) -> None:
    """Case CKP-07, the saver's side: what to make of an old value is for the state to say."""
    config: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    old = empty_checkpoint()
    old["channel_values"] = {"rounds": 7}
    saved = memory.saver.put(config, old, {"source": "loop", "step": 1, "parents": {}}, {})
    new = empty_checkpoint()
    new["channel_values"] = {"rounds": [7]}
    memory.saver.put(saved, new, {"source": "loop", "step": 2, "parents": {}}, {})
    values = [item.checkpoint["channel_values"]["rounds"] for item in memory.saver.list(config)]
    assert values == [[7], 7]


async def test_no_secret_of_a_config_or_an_error_reaches_the_disk(memory: FileMemory) -> None:
    """Case CKP-13."""

    def fail(_: State) -> dict[str, Any]:
        raise ValueError("401: wrong api_key=sk-live-9")

    config: dict[str, Any] = {
        "configurable": {
            "thread_id": "t",
            "api_key": "sk-live-9",
            "headers": {"authorization": "Bearer sk-live-9"},
        },
        "metadata": {"api_key": "sk-live-9", "run_id": "run-1"},
    }
    app = graph(memory.saver, fail)
    with pytest.raises(ValueError, match="401"):
        app.invoke(QUESTION, config)
    config["metadata"]["run_id"] = "run-2"
    with pytest.raises(ValueError, match="401"):
        await app.ainvoke(QUESTION, config)
    files = {file.name: file.read_bytes() for file in memory.path.parent.iterdir()}
    assert files.keys() == {"rungs.sqlite", "rungs.sqlite-wal", "rungs.sqlite-shm"}
    assert b"401: wrong" in files["rungs.sqlite-wal"]
    assert all(b"sk-live-9" not in content for content in files.values())
    newest = memory.saver.get_tuple(thread("t"))
    assert newest is not None
    assert newest.metadata["run_id"] == "run-2"


def test_a_filter_key_that_is_sql_is_refused_before_it_is_run(memory: FileMemory) -> None:
    """Case CKP-09."""
    graph(memory.saver).invoke(QUESTION, thread("a'b"))
    graph(memory.saver).invoke(QUESTION, thread("foreign"))
    for part in (
        lambda: memory.saver.list(None, filter={"x') OR 1=1 --": "y"}),
        lambda: memory.store.search(("n",), filter={"x') OR 1=1 --": "y"}),
    ):
        with pytest.raises(ValueError, match="Invalid filter key"):
            part()
    found = memory.saver.list(thread("a'b"), filter={"source": "input"})
    assert [item.config["configurable"]["thread_id"] for item in found] == ["a'b"]


def test_the_sqlite_package_is_one_whose_filter_keys_are_validated() -> None:
    """Case CKP-09: CVE-2025-8709 was closed in 2.0.11; ours is pinned well above."""
    assert tuple(map(int, version("langgraph-checkpoint-sqlite").split(".")[:3])) >= (3, 1, 2)
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert '"langgraph-checkpoint-sqlite>=3.1.2,<4"' in project


@pytest.mark.parametrize("name", [None, "", "  "])
async def test_a_run_without_a_thread_id_is_refused(memory: FileMemory, name: str | None) -> None:
    app = graph(memory.saver)
    config = {"configurable": {"thread_id": name}}
    with pytest.raises(UsageError, match="thread id is required"):
        app.invoke(QUESTION, config)
    with pytest.raises(UsageError, match="thread id is required"):
        await app.ainvoke(QUESTION, config)
    assert list(memory.saver.list(None)) == []


def test_a_thread_may_change_between_this_saver_and_langgraphs_own(memory: FileMemory) -> None:
    theirs = sqlite3.connect(memory.path, check_same_thread=False)
    try:
        graph(memory.saver).invoke(QUESTION, thread("t"))
        graph(SqliteSaver(theirs)).invoke(QUESTION, thread("t"))
        result = graph(memory.saver).invoke(QUESTION, thread("t"))
    finally:
        theirs.close()
    assert [message.id for message in result["messages"]].count("question") == 3


def test_a_copied_thread_has_the_whole_history_and_goes_its_own_way(memory: FileMemory) -> None:
    app = graph(memory.saver)
    app.invoke(QUESTION, thread("a"))
    memory.saver.copy_thread("a", "b")
    assert rows(memory, "b") == rows(memory, "a")
    app.invoke(QUESTION, thread("b"))
    assert len(app.get_state(thread("a")).values["messages"]) == 4
    assert len(app.get_state(thread("b")).values["messages"]) > 4


def test_a_deleted_thread_leaves_no_rows(memory: FileMemory) -> None:
    graph(memory.saver).invoke(QUESTION, thread("a"))
    memory.saver.delete_thread("a")
    for table in ("checkpoints", "writes"):
        counted = memory.saver.conn.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
        assert counted.fetchone() == (0,)


def test_a_transaction_that_fails_leaves_nothing_and_holds_no_lock(memory: FileMemory) -> None:
    graph(memory.saver).invoke(QUESTION, thread("a"))
    before = rows(memory, "a")

    def delete_half() -> None:
        with memory.saver.cursor() as cursor:
            cursor.execute("DELETE FROM checkpoints")
            cursor.execute("DELETE FROM a_table_that_is_not_there")

    with pytest.raises(sqlite3.OperationalError):
        delete_half()
    assert rows(memory, "a") == before
    memory.store.put(("n",), "a", {"text": "b"})


def test_a_saver_may_be_used_while_its_list_is_looked_at(memory: FileMemory) -> None:
    graph(memory.saver).invoke(QUESTION, thread("a"))
    for item in memory.saver.list(thread("a")):
        assert memory.saver.get_tuple(item.config) is not None


def test_a_thread_grows_by_what_is_added_and_not_by_what_there_is(memory: FileMemory) -> None:
    sizes = []
    for turn in range(1, 5):
        app = graph(memory.saver, lambda _: {}, rounds=40 * turn)
        app.invoke({"messages": [], "rounds": 0} if turn > 1 else QUESTION, thread("t"))
        (count,) = memory.saver.conn.execute(
            "SELECT (SELECT sum(length(checkpoint) + length(metadata)) FROM checkpoints) "
            "+ (SELECT sum(length(value)) FROM writes)"
        ).fetchone()
        sizes.append(count)
    growth = [after - before for before, after in pairwise(sizes)]
    assert max(growth) < 1.2 * min(growth)


def test_metadata_is_kept_as_json_that_sqlite_can_search(memory: FileMemory) -> None:
    graph(memory.saver).invoke(QUESTION, thread("t"))
    kept = [
        json.loads(text)
        for (text,) in memory.saver.conn.execute("SELECT metadata FROM checkpoints")
    ]
    assert {"source", "step", "parents", "counters_since_delta_snapshot"} >= set().union(*kept)


async def test_the_server_is_lent_the_file_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNGS_DB", str(tmp_path / "served.sqlite"))
    async with server_checkpointer() as saver, server_store() as store:
        await graph(saver).ainvoke(QUESTION, thread("t"))
        await store.aput(("n",), "a", {"text": "b"})
    with open_memory(tmp_path / "served.sqlite") as memory:
        assert len(graph(memory.saver).get_state(thread("t")).values["messages"]) == 4
        assert memory.store.get(("n",), "a") is not None
