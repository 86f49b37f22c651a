"""A graph node written once for sync and async callers."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.base import BaseStore

from graphs.context import Context, read_context
from graphs.entering import entered, served_graph
from graphs.own_addresses import OwnAddresses
from graphs.owner import check_owner
from graphs.state import State
from graphs.waiting import Steps, Wait, arun, run
from tools import ToolSet
from tools.redact import Filter, in_force
from tools.redaction_policy import DEFAULT_POLICY, RedactionPolicy
from tools.redactor import redactor_for

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
    def saver(self) -> BaseCheckpointSaver[Any] | None:
        """The checkpointer of the graph, if it was compiled with one."""
        saver = self.config.get("configurable", {}).get("__pregel_checkpointer")
        return saver if isinstance(saver, BaseCheckpointSaver) else None

    @property
    def thread_id(self) -> str | None:
        """The thread the run belongs to, if it has one."""
        thread = self.config.get("configurable", {}).get("thread_id")
        return None if thread is None else str(thread)


Body = Callable[[State, Scope], Steps[Update]]


class Node(Runnable[State, Update]):
    """A node that serves `invoke` and `ainvoke` natively from one body.

    It keeps true that a sync caller needs no event loop, that an async caller's loop is never
    blocked, that nothing runs in another user's thread, and that what the run may not show is
    taken out by the graph's policy, wherever something redacts meanwhile.

    Args:
        name: What the node is called in drawings and traces.
        body: What it does: takes state and scope, and yields what it must wait for.
        context: The variant's settings, which stand in where the caller passed none.
        tools: What must be listed before the body starts.

    Attributes:
        redaction: What is taken out beside credentials and card numbers; the graph sets it.
    """

    redaction: RedactionPolicy = DEFAULT_POLICY

    def __init__(
        self, name: str, body: Body, context: type[Context], tools: ToolSet | None = None
    ) -> None:
        self.name = name
        self._body = body
        self._context = context
        self.tools = tools

    def _start(self, state: State, config: RunnableConfig | None) -> tuple[Steps[Update], Filter]:
        runtime = get_runtime()
        scope = Scope(read_context(self._context, runtime.context), config or {}, runtime)
        check_owner(state, scope.context.user, scope.thread_id)
        own = OwnAddresses(state, scope.context)
        steps = self._body(state, scope)
        graph = served_graph(scope.config)
        if graph is not None and scope.store is not None and scope.thread_id is not None:
            steps = _after(
                entered(graph, state, scope.context, scope.thread_id, scope.store), steps
            )
        if self.tools is not None and not self.tools.is_ready:
            steps = _prepared(self.tools, steps)
        return steps, Filter(redactor_for(self.redaction), own)

    def invoke(self, input: State, config: RunnableConfig | None = None, **_: Any) -> Update:  # noqa: A002
        """Run the body, waiting in this thread."""
        steps, filter_ = self._start(input, config)
        with in_force(filter_):
            return run(steps)

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **_: Any) -> Update:  # noqa: A002
        """Run the body, waiting on the event loop."""
        steps, filter_ = self._start(input, config)
        with in_force(filter_):
            return await arun(steps)


def _after(first: Steps[None], steps: Steps[Update]) -> Steps[Update]:
    yield from first
    return (yield from steps)


def _prepared(tools: ToolSet, steps: Steps[Update]) -> Steps[Update]:
    """Have the tools listed first, away from an event loop: it may take seconds."""
    yield Wait(tools.prepare, lambda: asyncio.to_thread(tools.prepare))
    return (yield from steps)
