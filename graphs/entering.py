"""Enter a run that LangGraph's server began among the threads, as `open_graph` enters its own."""

import time
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from graphs.context import Context
from graphs.state import State
from graphs.waiting import Steps, Wait

NAMESPACE = ("threads",)
"""Where the store keeps them."""

SETTINGS = (
    *("model", "docs", "tools", "company", "read_only", "max_tool_rounds", "max_turns"),
    *("max_steps", "schema", "values"),
)
"""What of a run's settings is kept with its thread, so that `rungs resume` needs no flags."""


def settings_kept(context: Context) -> dict[str, Any]:
    """Return what differs from the defaults; `values` has what no option of `rungs` is for."""
    told = context.model_dump(exclude_defaults=True)
    values = {name: told[name] for name in told.keys() - {*SETTINGS, "user_id", "user_email"}}
    return {**told, "values": values or None}


def served_graph(config: RunnableConfig) -> str | None:
    """Return the graph that a server runs; None in a run of another kind, and inside a rung."""
    configured = config.get("configurable", {})
    graph = configured.get("graph_id")
    return None if graph is None or "|" in configured.get("checkpoint_ns", "") else str(graph)


def entered(
    graph: str, state: State, context: Context, thread_id: str, store: BaseStore
) -> Steps[None]:
    """Note that a run begins in a thread; where the newest message is no question, none does.

    Args:
        graph: The variant's name.
        state: The state.
        context: The run's settings.
        thread_id: The thread.
        store: Where the threads are noted.
    """
    messages = state.get("messages") or []
    if not messages or not isinstance(messages[-1], HumanMessage):
        return
    item = yield Wait(
        lambda: store.get(NAMESPACE, thread_id), lambda: store.aget(NAMESPACE, thread_id)
    )
    question = str(messages[-1].text)
    record = _record(item.value if item else {}, graph, question, context)
    yield Wait(
        lambda: store.put(NAMESPACE, thread_id, record),
        lambda: store.aput(NAMESPACE, thread_id, record),
    )


def _record(
    known: Mapping[str, Any], graph: str, question: str, context: Context
) -> dict[str, Any]:
    now = time.time()
    settings = {name: value for name, value in settings_kept(context).items() if name in SETTINGS}
    kept = {name: value for name, value in settings.items() if value is not None}
    return {
        "created": now,
        **known,
        "user_id": known.get("user_id") or context.user,
        "graph": graph,
        "updated": now,
        "question": question,
        "follows": None,  # its question is in a checkpoint
        "settings": {**known.get("settings", {}), **kept},
    }
