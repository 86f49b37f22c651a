"""Audit events: each model call and tool call, logged as it happens and read back later.

Everything an event tells is recorded in the transcript itself, so the log needs no table of its
own, and a thread's events can be read back on any machine that has its checkpoints.
"""

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from graphs.transcript import COMPACTION
from tools.redact import redact, redact_data

if TYPE_CHECKING:
    from graphs.asking import Asked
    from graphs.node import Scope

logger = logging.getLogger("rungs.audit")


@dataclass(frozen=True, slots=True)
class Event:
    """One call of a model or of a tool, a revision of a run's notes, or a compaction.

    Attributes:
        kind: What happened.
        step: Place of the model call in the run, from 1; a tool call has the place of the reply
            that made it.
        status: `success`, or `error` for a call that failed or was not executed.
        seconds: How long it took; None where nothing ran.
        code: What kind of error it is (`tools.wrapper.Code`).
        tool: The tool's name.
        via: The tool that the model called, where that called the other one for it.
        call_id: The tool call's id.
        arguments: What the tool ran with, defaults included; or what was asked for, where it did
            not run.
        result: The tool's result, or the reply's text.
        calls: Names of the tools that the reply called.
        model: The model that answered.
        attempts: How often the model was called for this reply.
        messages: How many messages the model was sent.
        offered: Names of the tools it was shown.
        input_tokens: Tokens sent; None: unknown.
        output_tokens: Tokens received; None: unknown.
        cached: Whether the result came from the cache.
        redacted: Counts by kind of what was taken out of it before it was recorded.
        found: Names of the tools that a search returned.
        revision: Which revision of a run's notes; its text is the `result`.
        characters: How long the notes are.
        tokens_before: Tokens of the next prompt before a compaction.
        tokens_after: And after it.
        counted_by: How they were counted.
        failure: Why a summarizer was asked again, or in vain.
        thread: The thread, where the event was logged as it happened.
        user: The user, likewise.
    """

    kind: Literal["model_call", "tool_call", "notes_revision", "compaction"]
    step: int
    status: Literal["success", "error"] = "success"
    seconds: float | None = None
    code: str | None = None
    tool: str | None = None
    via: str | None = None
    call_id: str | None = None
    arguments: dict[str, Any] | None = None
    result: str | None = None
    calls: list[str] = field(default_factory=list)
    model: str | None = None
    attempts: int | None = None
    messages: int | None = None
    offered: list[str] | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached: bool = False
    redacted: dict[str, int] | None = None
    found: list[str] | None = None
    revision: int | None = None
    characters: int | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    counted_by: str | None = None
    failure: str | None = None
    thread: str | None = None
    user: str | None = None

    def as_json(self) -> str:
        """Render the event as one line of JSON, secrets filtered, what is not known left out."""
        # A search that found nothing is what the log is read for: its empty list is told.
        fields = ((name, getattr(self, name)) for name in self.__dataclass_fields__)
        known = {
            name: value
            for name, value in fields
            if value is not None and (value != [] or name == "found")
        }
        counts = known.pop("redacted", None)  # whose names are those of secrets
        if _holds_secrets(known):
            known = redact_data(known)
        return json.dumps(known | ({"redacted": counts} if counts else {}), ensure_ascii=False)


def _holds_secrets(known: dict[str, Any]) -> bool:
    """Look through what was not filtered when the event was made, all of it in one pass."""
    words: list[str] = []
    for name, value in known.items():
        if name not in {"arguments", "result"}:
            words += map(str, value if isinstance(value, list) else [value])
    labels = "\n".join(words)
    return redact(labels) != labels


def events(messages: Iterable[BaseMessage]) -> Iterator[Event]:
    """Read the events of a thread back from its transcript, in the order they happened."""
    step = 0
    asked: dict[str | None, ToolCall] = {}
    for message in messages:
        if isinstance(message, HumanMessage):
            step = 0
        elif COMPACTION in message.additional_kwargs:
            yield compaction_event(message, step)
        elif isinstance(message, AIMessage):
            step += 1
            asked.update({call["id"]: call for call in message.tool_calls})
            yield model_event(message, step)
        elif isinstance(message, ToolMessage):
            call = asked.get(message.tool_call_id)
            yield tool_event(message, step, call["args"] if call else {})


