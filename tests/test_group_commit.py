"""Writes that come at the same time share a transaction, whoever waits for them."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain

import pytest

from graphs.memory.group_commit import GroupCommit


class Table:
    """A table whose first commit waits until it is let go.

    Attributes:
        commits: The rows of each transaction.
    """

    def __init__(self) -> None:
        self.commits: list[list[int]] = []
        self.begun, self.free = threading.Event(), threading.Event()
        self.executor = ThreadPoolExecutor(3)
        self.group = GroupCommit[int](self.executor, self.commit)

    def commit(self, rows: Sequence[int]) -> None:
        """Save rows; a negative one can't be saved."""
        self.begun.set()
        assert self.free.wait(10)
        if any(row < 0 for row in rows):
            raise ValueError(f"no room for {min(rows)}")
        self.commits.append(list(rows))


@pytest.fixture
def table() -> Iterator[Table]:
    made = Table()
    with made.executor:
        yield made


def wait_until(table: Table, count: int) -> None:
    """Wait until so many writes wait for the one that is under way."""
    while len(table.group._waiting) < count:
        threading.Event().wait(0.001)


def test_threads_that_save_at_once_share_a_transaction_in_the_order_in_which_they_came(
    table: Table,
) -> None:
    with ThreadPoolExecutor(20) as pool:
        first = pool.submit(table.group.write_now, 0)
        assert table.begun.wait(10)
        others = []
        for row in range(1, 20):
            others.append(pool.submit(table.group.write_now, row))
            wait_until(table, row)
        assert not any(one.done() for one in [first, *others])
        table.free.set()
        for one in (first, *others):
            one.result(10)
    assert table.commits == [[0], list(range(1, 20))]


async def test_threads_and_tasks_wait_for_one_another_in_one_line(table: Table) -> None:
    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(table.group.write_now, 0)
        assert table.begun.wait(10)
        tasks, threads = [], []
        for row in range(1, 9):
            if row % 2:
                tasks.append(asyncio.create_task(table.group.write(partial(int, row))))
                await asyncio.sleep(0)
            else:
                threads.append(pool.submit(table.group.write_now, row))
            wait_until(table, row)
        table.free.set()
        await asyncio.gather(*tasks)
        for one in (first, *threads):
            one.result(10)
        await table.group.write(lambda: 9)
        await asyncio.to_thread(table.group.write_now, 10)
    assert table.commits == [[0], list(range(1, 9)), [9], [10]]


def test_a_thread_whose_write_fails_is_told_and_no_other(table: Table) -> None:
    with ThreadPoolExecutor(4) as pool:
        saves = [pool.submit(table.group.write_now, 0)]
        assert table.begun.wait(10)
        saves += [pool.submit(table.group.write_now, row) for row in (1, -2, 3)]
        wait_until(table, 3)
        table.free.set()
        errors = [one.exception(10) for one in saves]
    assert [str(error) for error in errors if error] == ["no room for -2"]
    assert sorted(chain(*table.commits)) == [0, 1, 3]


def test_a_thread_that_is_interrupted_while_it_writes_lets_the_next_one_write(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = table.commit

    def interrupted(rows: Sequence[int]) -> None:
        monkeypatch.setattr(table.group, "_commit", save)
        table.begun.set()
        assert table.free.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(table.group, "_commit", interrupted)
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(table.group.write_now, 0)
        assert table.begun.wait(10)
        others = [pool.submit(table.group.write_now, row) for row in (1, 2)]
        wait_until(table, 2)
        table.free.set()
        assert isinstance(first.exception(10), KeyboardInterrupt)
        for one in others:
            one.result(10)
    assert sorted(chain(*table.commits)) == [1, 2]


async def test_what_a_loop_asked_for_is_told_even_where_the_memory_is_closed_meanwhile(
    table: Table,
) -> None:
    thread = asyncio.create_task(asyncio.to_thread(table.group.write_now, 0))
    await asyncio.to_thread(table.begun.wait, 10)
    waiting = asyncio.create_task(table.group.write(lambda: 1))
    await asyncio.sleep(0)
    table.executor.shutdown()
    table.free.set()
    await asyncio.gather(thread, waiting)
    assert table.commits == [[0], [1]]
