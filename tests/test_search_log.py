"""The search log: recorded once, completed by the calls that followed, read newest first."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from graphs.memory import open_memory
from tools.search_log import (
    NAMESPACE,
    QUERY_CHARACTERS,
    Search,
    aread_log,
    arecord,
    arecord_calls,
    read_log,
    record,
    record_calls,
)


@pytest.fixture(params=["SQLite", "in memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    if request.param == "in memory":
        yield InMemoryStore()
    else:
        with open_memory(tmp_path / "rungs.sqlite") as memory:
            yield memory.store


def search(query: str = "refund", call_id: str = "c1", thread: str = "t", at: int = 0) -> Search:
    return {
        "query": query,
        "limit": 3,
        "returned": ["refund_quote"],
        "matched": 1,
        "available": 40,
        "thread": thread,
        "user": "ann",
        "step": 1,
        "call_id": call_id,
        "at": f"2026-01-01T00:00:{at:02}+00:00",
        "called": [],
    }


def test_a_search_is_read_back_as_it_was_recorded(store: BaseStore) -> None:
    record(store, search())
    assert read_log(store) == [search()]


def test_a_search_that_a_resumed_run_makes_again_is_recorded_once(store: BaseStore) -> None:
    record(store, search())
    record(store, search())
    record(store, search(thread="another"))
    assert len(read_log(store)) == 2


def test_the_newest_searches_come_first_and_no_more_than_asked_for(store: BaseStore) -> None:
    for number in (3, 1, 2):
        record(store, search(call_id=f"c{number}", at=number))
    assert [kept["call_id"] for kept in read_log(store, 2)] == ["c3", "c2"]


def test_more_searches_than_fit_a_page_are_all_seen() -> None:
    store = InMemoryStore()
    for number in range(450):
        record(store, search(call_id=f"c{number}", at=number % 60))
    assert len(read_log(store, 1000)) == 450


def test_the_calls_that_followed_are_added_in_their_order(store: BaseStore) -> None:
    record(store, search())
    record_calls(store, "t", ["c1", "never recorded"], ["refund_quote"])
    record_calls(store, "t", ["c1"], ["issue_refund"])
    record_calls(store, "t", ["c1"], [])
    (kept,) = read_log(store)
    assert kept["called"] == ["refund_quote", "issue_refund"]


def test_sync_and_async_write_and_read_the_same(store: BaseStore) -> None:
    async def run() -> list[Search]:
        await arecord(store, search())
        await arecord_calls(store, "t", ["c1"], ["refund_quote"])
        return await aread_log(store)

    assert asyncio.run(run()) == read_log(store) == [{**search(), "called": ["refund_quote"]}]


def test_a_secret_in_a_query_is_never_stored(store: BaseStore) -> None:
    record(store, search("charge sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD now"))
    (kept,) = read_log(store)
    assert "abcdefghij" not in kept["query"]
    assert kept["query"].startswith("charge ")


def test_a_query_is_kept_in_one_line_of_bounded_length(store: BaseStore) -> None:
    record(store, search("two\nlines " + "x" * 100_000))
    (kept,) = read_log(store)
    assert kept["query"].startswith("two lines x")
    assert len(kept["query"]) == QUERY_CHARACTERS


def test_what_is_no_search_is_left_out(store: BaseStore) -> None:
    store.put(NAMESPACE, "foreign", {"text": "hello"})
    store.put((*NAMESPACE, "below"), "other", {"query": 5})
    record(store, search())
    assert read_log(store) == [search()]
