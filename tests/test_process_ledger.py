"""A graph with a checkpointer of one's own: each effect once within a process, and a warning."""

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langgraph.types import Command
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from graphs.models import ScriptedModel
from graphs.process_ledger import MOST, ProcessLedger
from tests.support import MODES, Mode, compiled, results, run
from tools import contract

CONFIG: RunnableConfig = {"configurable": {"thread_id": "t"}}
YES: Any = Command(resume={"decisions": [{"type": "approve"}]})
PAY = {"tool_calls": [{"id": "a", "name": "pay", "args": {"amount": 5}}]}


class Till:
    """A graph whose one tool takes a while to pay."""

    def __init__(self, **compile_args: Any) -> None:
        self.paid: list[int] = []

        def pay(amount: int) -> str:
            """Pay."""
            time.sleep(0.05)
            self.paid.append(amount)
            return f"payment {len(self.paid)}"

        model = ScriptedModel(replies=[PAY, *["Paid."] * 4])
        self.graph = compiled(model, [contract(pay)], name="tool_calling", **compile_args)

    def answer_at_once(self, mode: Mode, times: int) -> None:
        """Approve several times at the same moment."""
        if mode == "invoke":
            with ThreadPoolExecutor(times) as pool:
                list(pool.map(lambda _: self.graph.invoke(YES, CONFIG), range(times)))
            return

        async def answers() -> None:
            await asyncio.gather(*(self.graph.ainvoke(YES, CONFIG) for _ in range(times)))

        asyncio.run(answers())


def stores() -> list[dict[str, Any]]:
    return [{}, {"store": InMemoryStore()}]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", [0, 1], ids=["without a store", "a store without atomic steps"])
def test_answers_at_the_same_moment_in_one_process_pay_once(mode: Mode, place: int) -> None:
    till = Till(checkpointer=InMemorySaver(), **stores()[place])
    assert run(mode, till.graph, "?")["__interrupt__"]
    till.answer_at_once(mode, 3)
    assert till.paid == [5]


@pytest.mark.parametrize("mode", MODES)
def test_an_old_checkpoint_that_is_approved_again_is_answered_from_the_ledger(mode: Mode) -> None:
    till = Till(checkpointer=InMemorySaver())
    run(mode, till.graph, "?")
    waiting = till.graph.get_state(CONFIG).config
    run(mode, till.graph, YES)
    again = run(mode, till.graph, YES, config=dict(waiting))
    assert till.paid == [5]
    (result,) = results(again["messages"])
    assert result.text == "payment 1"
    assert result.additional_kwargs["from_ledger"]


@pytest.mark.parametrize("mode", MODES)
def test_two_graphs_on_one_checkpointer_share_the_ledger_and_two_checkpointers_do_not(
    mode: Mode,
) -> None:
    saver = InMemorySaver()
    first, second, other = (Till(checkpointer=kept) for kept in (saver, saver, InMemorySaver()))
    run(mode, first.graph, "?")
    waiting = first.graph.get_state(CONFIG).config
    run(mode, first.graph, YES)
    run(mode, second.graph, YES, config=dict(waiting))
    run(mode, other.graph, "?")
    run(mode, other.graph, YES)
    assert (first.paid, second.paid, other.paid) == ([5], [], [5])


@pytest.mark.parametrize("mode", MODES)
def test_a_graph_without_a_store_says_once_what_to_pass(
    mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    till = Till(checkpointer=InMemorySaver())
    with caplog.at_level(logging.WARNING, logger="rungs"):
        for thread in ("t", "u"):
            till.graph.invoke(
                {"messages": [("user", "?")]}, {"configurable": {"thread_id": thread}}
            )
            run(mode, till.graph, YES, thread=thread)
    said = [record.getMessage() for record in caplog.records if "no store" in record.getMessage()]
    assert len(said) == 1
    assert "pay changes state" in said[0]
    assert "pass store= to compile, or use open_graph" in said[0]


@pytest.mark.parametrize("mode", MODES)
def test_a_graph_with_a_store_and_one_that_only_reads_say_nothing(
    mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    def look() -> str:
        """Look."""
        return "seen"

    reply = {"tool_calls": [{"id": "a", "name": "look", "args": {}}]}
    reads = compiled(
        ScriptedModel(replies=[reply, "Seen."]),
        [contract(look, effect="read_only")],
        checkpointer=InMemorySaver(),
    )
    till = Till(checkpointer=InMemorySaver(), store=InMemoryStore())
    with caplog.at_level(logging.WARNING, logger="rungs"):
        run(mode, reads, "?")
        run(mode, till.graph, "?")
        run(mode, till.graph, YES)
    assert not [record for record in caplog.records if record.name == "rungs"]


def test_the_oldest_entries_are_forgotten_beyond_a_fixed_number() -> None:
    ledger = ProcessLedger()
    for place in range(MOST + 1):
        assert ledger.put_if_absent(("ledger",), str(place), {"ended": False})
    assert ledger.get(("ledger",), "0") is None
    assert ledger.get(("ledger",), "1") is not None
    assert not ledger.put_if_absent(("ledger",), str(MOST), {"ended": False})


@pytest.mark.parametrize("mode", MODES)
def test_a_call_that_was_turned_away_beside_its_approval_has_one_result_and_does_not_run(
    mode: Mode,
) -> None:
    till = Till(checkpointer=InMemorySaver())
    run(mode, till.graph, "?")
    astray: Any = Command(resume=YES.resume, goto="run_tools")
    output = run(mode, till.graph, astray)
    (result,) = results(output["messages"])
    assert "nobody approved this call" in result.text
    assert till.paid == []
