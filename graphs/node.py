"""A graph node written once for sync and async callers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.base import BaseStore

from graphs.context import Context, read_context
from graphs.owner import check_owner
from graphs.state import State
from graphs.waiting import Steps, arun, run

Update = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scope:
    """What a node may look at beside the state: the run's settings, its store and its config."""

    context: Context
    config: RunnableConfig
    runtime: Runtime[Any]

    @property
    def store(self) -> BaseStore | None:
        """The store of the graph, if it was compiled with one."""
        return self.runtime.store

    @property
    def thread_id(self) -> str | None:
        """The thread the run belongs to, if it has one."""
        thread = self.config.get("configurable", {}).get("thread_id")
        return None if thread is None else str(thread)


Body = Callable[[State, Scope], Steps[Update]]


class Node(Runnable[State, Update]):
    """A node that serves `invoke` and `ainvoke` natively from one body.

    It keeps true that a sync caller needs no event loop, that an async caller's loop is never
    blocked, and that nothing runs in another user's thread.

    Args:
        name: What the node is called in drawings and traces.
        body: What it does: takes state and scope, and yields what it must wait for.
        context: The variant's settings, which stand in where the caller passed none.
    """

    def __init__(self, name: str, body: Body, context: type[Context]) -> None:
        self.name = name
        self._body = body
        self._context = context

    def _start(self, state: State, config: RunnableConfig | None) -> Steps[Update]:
        runtime = get_runtime()
        scope = Scope(read_context(self._context, runtime.context), config or {}, runtime)
        check_owner(state, scope.context.user, scope.thread_id)
        return self._body(state, scope)

    def invoke(self, input: State, config: RunnableConfig | None = None, **_: Any) -> Update:  # noqa: A002
        """Run the body, waiting in this thread."""
        return run(self._start(input, config))

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **_: Any) -> Update:  # noqa: A002
        """Run the body, waiting on the event loop."""
        return await arun(self._start(input, config))
