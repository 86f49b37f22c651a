"""Secret arguments of calls: taken out of what is stored and shown, and put back where they run.

A reply is recorded with its arguments redacted, and what they were is sealed beside them
(`graphs.vault`): by call id in the reply, and in each call that was checked and may run. Only
`validate_calls`, an edit that a person makes, and the tool itself are given the real ones.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from langchain_core.messages import AIMessage, ToolCall

from graphs.calls import Call, made, sealed
from graphs.vault import SealedError, unlocked
from graphs.waiting import Steps
from tools.redact import Found, redact, redact_data

SEALED = "sealed"
"""Where a reply keeps its sealed arguments, by call id; in its `additional_kwargs`."""

AnyCall = TypeVar("AnyCall", bound=Mapping[str, Any])


def recordable(reply: AIMessage, found: Found) -> Steps[AIMessage]:
    """Return a reply as it may be stored, streamed and logged; a clean one is the same object.

    Args:
        reply: The reply as the model made it.
        found: Where what is taken out is counted, by kind.
    """
    changes: dict[str, Any] = {}
    content: Any = reply.content
    if (clean := redact_data(content, found)) != content:
        changes["content"] = clean
    extra = {key: value for key, value in reply.additional_kwargs.items() if key != SEALED}
    clean_extra = redact_data(extra, found) if extra else extra
    calls, secrets = [], {}
    for call in reply.tool_calls:
        arguments = redact_data(call["args"], found)
        if arguments != call["args"]:
            vault = yield from unlocked()
            secrets[call["id"] or ""] = vault.seal(call["args"])
        calls.append({**call, "name": redact(call["name"], found), "args": arguments})
    bad = [
        {
            **call,
            "name": redact(call["name"] or "", found) or call["name"],
            "args": redact(call["args"] or "", found),
            "error": redact(call["error"] or ""),
        }
        for call in reply.invalid_tool_calls
    ]
    if calls != reply.tool_calls:
        changes["tool_calls"] = calls
    if secrets:
        clean_extra = {**clean_extra, SEALED: secrets}
    if any(new != old for new, old in zip(bad, reply.invalid_tool_calls, strict=True)):
        changes["invalid_tool_calls"] = bad
    if clean_extra != reply.additional_kwargs:
        changes["additional_kwargs"] = clean_extra
    about = repr(reply.response_metadata)  # one look at all of it, which is clean as a rule
    if changes or found or redact(about) != about:
        told = {k: v for k, v in reply.response_metadata.items() if k != "logprobs"}
        told = redact_data(told)
        changes["response_metadata"] = {**told, "redacted": dict(found)} if found else told
    return reply.model_copy(update=changes) if changes else reply


def opened(call: AnyCall) -> Steps[AnyCall]:
    """Return a call with its real arguments.

    Raises:
        SealedError: They were sealed with another key.
    """
    secret = sealed(call)
    if secret is None:
        return call
    vault = yield from unlocked()
    real = {key: value for key, value in call.items() if key != SEALED}
    return cast("AnyCall", {**real, "args": vault.open(secret)})


def real_reply(reply: AIMessage) -> Steps[AIMessage]:
    """Return a recorded reply with the real arguments of its calls, where they can be opened."""
    real = yield from real_arguments(cast("list[ToolCall]", made(reply)))
    if not real:
        return reply
    calls = [{**call, "args": real.get(call["id"], call["args"])} for call in reply.tool_calls]
    return reply.model_copy(update={"tool_calls": calls})


def real_arguments(calls: Sequence[ToolCall]) -> Steps[dict[str | None, dict[str, Any]]]:
    """Return the real arguments, by id, of the calls that are stored redacted and can be opened."""
    real = {}
    for call in calls:
        with contextlib.suppress(SealedError):
            found = yield from opened(cast("Call", call))
            if found is not call:
                real[call["id"]] = found["args"]
    return real


def resealed(call: Call) -> Steps[Call]:
    """Return a call whose arguments are real as it may be stored."""
    arguments = redact_data(call["args"])
    if arguments == call["args"]:
        return call
    vault = yield from unlocked()
    kept = call.copy()
    kept["args"], kept["sealed"] = arguments, vault.seal(call["args"])
    return kept
