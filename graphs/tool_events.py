"""Who is told while tools run: LangChain's callbacks, and whoever streams `custom`."""

import contextlib
import contextvars
import json
from collections.abc import Mapping
from typing import Any

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import ToolCall, ToolMessage

from graphs.calls import asked_name, via
from graphs.control import Stopping, current_control
from graphs.node import Scope
from graphs.waiting import Steps, Wait
from tools import Contract, redact_data
from tools.hidden import without
from tools.progress import Progress
from tools.text import one_line, shorten

RESULT_CHARACTERS = 200
"""Characters of a result that the event of its end holds; the message has all of it."""


def tell(scope: Scope, call: ToolCall, state: str, **more: Any) -> None:
    """Tell whoever listens what becomes of a call.

    Args:
        scope: The run.
        call: The call.
        state: `started`, `progress` or `ended`.
        more: What else is told.
    """
    through = {"via": asked_name(call)} if via(call) else {}
    event = {"tool": call["name"], **through, "call_id": call["id"], "state": state, **more}
    # A tool in a thread may tell something after the loop of its run has ended.
    with contextlib.suppress(RuntimeError):
        scope.runtime.stream_writer(event)
    control = current_control()
    if control is not None:
        control.hear(event)


def tell_started(scope: Scope, call: ToolCall) -> None:
    """Tell that a tool is at work, and with what, secrets filtered."""
    tell(scope, call, "started", arguments=redact_data(call["args"]))


def tell_ended(scope: Scope, call: ToolCall, result: ToolMessage) -> None:
    """Tell how a call ended, that of a tool that did not run too."""
    told = result.additional_kwargs
    about = {key: told[key] for key in ("code", "seconds", "cached") if key in told}
    text = shorten(one_line(result.text), RESULT_CHARACTERS)
    tell(scope, call, "ended", status=result.status, **about, result=text)


def progress_of(
    scope: Scope, call: ToolCall, stopping: Stopping, hidden: Mapping[str, str]
) -> Progress:
    """Make what a tool tells its progress by, secrets filtered.

    Args:
        scope: The run.
        call: The call.
        stopping: The way to stop it.
        hidden: The secrets that the tool is called with, and what stands for each.
    """
    context = contextvars.copy_context()

    def tell_progress(told: dict[str, Any]) -> None:
        # The stream is found by the context of the node, which a thread of the tool's own has not.
        clean = {
            key: without(value, hidden) if isinstance(value, str) else value
            for key, value in told.items()
        }
        context.copy().run(lambda: tell(scope, call, "progress", **redact_data(clean)))

    return Progress(tell_progress, stopping.is_requested)


def trace_start(scope: Scope, contract: Contract, call: ToolCall) -> Steps[Any]:
    """Tell callback handlers that a tool starts; return what `trace_end` needs, or None.

    A LangChain tool would tell them itself, and unredacted, so that inside a tool there are none.
    """
    callbacks = scope.config.get("callbacks")
    if not isinstance(callbacks, BaseCallbackManager) or not callbacks.handlers:
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