def model_event(reply: AIMessage, step: int, **more: Any) -> Event:
    """Make the event of a reply."""
    usage, told = reply.usage_metadata, reply.response_metadata
    calls = (*reply.tool_calls, *reply.invalid_tool_calls)
    return Event(
        kind="model_call",
        step=step,
        seconds=told.get("seconds"),
        result=redact(reply.text),
        calls=[call["name"] or "unknown" for call in calls],
        model=told.get("model_name"),
        attempts=told.get("attempts"),
        input_tokens=usage["input_tokens"] if usage else None,
        output_tokens=usage["output_tokens"] if usage else None,
        redacted=told.get("redacted"),
        **more,
    )


def tool_event(result: ToolMessage, step: int, arguments: dict[str, Any], **more: Any) -> Event:
    """Make the event of a tool's result; `arguments` are those asked for."""
    told = result.additional_kwargs
    return Event(
        kind="tool_call",
        step=step,
        status=result.status,
        seconds=told.get("seconds"),
        code=told.get("code"),
        tool=told.get("tool", result.name),
        via=result.name if "tool" in told else None,
        call_id=result.tool_call_id,
        arguments=redact_data(told.get("arguments", arguments)),
        result=redact(result.text),
        cached=told.get("cached", False),
        redacted=told.get("redacted"),
        found=told.get("found"),
        **more,
    )


def compaction_event(record: BaseMessage, step: int, **more: Any) -> Event:
    """Make the event of a compaction, of the record that it left in the transcript."""
    told = record.additional_kwargs[COMPACTION]
    usage = record.usage_metadata if isinstance(record, AIMessage) else None
    text = redact(str(record.text))
    return Event(
        kind="compaction",
        step=step,
        status="success" if told["made"] else "error",
        seconds=record.response_metadata.get("seconds"),
        result=text if told["made"] else f"no summary was made: {text}",
        model=record.response_metadata.get("model_name"),
        input_tokens=usage["input_tokens"] if usage else None,
        output_tokens=usage["output_tokens"] if usage else None,
        tokens_before=told["tokens_before"],
        tokens_after=told["tokens_after"],
        counted_by=told["counted_by"],
        **more,
    )


def model_call(
    scope: "Scope", asked: "Asked", *, step: int, messages: int, offered: Iterable[str]
) -> None:
    """Log a model call as it ends."""
    if not logger.isEnabledFor(logging.INFO):
        return
    more: dict[str, Any] = {"messages": messages, "offered": list(offered), **_who(scope)}
    if asked.reply is not None:
        event = model_event(asked.reply, step, **more)
    else:
        event = Event(
            kind="model_call",
            step=step,
            status="error",
            seconds=asked.seconds,
            result=redact(asked.failure),
            attempts=asked.attempts,
            **more,
        )
    logger.info(event.as_json())


def tool_call(scope: "Scope", call: ToolCall, result: ToolMessage, *, step: int) -> None:
    """Log a tool call as it ends, or as it is turned away."""
    if not logger.isEnabledFor(logging.INFO):
        return
    logger.info(tool_event(result, step, call["args"], **_who(scope)).as_json())


def _who(scope: "Scope") -> dict[str, str | None]:
    return {"thread": scope.thread_id, "user": scope.context.user}


def compaction(scope: "Scope", record: BaseMessage, failures: Iterable[str], *, step: int) -> None:
    """Log a compaction, and why the summarizer was asked again or in vain."""
    if logger.isEnabledFor(logging.INFO):
        why = "; ".join(failures) or None
        logger.info(compaction_event(record, step, failure=why, **_who(scope)).as_json())


def log(event: Event) -> None:
    """Log an event as it happens."""
    if logger.isEnabledFor(logging.INFO):
        logger.info(event.as_json())
