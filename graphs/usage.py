"""What a run cost, read from the transcript, which holds the cost of every call."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from typing_extensions import TypedDict

from graphs.asking import ESTIMATED, Asked
from graphs.state import Usage
from graphs.transcript import COMPACTION

_TOKENS = ("input_tokens", "output_tokens")


class Spent(TypedDict):
    """What one model call cost that left no reply in the transcript.

    Attributes:
        input_tokens: Tokens sent; None: unknown.
        output_tokens: Tokens received; None: unknown.
        seconds: How long it took.
    """

    input_tokens: int | None
    output_tokens: int | None
    seconds: float


def spent_on(asked: Asked) -> Spent:
    """Return what a model call cost whose reply is not recorded.

    A request that the server refused as too long cost no tokens; what another failure cost is
    unknown.
    """
    told = asked.reply.usage_metadata if asked.reply is not None else None
    none = 0 if asked.overflow else None
    return Spent(
        input_tokens=told["input_tokens"] if told else none,
        output_tokens=told["output_tokens"] if told else none,
        seconds=asked.seconds,
    )


def spent_beside(state: Any) -> list[Spent]:
    """Return what a run spent on calls that left no reply, where the variant goes on after one."""
    return list(state.get("spent") or ())


def usage_of(
    messages: Sequence[BaseMessage],
    question: str,
    model: str,
    last: Asked | None = None,
    *,
    beside: Sequence[Spent] = (),
) -> Usage:
    """Add up what the run that answers a question cost.

    A number of tokens that one reply does not tell makes the sum unknown (None), never 0. Of tools
    that ran side by side the slowest counts.

    Args:
        messages: The transcript.
        question: Id of the human message that the run answers.
        model: What answers, as it is told.
        last: The last model call, which is not in the transcript where it failed.
        beside: Earlier calls that left no reply in it.
    """
    usage = Usage(
        model=model, model_calls=0, tool_calls=0, input_tokens=0, output_tokens=0, seconds=0.0
    )
    slowest = 0.0
    estimated: list[dict[str, int] | None] = []
    redacted: dict[str, int] = {}
    for message in _since(messages, question):
        if isinstance(message, AIMessage | ToolMessage):
            _add(redacted, message)
        if isinstance(message, AIMessage) and not _stands_for_none(message):
            usage["seconds"] += slowest + message.response_metadata.get("seconds", 0.0)
            slowest = 0.0
            told = message.usage_metadata
            _charge(usage, told["input_tokens"] if told else None, told and told["output_tokens"])
            estimated.append(_of(told) or _of(message.response_metadata.get(ESTIMATED)))
        elif isinstance(message, ToolMessage) and _ran(message):
            usage["tool_calls"] += 1
            slowest = max(slowest, message.additional_kwargs.get("seconds", 0.0))
    lost = [spent_on(last)] if last is not None and last.reply is None else []
    for spent in (*beside, *lost):
        usage["seconds"] += spent["seconds"]
        _charge(usage, spent["input_tokens"], spent["output_tokens"])
        estimated.append(_of(spent))
    usage["seconds"] = round(usage["seconds"] + slowest, 3)
    if redacted:
        usage["redacted"] = redacted
    known = [one for one in estimated if one is not None]
    if None in {usage["input_tokens"], usage["output_tokens"]} and len(known) == len(estimated):
        usage["estimated"] = {key: sum(one[key] for one in known) for key in _TOKENS}
    return usage


def _since(messages: Sequence[BaseMessage], question: str) -> Sequence[BaseMessage]:
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].id == question:
            return messages[place + 1 :]
    return messages


def _of(told: Any) -> dict[str, int] | None:
    """Return the tokens that are told, where both numbers are."""
    numbers = [told.get(key) for key in _TOKENS] if isinstance(told, Mapping) else [None]
    whole = [number for number in numbers if isinstance(number, int)]
    return dict(zip(_TOKENS, whole, strict=True)) if len(whole) == len(_TOKENS) else None


def _stands_for_none(reply: AIMessage) -> bool:
    """Tell whether a record stands for turns that went without a summary: it is no call's reply."""
    told = reply.additional_kwargs.get(COMPACTION)
    return isinstance(told, dict) and not told.get("made", True)


def _charge(usage: Usage, sent: int | None, received: int | None) -> None:
    usage["model_calls"] += 1
    usage["input_tokens"] = _sum(usage["input_tokens"], sent)
    usage["output_tokens"] = _sum(usage["output_tokens"], received)


def _sum(total: int | None, count: int | None) -> int | None:
    return None if total is None or count is None else total + count


def _add(redacted: dict[str, int], message: AIMessage | ToolMessage) -> None:
    about = message.additional_kwargs if message.type == "tool" else message.response_metadata
    for kind, count in (about.get("redacted") or {}).items():
        redacted[kind] = redacted.get(kind, 0) + count


def _ran(result: ToolMessage) -> bool:
    """Tell whether a call ran, or was answered from the cache, rather than turned away."""
    return "seconds" in result.additional_kwargs or "cached" in result.additional_kwargs
