"""A chat completion's JSON, read as langchain-openai reads it, but strictly and without raising."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import openai
from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai.chat_models.base import _create_usage_metadata
from openai.types import CompletionUsage
from openai.types.chat.chat_completion import ChoiceLogprobs

from graphs.models.errors import ModelReplyError
from graphs.models.raw_calls import LOOSE, are_loose, from_openai, parse_calls
from tools.redact import redact

NO_CHOICES = "the model server sent a reply without choices"
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError)
"""What reading a reply raises where it does not have the protocol's shape."""


def read_json(body: bytes) -> dict[str, Any]:
    """Decode a reply's body.

    Raises:
        ModelReplyError: it is no JSON object.
    """
    try:
        data = json.loads(body)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        start = redact(body[:120].decode(errors="replace").strip()) or "nothing"
        what = "HTML instead of JSON:" if start.startswith("<") else "no JSON object but:"
        raise ModelReplyError(f"the model server sent {what} {start}")
    return data


def chat_result(
    data: Mapping[str, Any], default_model: str, generation_info: Mapping[str, Any]
) -> ChatResult:
    """Make the result of a reply.

    Arguments are parsed strictly from their raw text; a call whose arguments do not parse is in
    `invalid_tool_calls`, whatever type they have. Usage without a count is unknown (None).

    Raises:
        ModelReplyError: the reply has no choices, or tells an error.
    """
    # Some servers send the error itself, marked as an object of that kind.
    if told := data.get("error") or (data if data.get("object") == "error" else None):
        message = told.get("message") if isinstance(told, Mapping) else told
        raise ModelReplyError(f"the model server sent an error: {redact(str(message or told))}")
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        raise ModelReplyError(NO_CHOICES)
    try:
        return _read(data, choices, default_model, generation_info)
    except UNREADABLE as error:
        raise unreadable(error) from error


def object_result(
    response: Any, default_model: str, generation_info: Mapping[str, Any]
) -> ChatResult:
    """Make the result of a reply that the client has parsed already, with what it parsed.

    Raises:
        ModelReplyError: as `chat_result`.
    """
    if not isinstance(response, openai.BaseModel):
        start = redact(str(response)[:120])
        raise ModelReplyError(f"the model server sent no JSON but: {start}")
    data = response.model_dump(
        exclude={"choices": {"__all__": {"message": {"parsed"}}}}, warnings=False
    )
    result = chat_result(data, default_model, generation_info)
    message = response.choices[0].message  # type: ignore[attr-defined]
    if hasattr(message, "parsed"):
        result.generations[0].message.additional_kwargs["parsed"] = message.parsed
    return result


def unreadable(error: BaseException) -> ModelReplyError:
    """Make one line of what does not fit the protocol."""
    reason = redact(" ".join(str(error).split())[:120])
    return ModelReplyError(f"the model server sent a reply that can't be read: {reason}")


def _read(
    data: Mapping[str, Any],
    choices: list[Any],
    default_model: str,
    generation_info: Mapping[str, Any],
) -> ChatResult:
    raw_usage = data.get("usage")
    usage = raw_usage if isinstance(raw_usage, Mapping) and raw_usage else None
    tier = data.get("service_tier")
    output: dict[str, Any] = {
        "token_usage": CompletionUsage.construct(**usage).model_dump(warnings=False)
        if usage
        else None,
        "model_provider": "openai",
        "model_name": data.get("model", default_model),
        "system_fingerprint": data.get("system_fingerprint"),
    }
    if "id" in data:
        output["id"] = data["id"]
    if tier:
        output["service_tier"] = tier
    generations = [
        ChatGeneration(
            message=_message(choice, _usage(usage, tier)),
            generation_info={**generation_info, **_info(choice)},
        )
        for choice in choices
    ]
    return ChatResult(generations=generations, llm_output=output)


def _usage(usage: Mapping[str, Any] | None, tier: Any) -> UsageMetadata | None:
    if usage is None:
        return None
    counted: dict[str, Any] = {key: n for key, n in usage.items() if _is_count(n)}
    if "prompt_tokens" not in counted and "completion_tokens" not in counted:
        return None
    for key in ("prompt_tokens_details", "completion_tokens_details"):
        if isinstance(details := usage.get(key), Mapping):
            counted[key] = {name: n for name, n in details.items() if _is_count(n)}
    return _create_usage_metadata(counted, tier if isinstance(tier, str) else None)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _info(choice: Mapping[str, Any]) -> dict[str, Any]:
    logprobs = choice.get("logprobs")
    if isinstance(logprobs, Mapping):
        logprobs = ChoiceLogprobs.construct(**logprobs).model_dump(warnings=False)
    return {"finish_reason": choice.get("finish_reason"), "logprobs": logprobs}


def _message(choice: Mapping[str, Any], usage: UsageMetadata | None) -> AIMessage:
    raw = choice.get("message")
    if not isinstance(raw, Mapping):
        raise ModelReplyError("the model server sent a choice without a message")
    content = raw.get("content")
    extra: dict[str, Any] = {}
    if function_call := raw.get("function_call"):
        extra["function_call"] = dict(function_call)
    if audio := raw.get("audio"):
        extra["audio"] = audio
    extra["refusal"] = raw.get("refusal")
    calls = raw.get("tool_calls")
    made = from_openai(calls) if calls else []
    good, bad = parse_calls(made)
    if are_loose(made):
        extra[LOOSE] = True
    name, message_id = raw.get("name"), raw.get("id")
    return AIMessage(
        content=content if isinstance(content, str | list) else "",
        additional_kwargs=extra,
        name=name if isinstance(name, str) else None,
        id=message_id if isinstance(message_id, str) else None,
        tool_calls=good,
        invalid_tool_calls=bad,
        usage_metadata=usage,
    )
