"""A run is rolled back: the thread is as before it, and what other runs need stays."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.types import Command, interrupt
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, StateGraph

from graphs import open_graph
from graphs.errors import UsageError
from graphs.memory import Memory, open_memory
from graphs.models import ScriptedModel
from tests.test_memory_saver import QUESTION, State, graph
from tools import contract


class Counted(TypedDict):
    n: int


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with ExitStack() as opened:
        yield opened.enter_context(open_memory(tmp_path / "rungs.sqlite"))


def of_run(run: str, thread: str = "t") -> RunnableConfig:
    """Return a config as LangGraph's server makes one."""
    return {"configurable": {"thread_id": thread, "run_id": run}, "metadata": {"run_id": run}}


def shown(app: Any, thread: str = "t") -> Any:
    """Return what a thread is: each checkpoint with its values and what is next."""
    return [
        (one.config["configurable"]["checkpoint_id"], one.values, one.next, one.interrupts)
        for one in app.get_state_history({"configurable": {"thread_id": thread}})
    ]


def asked(text: str) -> Any:
    return {"messages": [HumanMessage(text, id=text)], "rounds": 0}


async def roll_back(saver: BaseCheckpointSaver[Any], way: str, *runs: str) -> None:
    if way == "sync":
        saver.delete_for_runs(runs)
    else:
        await saver.adelete_for_runs(runs)


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_a_thread_is_as_before_the_run_and_goes_on_as_if_there_had_been_none(
    memory: Memory, way: str
) -> None:
    app = graph(memory.saver)
    app.invoke(QUESTION, of_run("one"))
    before = shown(app)
    app.invoke(asked("undone"), of_run("two"))
    app.invoke(asked("elsewhere"), of_run("three", "other"))
    elsewhere = shown(app, "other")
    await roll_back(memory.saver, way, "two", "unknown")
    assert shown(app) == before
    assert shown(app, "other") == elsewhere
    ended = app.invoke(asked("again"), of_run("four"))
    ids = [message.id for message in ended["messages"]]
    assert ids[:5] == [message.id for message in before[0][1]["messages"]] + ["again"]
    assert "undone" not in ids
    assert app.get_state(of_run("four")).values == ended


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_a_first_run_leaves_nothing(memory: Memory, way: str) -> None:
    app = graph(memory.saver)
    app.invoke(QUESTION, of_run("one"))
    await roll_back(memory.saver, way, "one")
    assert list(memory.saver.list(of_run("one"))) == []
    assert app.invoke(asked("first"), of_run("two"))["messages"][0].id == "first"


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_a_run_that_fails_midway_is_rolled_back_with_what_its_tasks_wrote(
    memory: Memory, way: str
) -> None:
    def fails(state: State) -> dict[str, Any]:
        raise OSError(state["rounds"])

    graph(memory.saver).invoke(QUESTION, of_run("one"))
    app = graph(memory.saver, fails)
    before = shown(app)
    with pytest.raises(OSError, match=r"\d"):
        app.invoke(asked("undone"), of_run("two"))
    await roll_back(memory.saver, way, "two")
    assert shown(app) == before


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_a_pause_that_the_run_had_answered_waits_again(memory: Memory, way: str) -> None:
    """The run has made no checkpoint: its answer lies with the one of the run before."""
    answers: list[str] = []

    def asks(state: State) -> dict[str, Any]:
        answers.append(interrupt("May I?"))
        if answers[-1] == "break":
            raise OSError("broken")
        return {"results": [str(state["rounds"])]}

    app = graph(memory.saver, asks, rounds=1)
    app.invoke(QUESTION, of_run("one"))
    before = shown(app)
    with pytest.raises(OSError, match="broken"):
        app.invoke(Command(resume="break"), of_run("two"))
    await roll_back(memory.saver, way, "two")
    assert shown(app) == before
    assert app.invoke(None, of_run("three"))["__interrupt__"][0].value == "May I?"
    assert answers == ["break"]
    assert app.invoke(Command(resume="yes"), of_run("four"))["results"] == ["1"]


