"""Ways to run a graph that every test uses: the four entry points, and one-line questions."""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.graph.state import CompiledStateGraph

from graphs import GRAPHS

Mode = Literal["invoke", "ainvoke", "stream", "astream"]
MODES: tuple[Mode, ...] = ("invoke", "ainvoke")
ALL_MODES: tuple[Mode, ...] = ("invoke", "ainvoke", "stream", "astream")


def compiled(
    model: BaseChatModel | str,
    tools: Sequence[Any] | None = None,
    name: str = "tools_in_context",
    **compile_args: Any,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Build and compile a variant with a scripted model."""
    graph: CompiledStateGraph[Any, Any, Any, Any] = (
        GRAPHS[name].build(model=model, tools=tools).compile(name=name, **compile_args)
    )
    return graph


def run(
    mode: Mode,
    graph: CompiledStateGraph[Any, Any, Any, Any],
    question: str | dict[str, Any] | None,
    *,
    thread: str | None = "t",
    context: Any = None,
    config: dict[str, Any] | None = None,
    **kwargs: Any,
) -> dict[str, Any]:
    """Run a graph through one of its entry points and return its last values."""
    given = (
        {"messages": [{"role": "user", "content": question}]}
        if isinstance(question, str)
        else question
    )
    settings: dict[str, Any] = {**(config or {})}
    if thread is not None:
        settings.setdefault("configurable", {})["thread_id"] = thread
    arguments: dict[str, Any] = {"config": settings, "context": context, **kwargs}
    if mode == "invoke":
        result = graph.invoke(given, **arguments)
    elif mode == "ainvoke":
        result = asyncio.run(graph.ainvoke(given, **arguments))
    elif mode == "stream":
        *_, result = graph.stream(given, stream_mode="values", **arguments)
    else:
        result = asyncio.run(_last(graph, given, arguments))
    assert isinstance(result, dict)
    return result


async def _last(
    graph: CompiledStateGraph[Any, Any, Any, Any], given: Any, arguments: dict[str, Any]
) -> Any:
    last = None
    async for values in graph.astream(given, stream_mode="values", **arguments):
        last = values
    return last


def results(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    """Return the tool results among messages."""
    return [message for message in messages if isinstance(message, ToolMessage)]


def result_for(messages: Sequence[BaseMessage], call_id: str) -> ToolMessage:
    """Return the one result of a call."""
    (found,) = [message for message in results(messages) if message.tool_call_id == call_id]
    return found
