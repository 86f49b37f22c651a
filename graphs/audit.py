"""The audit log: each model call and tool call, logged as it happens.

What it tells is read back from a thread's transcript too (`graphs.audit_events`).
"""

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage, ToolCall, ToolMessage

from graphs.audit_events import (
    Event,
    Told,
    events,
    line_of,
    told_by_compaction,
    told_by_reply,
    told_by_result,
)

if TYPE_CHECKING:
    from graphs.asking import Asked
    from graphs.node import Scope

__all__ = ["Event", "compaction", "events", "log", "model_call", "tool_call"]

logger = logging.getLogger("rungs.audit")


def model_call(
    scope: "Scope", asked: "Asked", *, step: int, messages: int, offered: Iterable[str]
) -> None:
    """Log a model call as it ends."""
    if not logger.isEnabledFor(logging.INFO):
        return
    if asked.reply is not None:
        told = told_by_reply(asked.reply, step)
    else:
        told = {
            "kind": "model_call",
            "step": step,
            "status": "error",
            "seconds": asked.seconds,
            "result": asked.failure,
            "attempts": asked.attempts,
        }
    told["messages"], told["offered"] = messages, list(offered)
    _log(scope, told)


def tool_call(scope: "Scope", call: ToolCall, result: ToolMessage, *, step: int) -> None:
    """Log a tool call as it ends, or as it is turned away."""
    if logger.isEnabledFor(logging.INFO):
        _log(scope, told_by_result(result, step, call["args"]))


def compaction(scope: "Scope", record: BaseMessage, *, step: int) -> None:
    """Log a compaction, and why the summarizer was asked again or in vain."""
    if logger.isEnabledFor(logging.INFO):
        _log(scope, told_by_compaction(record, step))


def log(event: Event) -> None:
    """Log an event as it happens."""
    if logger.isEnabledFor(logging.INFO):
        _handle(event.as_json())


def _log(scope: "Scope", told: Told) -> None:
    told["thread"], told["user"] = scope.thread_id, scope.context.user
    _handle(line_of(told))


def _handle(line: str) -> None:
    """Log a line, without the walk over the stack that finds out who called: always this module."""
    logger.handle(logger.makeRecord(logger.name, logging.INFO, __file__, 0, line, (), None))
