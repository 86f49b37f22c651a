"""What a tool that runs may reach of the run: its context and store, and no way around redaction.

A tool that calls a model, or writes to the stream, would tell callbacks and streams what nobody
has redacted: LangChain hands the callbacks of a run down to whatever runs in it. So inside a tool
there are none (what it was called with and how it ended is told by `graphs.tool_events`), and what
it writes to the stream is redacted.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import langsmith.utils
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.runtime import Runtime

from graphs.node import Scope
from tools import redact_data

_RUNTIME = "__pregel_runtime"
"""LangGraph's key for the runtime in a config, where `get_stream_writer` looks for it."""


@dataclass(frozen=True, slots=True)
class Inside:
    """What a tool reaches.

    Attributes:
        runtime: The run's, with a stream writer that redacts.
        config: The run's, without callbacks.
    """

    runtime: Runtime[Any]
    config: RunnableConfig

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Make it what LangChain and LangGraph find in the thread or task that the tool runs in."""
        token = var_child_runnable_config.set(self.config)
        try:
            with untraced():
                yield
        finally:
            var_child_runnable_config.reset(token)


def untraced() -> contextlib.AbstractContextManager[Any]:
    """Keep LangSmith's tracer, where it is on, from following into a tool by itself."""
    if not langsmith.utils.tracing_is_enabled():
        return contextlib.nullcontext()
    return langsmith.tracing_context(enabled=False)


def inside(scope: Scope) -> Inside:
    """Return what the tools of a round reach."""
    tell = scope.runtime.stream_writer

    def write(told: Any) -> None:
        tell(redact_data(told))

    runtime = scope.runtime.override(context=scope.context, stream_writer=write)
    here = {**scope.config.get("configurable", {}), _RUNTIME: runtime}
    return Inside(runtime, {**scope.config, "callbacks": None, "configurable": here})
