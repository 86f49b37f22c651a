"""Open a variant's graph on a memory file, for sync and async callers alike."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, NamedTuple, Self

from langchain_core.messages import convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StreamMode

from graphs.context import Context, read_context
from graphs.errors import UsageError
from graphs.memory import Memory, open_memory
from graphs.thread_locks import alone_in
from graphs.threads import enter_thread
from graphs.transcript import newest_question
from graphs.variants import GRAPHS

DEFAULT_DB = "rungs.sqlite"

WRITERS = 1
"""Threads that write checkpoints for a sync run: its steps have one task each, so one does."""

MIN_STEPS = 3
"""A model call, the last call with tools off, and LangGraph's own step to see that it is done."""


class ThreadGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph on a memory file.

    `invoke`, `ainvoke`, `stream`, `astream` and all else are LangGraph's. Beside them it keeps true
    that
    * what a caller got wrong (context, question, thread id) is said in one line before anything is
      written;
    * a thread is run by the user who began it, and by one run at a time;
    * each step is on disk before the next one begins (`durability="sync"`), unless the caller asks
      for less.

    Attributes:
        memory: The memory file, with `saver`, `store` and `cache`.
    """

    memory: Memory

    def stream(
        self,
        input: Any,  # noqa: A002 - LangGraph's name
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        stream_mode: StreamMode | Sequence[StreamMode] | None = None,
        durability: Any = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        """Run the graph and yield its steps, as LangGraph's `stream` does.

        Raises:
            UsageError: The caller's mistake; nothing was written.
        """
        run = self._check(input, config, context)
        with alone_in(run.thread_id, self.memory.path):
            self._enter(run)
            yield from super().stream(
                input,
                {"max_concurrency": WRITERS, **(config or {})},
                context=run.context,
                stream_mode=stream_mode,
                durability=durability or "sync",
                **kwargs,
            )

    async def astream(
        self,
        input: Any,  # noqa: A002 - LangGraph's name
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        stream_mode: StreamMode | Sequence[StreamMode] | None = None,
        durability: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Run the graph and yield its steps, as LangGraph's `astream` does.

        Raises:
            UsageError: The caller's mistake; nothing was written.
        """
        run = self._check(input, config, context)
        with alone_in(run.thread_id, self.memory.path):
            await asyncio.to_thread(self._enter, run)
            async for part in super().astream(
                input,
                config,
                context=run.context,
                stream_mode=stream_mode,
                durability=durability or "sync",
                **kwargs,
            ):
                yield part

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """Copy the graph, as `with_config` does; the copy runs on the same memory file."""
        copied = super().copy(update)
        copied.memory = self.memory
        return copied

    def _check(self, given: Any, config: RunnableConfig | None, context: Any) -> "_Run":
        thread_id = ((config or {}).get("configurable") or {}).get("thread_id")
        if thread_id is None or not str(thread_id).strip():
            raise UsageError(
                'a thread id is needed: pass config={"configurable": {"thread_id": "..."}}'
            )
        if (limit := (config or {}).get("recursion_limit")) is not None and limit < MIN_STEPS:
            raise UsageError(f"recursion_limit is {limit}: a run needs at least {MIN_STEPS} steps")
        schema = self.context_schema or Context
        settings = read_context(schema, context)
        metadata = dict((config or {}).get("metadata") or {})
        return _Run(str(thread_id), _question(given), settings, metadata)

    def _enter(self, run: "_Run") -> None:
        settings = {**run.context.model_dump(exclude_defaults=True), **run.metadata}
        enter_thread(
            self.memory,
            run.thread_id,
            user_id=run.context.user,
            graph=self.name,
            question=run.question,
            settings=settings,
        )


class _Run(NamedTuple):
    thread_id: str
    question: str | None
    context: Context
    metadata: dict[str, Any]


def _question(given: Any) -> str | None:
    """Return the question of an input; None goes on with what is unfinished."""
    if not isinstance(given, dict):
        return None
    messages = given.get("messages")
    if messages is None:
        raise UsageError('no question: pass {"messages": [...]} with a human message')
    try:
        found = convert_to_messages(messages if isinstance(messages, list) else [messages])
    except (ValueError, TypeError, NotImplementedError, KeyError) as error:
        raise UsageError(f"messages can't be read: {str(error).splitlines()[0]}") from None
    return newest_question(found).text


class open_graph:  # noqa: N801 - used like the function it stands for
    """Open a graph on a memory file: a context manager, sync and async, that yields the graph.

        with open_graph("tools_in_context", db="rungs.sqlite") as graph:
            graph.invoke({"messages": [...]}, {"configurable": {"thread_id": "1"}})

    Args:
        name: A name in `GRAPHS`.
        db: The SQLite file, made where there is none.
        build_args: Passed to the variant's `build`: model, tools, and its own wiring.

    Raises:
        UsageError: There is no such graph.
        MemoryFileError: The file can't be used; it is left as it was.
    """

    def __init__(
        self, name: str, db: str | os.PathLike[str] = DEFAULT_DB, **build_args: Any
    ) -> None:
        if name not in GRAPHS:
            raise UsageError(f"there is no graph {name!r}; there are: {', '.join(GRAPHS)}")
        self._name, self._db, self._build_args = name, db, build_args
        self._opened = ExitStack()

    def __enter__(self) -> ThreadGraph:
        builder = GRAPHS[self._name].build(**self._build_args)
        memory = self._opened.enter_context(open_memory(self._db))
        compiled = builder.compile(
            name=self._name, checkpointer=memory.saver, store=memory.store, cache=memory.cache
        )
        return _on(compiled, memory)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened.close()

    async def __aenter__(self) -> ThreadGraph:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self._opened.close)


def _on(compiled: CompiledStateGraph[Any, Any, Any, Any], memory: Memory) -> ThreadGraph:
    """Make the compiled graph one that runs on a memory file; all else of it stays."""
    graph = ThreadGraph.__new__(ThreadGraph)
    graph.__dict__.update(compiled.__dict__)
    graph.memory = memory
    return graph


__all__ = ["DEFAULT_DB", "ThreadGraph", "open_graph"]
