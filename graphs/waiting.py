"""What a node waits for: the one line in which sync and async callers differ."""

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Wait(Generic[Result]):
    """Something to wait for, in both worlds."""

    sync: Callable[[], Result]
    asynchronous: Callable[[], Awaitable[Result]]


Steps = Generator[Wait[Any], Any, Result]
"""A piece of a node: yields what it waits for, is sent the result, and returns its own."""


def run(steps: Steps[Result]) -> Result:
    """Drive steps to their end in this thread; an exception at a wait is raised inside them."""
    try:
        wait = next(steps)
        while True:
            try:
                result = wait.sync()
            except Exception as error:  # noqa: BLE001 - the steps decide what to do with it
                wait = steps.throw(error)
            else:
                wait = steps.send(result)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        steps.close()


async def arun(steps: Steps[Result]) -> Result:
    """Drive steps to their end on the event loop; an exception at a wait is raised inside them."""
    try:
        wait = next(steps)
        while True:
            try:
                result = await wait.asynchronous()
            except Exception as error:  # noqa: BLE001 - the steps decide what to do with it
                wait = steps.throw(error)
            else:
                wait = steps.send(result)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        steps.close()
