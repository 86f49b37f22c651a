"""Who is told while tools run: LangChain's callbacks, and whoever streams `custom`."""

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import ToolCall, ToolMessage

from graphs.calls import asked_name, via
from graphs.node import Scope
from graphs.waiting import Steps, Wait
from tools import Contract, redact_data


def tell_started(scope: Scope, calls: Sequence[ToolCall]) -> None:
    """Tell whoever streams `custom` which tools are at work, and with what, secrets filtered."""
    for call in calls:
        through = {"via": asked_name(call)} if via(call) else {}
        scope.runtime.stream_writer(
            {
                "tool": call["name"],
                **through,
                "call_id": call["id"],
                "arguments": redact_data(call["args"]),
                "state": "started",
            }
        )


def trace_start(scope: Scope, contract: Contract, call: ToolCall) -> Steps[Any]:
    """Tell callback handlers that a tool starts; return what `trace_end` needs, or None.

    A LangChain tool tells them itself.
    """
    callbacks = scope.config.get("callbacks")
    if not isinstance(callbacks, BaseCallbackManager) or not callbacks.handlers:
        return None
    if contract.traces_itself:
        return None
    start: Any = callbacks.on_tool_start
    about = {"name": contract.name, "description": contract.description}
    given = redact_data(call["args"])
    text = json.dumps(given, ensure_ascii=False)

    def begin() -> Any:
        return start(about, text, name=contract.name, inputs=given, tool_call_id=call["id"])

    # The manager of an async caller answers with something to await.
    return (yield Wait(begin, begin))


def trace_end(started: Any, result: ToolMessage) -> Steps[None]:
    """Tell the same handlers how it ended."""
    if started is None:
        return

    def end() -> Any:
        if result.status == "error":
            return started.on_tool_error(RuntimeError(result.text))
        return started.on_tool_end(result)

    yield Wait(end, end)
