"""Open a variant's graph on a memory file or a database, for sync and async callers alike."""

import asyncio
import os
from contextlib import ExitStack
from typing import Any

from graphs.errors import UsageError
from graphs.memory import open_memory
from graphs.thread_graph import ThreadGraph
from graphs.tracing import trace_by_environment
from graphs.variants import GRAPHS


class open_graph:  # noqa: N801 - used like the function it stands for
    """Open a graph on its memory: a context manager, sync and async, that yields the graph.

        with open_graph("tools_in_context", db="rungs.sqlite") as graph:
            graph.invoke({"messages": [...]}, {"configurable": {"thread_id": "1"}})

    Args:
        name: A name in `GRAPHS`.
        db: The SQLite file, made where there is none, or `postgresql://user:password@host/database`;
            None takes the database that `RUNGS_DATABASE_URL` names, else the file `rungs.sqlite`.
        build_args: Passed to the variant's `build`: model, tools, and its own wiring.

    Raises:
        UsageError: There is no such graph.
        MemoryFileError: The file can't be used; it is left as it was.
        DatabaseError: The database can't be used; no message holds its password.
    """

    def __init__(
        self, name: str, db: str | os.PathLike[str] | None = None, **build_args: Any
    ) -> None:
        if name not in GRAPHS:
            raise UsageError(f"there is no graph {name!r}; there are: {', '.join(GRAPHS)}")
        self._name, self._db, self._build_args = name, db, build_args
        self._opened = ExitStack()

    def __enter__(self) -> ThreadGraph:
        trace_by_environment()
        builder = GRAPHS[self._name].build(**self._build_args)
        for tools in {spec.runnable.tools for spec in builder.nodes.values()} - {None}:
            self._opened.callback(tools.close)
        memory = self._opened.enter_context(open_memory(self._db))
        compiled = builder.compile(
            name=self._name, checkpointer=memory.saver, store=memory.store, cache=memory.cache
        )
        by_context = self._build_args.get("model") is None
        return ThreadGraph.on(compiled, memory, model_by_context=by_context)

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    async def __aenter__(self) -> ThreadGraph:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._opened.close)


__all__ = ["ThreadGraph", "open_graph"]
