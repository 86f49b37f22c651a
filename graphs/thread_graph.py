"""A compiled graph on its memory: checked before it runs, one run a thread, each its user's."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from langgraph.types import Command, StreamMode
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs
from langgraph.graph.state import CompiledStateGraph

from graphs import models
from graphs.context import Context, read_context
from graphs.entering import settings_kept
from graphs.errors import UsageError
from graphs.growing import read_messages, with_ids
from graphs.memory import Memory
from graphs.storable import check_storable
from graphs.thread_ids import NO_THREAD_ID, is_thread_id
from graphs.threads import check_answer, enter_thread, stopped_early
from graphs.tracing import tracing
from graphs.transcript import newest_question

MIN_STEPS = 3
"""A model call, the last call with tools off, and LangGraph's own step to see that it is done."""

_WATCHED = {"messages", "custom"}
"""Stream modes for which LangGraph keeps a thread of its own waiting."""


class ThreadGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph on its memory, a file or a database.

    `invoke`, `ainvoke`, `stream`, `astream` and all else are LangGraph's. Beside them it keeps true
    that
    * what a caller got wrong (context, model, question, thread id) is said in one line before
      anything is written;
    * a thread is run by the user who began it, and by one run at a time;
    * each step is on disk before the next one begins (`durability="sync"`), unless the caller asks
      for less: a process that is killed may then repeat a step.

    Attributes:
        memory: Its memory, with `saver`, `store` and `cache`.
        model_by_context: Whether the run's `context.model` says which model answers.
    """

    memory: Memory
    model_by_context: bool

    @classmethod
    def on(
        cls,
        compiled: CompiledStateGraph[Any, Any, Any, Any],
        memory: Memory,
        *,
        model_by_context: bool,
    ) -> Self:
        """Make a compiled graph one that runs on a memory; all else of it stays."""
        graph = cls.__new__(cls)
        graph.__dict__.update(compiled.__dict__)
        graph.memory, graph.model_by_context = memory, model_by_context
        return graph

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """Copy the graph, as `with_config` does; the copy runs on the same memory."""
        return type(self).on(
            super().copy(update), self.memory, model_by_context=self.model_by_context
        )

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
        with self.memory.alone_in(run.thread_id), self._traced(run):
            run = self._enter(run)
            if not _WATCHED & _modes(stream_mode) and not kwargs.get("subgraphs"):
                # The steps of a run have one task each: one thread writes all that is written.
                config = {"max_concurrency": 1, **(config or {})}
            yield from super().stream(
                run.input,
                config,
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
        if self.model_by_context:  # resolving the model may read files
            run = await asyncio.to_thread(self._check, input, config, context)
        else:
            run = self._check(input, config, context)
        async with self.memory.aalone_in(run.thread_id):
            with self._traced(run):
                run = await asyncio.to_thread(self._enter, run)
                async for part in super().astream(
                    run.input,
                    config,
                    context=run.context,
                    stream_mode=stream_mode,
                    durability=durability or "sync",
                    **kwargs,
                ):
                    yield part

    def _traced(self, run: "_Run") -> contextlib.AbstractContextManager[None]:
        spans = tracing()
        if spans is None:
            return contextlib.nullcontext()
        model = run.context.model or os.environ.get("RUNGS_MODEL") or "offline"
        return spans.run(self.name, run.thread_id, model if self.model_by_context else None)

    def _check(self, given: Any, config: RunnableConfig | None, context: Any) -> "_Run":
        settings = ensure_config(merge_configs(self.config, config))
        thread_id = settings.get("configurable", {}).get("thread_id")
        if thread_id is None or not str(thread_id).strip():
            raise UsageError(
                'a thread id is needed: pass config={"configurable": {"thread_id": "..."}}'
            )
        if settings["recursion_limit"] < MIN_STEPS:
            raise UsageError(
                f"recursion_limit is {settings['recursion_limit']}: "
                f"a run needs at least {MIN_STEPS} steps"
            )
        if not is_thread_id(str(thread_id)):
            raise UsageError(f"{NO_THREAD_ID}: pass another one")
        read = read_context(self.context_schema or Context, context)
        if self.model_by_context:
            models.resolve(read.model)
        checked, question = _read_input(given)
        check_storable(checked.resume if isinstance(checked, Command) else checked)
        return _Run(
            str(thread_id),
            checked,
            question,
            read,
            settings.get("metadata", {}),
            is_addressed=bool(settings["configurable"].get("checkpoint_id")),
        )

    def _enter(self, run: "_Run") -> "_Run":
        """Note that the run begins, and begin anew where nothing of it was written before.

        A run that stopped early is gone on with by a new run, which begins with its notes.
        """
        goes_on = run.input is None and not run.is_addressed
        if goes_on and (again := stopped_early(self.memory, run.thread_id)):
            given, question = _read_input(again)
            run = replace(run, input=given, question=question)
        notes = run.input.get("from_notes") if isinstance(run.input, Mapping) else None
        asked = enter_thread(
            self.memory,
            run.thread_id,
            user_id=run.context.user,
            graph=self.name,
            question=run.question,
            from_notes=notes if isinstance(notes, str) else None,
            settings={**settings_kept(run.context), **run.metadata},
        )
        if isinstance(run.input, Command):
            check_answer(self.memory, run.thread_id, run.input.resume)
        if goes_on and run.input is None and asked is not None:
            return replace(run, input=_read_input(asked)[0])
        return run


@dataclass(frozen=True, slots=True)
class _Run:
    thread_id: str
    input: Any
    question: str | None
    context: Context
    metadata: Mapping[str, Any]
    is_addressed: bool
    """Whether it goes on from a checkpoint that the caller names."""


def _modes(stream_mode: StreamMode | Sequence[StreamMode] | None) -> set[str]:
    return {stream_mode} if isinstance(stream_mode, str) else set(stream_mode or ())


def _read_input(given: Any) -> tuple[Any, str | None]:
    """Return the input with messages that have ids, and its question; None goes on with a run."""
    if isinstance(given, Command):
        if given.resume is None:
            raise UsageError("a Command must carry the answer: Command(resume=...)")
        if given.goto:  # that node would run beside the one that waits, on the same calls
            raise UsageError("an answer goes to what waits: pass Command(resume=...) without goto")
        return given, None
    if given is None:
        return None, None
    if not isinstance(given, Mapping) or given.get("messages") is None:
        raise UsageError('no question: pass {"messages": [...]} with a human message')
    messages = given["messages"]
    found = read_messages(messages if isinstance(messages, list) else [messages])
    question = newest_question(found).text
    return {**given, "messages": with_ids(found)}, question