async def test_what_a_later_run_has_gone_on_from_stays(memory: Memory) -> None:
    app = graph(memory.saver)
    for run in ("one", "two", "three"):
        app.invoke(asked(run), of_run(run))
    before = shown(app)
    memory.saver.delete_for_runs(["two"])
    assert shown(app) == before
    await memory.saver.adelete_for_runs(["two", "three"])
    assert shown(app)[0][1] == before[-len(shown(app))][1]
    ids = [message.id for message in shown(app)[0][1]["messages"]]
    assert ids[0] == "one"
    assert "two" not in ids


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_pruning_keeps_what_the_latest_state_is_rebuilt_from(
    memory: Memory, way: str
) -> None:
    app = graph(memory.saver)
    app.invoke(QUESTION, of_run("one"))
    earlier = shown(app)[3][0]
    app.invoke(asked("two"), of_run("two"))
    latest = shown(app)[0]
    fork = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": earlier}}
    app.invoke(None, fork)
    newest = shown(app)[0]
    assert newest[0] > latest[0]
    if way == "sync":
        memory.saver.prune(["t"])
    else:
        await memory.saver.aprune(["t"])
    left = shown(app)
    assert left[0] == newest
    assert latest[0] not in [one[0] for one in left]
    assert app.invoke(asked("three"), of_run("three"))["messages"][0].id == "question"


async def test_pruning_keeps_one_checkpoint_where_nothing_is_rebuilt(memory: Memory) -> None:
    builder = StateGraph(Counted)
    builder.add_node("count", lambda state: {"n": state["n"] + 1})
    builder.add_edge(START, "count")
    app = builder.compile(checkpointer=memory.saver)
    app.invoke(Counted(n=1), of_run("one"))
    newest = shown(app)[0]
    memory.saver.prune(["t"], strategy="keep_latest")
    assert shown(app) == [newest]
    await memory.saver.aprune(["t"], strategy="delete")
    assert shown(app) == []


def test_a_strategy_that_there_is_not_is_refused(memory: Memory) -> None:
    with pytest.raises(UsageError, match="keep_latest or delete"):
        memory.saver.prune(["t"], strategy="all")
    with pytest.raises(UsageError, match="list of thread ids"):
        memory.saver.prune("t")


def test_a_file_of_an_earlier_version_takes_rollbacks(tmp_path: Path) -> None:
    with open_memory(tmp_path / "rungs.sqlite") as memory:
        graph(memory.saver).invoke(QUESTION, of_run("one"))
        memory.saver.conn.execute("ALTER TABLE writes DROP COLUMN run_id")
    with open_memory(tmp_path / "rungs.sqlite") as memory:
        app = graph(memory.saver)
        before = shown(app)
        app.invoke(asked("undone"), of_run("two"))
        memory.saver.delete_for_runs(["two"])
        assert shown(app) == before


def test_what_was_executed_is_not_executed_again_after_a_rollback(tmp_path: Path) -> None:
    done: list[str] = []

    def send(to: str) -> str:
        """Send a letter."""
        done.append(to)
        return "sent"

    tool = contract(send, effect="state_changing", requires_confirmation=True)
    asks = {"tool_calls": [{"id": "c1", "name": "send", "args": {"to": "Ann"}}]}
    with open_graph(
        "tool_calling",
        db=tmp_path / "rungs.sqlite",
        tools=[tool],
        model=ScriptedModel(replies=[asks, "Sent.", "Sent."]),
    ) as app:
        app.invoke({"messages": [("user", "Write to Ann.")]}, of_run("one"))
        before = shown(app)
        yes: Any = Command(resume={"decisions": [{"type": "approve"}]})
        assert app.invoke(yes, of_run("two"))["answer"] == "Sent."
        app.memory.saver.delete_for_runs(["two"])
        assert shown(app) == before
        ended = app.invoke(yes, of_run("three"))
    assert [message.text for message in ended["messages"] if message.type == "tool"] == ["sent"]
    assert done == ["Ann"]
