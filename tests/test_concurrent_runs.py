"""Many runs at once on one memory file: none is lost, and none ends in an error."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from graphs import open_graph
from graphs.threads import list_threads
from graphs.tool_threads import in_daemon_thread
from tests.cli import ROOT

RUNS, ROUNDS = 40, 3


class Rounds(BaseChatModel):
    """Calls `look` for some rounds, whoever asks, and says then what its question was."""

    @property
    def _llm_type(self) -> str:
        return "rounds"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "Rounds":
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        asked = next(message.text for message in messages if message.type == "human")
        done = sum(message.type == "tool" for message in messages)
        reply = AIMessage(f"{asked}: {messages[-1].text}")
        if done < ROUNDS:
            args = {"query": f"{asked} {done}"}
            reply = AIMessage(
                "", tool_calls=[{"id": f"{asked}-{done}", "name": "look", "args": args}]
            )
        return ChatResult(generations=[ChatGeneration(message=reply)])


def look(query: str) -> str:
    """Look something up."""
    return f"found {query}"


def opened(db: Path) -> open_graph:
    return open_graph("tools_in_context", db=db, model=Rounds(), tools=[look])


def asked(number: int, name: str = "") -> tuple[dict[str, Any], Any]:
    question = f"q{name}{number}"
    return {"messages": [("user", question)]}, {"configurable": {"thread_id": f"t{question}"}}


def check_whole(graph: Any, results: Sequence[dict[str, Any]], name: str = "") -> None:
    """Each run has its own answer, and its thread the whole transcript, as it can be read back."""
    for number, result in enumerate(results):
        question = f"q{name}{number}"
        assert result["status"] == "answered"
        assert result["answer"] == f"{question}: found {question} {ROUNDS - 1}"
        kept = graph.get_state(asked(number, name)[1]).values["messages"]
        assert [message.type for message in kept] == ["human", *["ai", "tool"] * ROUNDS, "ai"]
        assert [message.id for message in kept] == [m.id for m in result["messages"]]


def test_no_run_of_many_threads_is_lost(tmp_path: Path) -> None:
    with opened(tmp_path / "r.sqlite") as graph, ThreadPoolExecutor(RUNS) as pool:
        together = threading.Barrier(RUNS)

        def one(number: int) -> dict[str, Any]:
            together.wait()
            return graph.invoke(*asked(number))

        check_whole(graph, list(pool.map(one, range(RUNS))))
        assert len(list_threads(graph.memory)) == RUNS


def test_no_run_of_many_on_one_event_loop_is_lost(tmp_path: Path) -> None:
    async def all_of_them() -> None:
        async with opened(tmp_path / "r.sqlite") as graph:
            runs = (graph.ainvoke(*asked(number)) for number in range(RUNS))
            results = await asyncio.gather(*runs)
            await asyncio.to_thread(check_whole, graph, results)

    asyncio.run(all_of_them())


def test_a_run_that_is_cancelled_among_many_takes_no_other_with_it(tmp_path: Path) -> None:
    async def all_of_them() -> None:
        async with opened(tmp_path / "r.sqlite") as graph:
            tasks = [asyncio.create_task(graph.ainvoke(*asked(n))) for n in range(RUNS)]
            stopped = tasks[1::2]
            for turn, task in enumerate(stopped):
                for _ in range(turn):
                    await asyncio.sleep(0)
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            for place, result in enumerate(ended):
                if isinstance(result, asyncio.CancelledError):
                    question, config = asked(place)
                    state = await graph.aget_state(config)
                    ended[place] = await graph.ainvoke(None if state.next else question, config)
            results: Any = ended
            assert [result["status"] for result in results] == ["answered"] * RUNS

    asyncio.run(all_of_them())


def test_hundreds_of_tools_that_hang_keep_no_other_waiting() -> None:
    hanging, ended = threading.Event(), threading.Semaphore(0)
    for _ in range(300):
        in_daemon_thread(hanging.wait, lambda _: ended.release())
        in_daemon_thread(lambda: None, lambda _: ended.release())
    for _ in range(300):
        assert ended.acquire(timeout=10)
    assert not ended.acquire(blocking=False)
    hanging.set()
    for _ in range(300):
        assert ended.acquire(timeout=10)


SIDE = """
import asyncio, sys
from pathlib import Path
from tests.test_concurrent_runs import RUNS, asked, check_whole, opened

async def main(db, name):
    async with opened(Path(db)) as graph:
        results = await asyncio.gather(*(graph.ainvoke(*asked(n, name)) for n in range(RUNS)))
        await asyncio.to_thread(check_whole, graph, results, name)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.processes
def test_no_run_of_two_processes_on_one_file_is_lost(tmp_path: Path) -> None:
    db = tmp_path / "r.sqlite"
    with opened(db) as graph:
        sides = [
            subprocess.Popen([sys.executable, "-W", "error", "-c", SIDE, str(db), name], cwd=ROOT)
            for name in "ab"
        ]
        with ThreadPoolExecutor(RUNS) as pool:
            results = list(pool.map(lambda number: graph.invoke(*asked(number)), range(RUNS)))
        assert [side.wait(120) for side in sides] == [0, 0]
        check_whole(graph, results)
        assert len(list_threads(graph.memory)) == 3 * RUNS
