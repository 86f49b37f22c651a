"""Audit events, as they are read back from a thread's transcript and as they are logged.

Everything an event tells is recorded in the transcript itself, so the log needs no table of its
own, and a thread's events can be read back on any machine that has its checkpoints.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from graphs.transcript import COMPACTION
from tools.redact import redact, redact_data

Told = dict[str, Any]
"""What an event tells, by the names of `Event`'s attributes; what it does not tell may be left
out."""


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
        left_out: Earlier exchanges of the thread that a compaction left out.
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
    left_out: int | None = None
    thread: str | None = None
    user: str | None = None

    def as_json(self) -> str:
        """Render the event as one line of JSON, secrets filtered, what is not known left out."""
        return line_of({name: getattr(self, name) for name in self.__dataclass_fields__})


def line_of(told: Told) -> str:
    """Render what an event tells as one line of JSON, what is not known left out.

    What is recorded was redacted when it was. So one look at the line is enough where it is clean,
    as most are; but a letter that JSON escapes may hide what a rule goes by.
    """
    # A search that found nothing is what the log is read for: its empty list is told.
    known = {
        name: value
        for name, value in told.items()
        if value is not None and (value != [] or name == "found")
    }
    counts = known.pop("redacted", None)  # whose names are those of secrets
    line = _written(known)
    if "\\" in line or redact(line) != line:
        known = redact_data(known)
        line = _written(known)
    return _written({**known, "redacted": counts}) if counts else line


def _written(told: Told) -> str:
    try:
        return orjson.dumps(told).decode()
    except orjson.JSONEncodeError:  # a number beyond 64 bits, half a surrogate pair
        return json.dumps(told, default=str)


def events(messages: Iterable[BaseMessage]) -> Iterator[Event]:
    """Read the events of a thread back from its transcript, in the order they happened."""
    step = 0
    asked: dict[str | None, ToolCall] = {}
    for message in messages:
        if isinstance(message, HumanMessage):
            step = 0
        elif COMPACTION in message.additional_kwargs:
            yield _clean(told_by_compaction(message, step))
        elif isinstance(message, AIMessage):
            step += 1
            asked.update({call["id"]: call for call in message.tool_calls})
            yield _clean(told_by_reply(message, step))
        elif isinstance(message, ToolMessage):
            call = asked.get(message.tool_call_id)
            yield _clean(told_by_result(message, step, call["args"] if call else {}))


def _clean(told: Told) -> Event:
    """Make an event whose texts are redacted, whoever wrote them into the transcript."""
    arguments = told.get("arguments")
    clean = {"result": redact(told["result"]), "arguments": redact_data(arguments)}
    if failure := told.get("failure"):
        clean["failure"] = redact(failure)
    return Event(**{**told, **clean})


def told_by_reply(reply: AIMessage, step: int) -> Told:
    """Tell of a reply."""
    usage, about = reply.usage_metadata, reply.response_metadata
    calls = reply.tool_calls
    if reply.invalid_tool_calls:
        calls = [*calls, *reply.invalid_tool_calls]  # type: ignore[list-item] # of both, the names
    return {
        "kind": "model_call",
        "step": step,
        "status": "success",
        "seconds": about.get("seconds"),
        "result": str(reply.text),
        "calls": [call["name"] or "unknown" for call in calls],
        "model": about.get("model_name"),
        "attempts": about.get("attempts"),
        "input_tokens": usage["input_tokens"] if usage else None,
        "output_tokens": usage["output_tokens"] if usage else None,
        "redacted": about.get("redacted"),
    }


def told_by_result(result: ToolMessage, step: int, arguments: dict[str, Any]) -> Told:
    """Tell of a tool's result; `arguments` are those asked for."""
    about = result.additional_kwargs
    return {
        "kind": "tool_call",
        "step": step,
        "status": result.status,
        "seconds": about.get("seconds"),
        "code": about.get("code"),
        "tool": about.get("tool", result.name),
        "via": result.name if "tool" in about else None,
        "call_id": result.tool_call_id,
        "arguments": about.get("arguments", arguments),
        "result": str(result.text),
        "cached": about.get("cached", False),
        "redacted": about.get("redacted"),
        "found": about.get("found"),
    }


def told_by_compaction(record: BaseMessage, step: int) -> Told:
    """Tell of a compaction, by the record that it left in the transcript."""
    about = record.additional_kwargs[COMPACTION]
    usage = record.usage_metadata if isinstance(record, AIMessage) else None
    text, gone, failure = str(record.text), about.get("left_out") or 0, about.get("failure")
    asked = bool(about["made"] or about.get("dropped", 1))
    if asked and not about["made"]:
        text = f"no summary was made{f' ({failure})' if failure else ''}: {text}"
    if gone:
        exchanges = f"{gone} earlier exchange{'s' * (gone != 1)} left out"
        text = f"{exchanges}; {text}" if asked else exchanges
    return {
        "kind": "compaction",
        "step": step,
        "status": "success" if about["made"] or not asked else "error",
        "seconds": record.response_metadata.get("seconds"),
        "result": text,
        "failure": failure,
        "left_out": gone or None,
        "model": record.response_metadata.get("model_name"),
        "input_tokens": usage["input_tokens"] if usage else None,
        "output_tokens": usage["output_tokens"] if usage else None,
        "tokens_before": about["tokens_before"],
        "tokens_after": about["tokens_after"],
        "counted_by": about["counted_by"],
    }
