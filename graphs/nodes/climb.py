"""`climb`: runs one rung of the ladder, a graph of its own, and notes its receipt."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel.protocol import StreamProtocol

from graphs.context import Context, read_context
from graphs.control import current_control
from graphs.node import Node, Scope, Update
from graphs.nodes.call_model import new_run
from graphs.receipts import Receipt, receipt_of, total_of
from graphs.state import State
from graphs.transcript import newest_question
from graphs.waiting import Steps, Wait
from tools import ToolSet

_STREAM = "__pregel_stream"
"""LangGraph's key for the stream of the graph above, where that one streams its subgraphs."""

NOT_RUN_BELOW = "not executed on the rung below, which had no call left: make it again if needed"

Rung = CompiledStateGraph[Any, Any, Any, Any]


def climb(rung: Rung, *, name: str, context: type[Context], first: bool, last: bool) -> Node:
    """Make the node that runs a rung.

    It keeps true that
    * the rung is a graph of its own: its budget, its pauses and its checkpoints are its own, and a
      run that is killed or paused inside it goes on inside it;
    * it starts from what the rungs below found: their calls and results, and not their failed
      answers;
    * the transcript gets what it added, once, and `receipts` one receipt;
    * whoever streams `custom` hears of the rung's tools as of the ladder's own, with `subgraphs` or
      without it, once; a caller in the same process who listens hears of each step of the rung;
    * a rung that failed leaves no outcome unless it is the last: a status is a run's end;
    * the first rung begins a new run.

    Args:
        rung: The rung's graph, compiled without a saver: it takes the ladder's.
        name: Its name.
        context: The ladder's settings.
        first: Whether it is the lowest rung.
        last: Whether it is the highest.
    """
    schema: type[Context] = rung.context_schema or Context

    def body(state: State, scope: Scope) -> Steps[Update]:
        question = newest_question(state["messages"]).id or ""
        update: Update = new_run(state, scope) if first else {}
        receipts: list[Receipt] = [] if first else list(state.get("receipts") or [])  # type: ignore[call-overload]
        given = carried(state["messages"], question)
        settings = read_context(schema, scope.context.model_dump())
        config = heard_above(scope.config)

        def sync() -> Any:
            control = current_control()
            if control is None:
                return rung.invoke({"messages": given}, config, context=settings)
            values: Any = {}
            for values in rung.stream(
                {"messages": given}, config, context=settings, stream_mode="values"
            ):
                control.hear({"state": "step", "messages": values["messages"]})
            return values

        async def asynchronous() -> Any:
            return await rung.ainvoke({"messages": given}, config, context=settings)

        result = yield Wait(sync, asynchronous)
        known = {message.id for message in state["messages"]}
        added = [message for message in result["messages"] if message.id not in known]
        receipt = receipt_of(name, result, before=given, added=added, question=question)
        receipts.append(receipt)
        update |= {"messages": added, "receipts": receipts}
        if receipt["failure"] and not last:
            return update
        return update | {
            "answer": result["answer"],
            "status": result["status"],
            "stop_reason": f"{name}: {result['stop_reason']}",
            "usage": total_of(receipts, result["usage"]["model"]),
        }

    return Node(name, body, context, tools_of(rung))


def tools_of(rung: Rung) -> ToolSet | None:
    """Return the tools of a rung, which are let go of with the ladder's graph."""
    sets = (getattr(spec.runnable, "tools", None) for spec in rung.builder.nodes.values())
    return next((tools for tools in sets if isinstance(tools, ToolSet)), None)


def heard_above(config: RunnableConfig) -> RunnableConfig:
    """Return the config with which the ladder's `custom` stream hears what is told in a rung.

    LangGraph lets a graph inside another write to that one's stream where it was asked for
    `subgraphs`, which it tells by a stream in the config; one that takes no mode is enough.
    """
    settings = config.get("configurable", {})
    if _STREAM in settings:
        return config
    deaf = StreamProtocol(lambda _part: None, set())
    return {**config, "configurable": {**settings, _STREAM: deaf}}


def carried(messages: Sequence[AnyMessage], question: str) -> list[AnyMessage]:
    """Return the transcript as the next rung starts from it.

    Of what came after the question, calls and results are kept. Answers are not: they were not
    good enough. A call that a rung below could no longer run may be made again.
    """
    place = next(
        (n for n in range(len(messages) - 1, -1, -1) if messages[n].id == question), len(messages)
    )
    kept: list[AnyMessage] = list(messages[: place + 1])
    for message in messages[place + 1 :]:
        if isinstance(message, ToolMessage):
            late = message.additional_kwargs.get("code") == "limit_reached"
            kept.append(message.model_copy(update={"content": NOT_RUN_BELOW}) if late else message)
        elif not isinstance(message, AIMessage) or message.tool_calls or message.invalid_tool_calls:
            kept.append(message)
    return kept
