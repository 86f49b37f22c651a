"""What a rung of the ladder came to: its receipt, and the name of its failure."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langchain_core.messages import AnyMessage, BaseMessage
from typing_extensions import TypedDict

from graphs.incomplete import is_incomplete
from graphs.state import Status, Usage
from graphs.usage import usage_of

Failure = Literal["incomplete", "capped", "rejected", "no answer"]

MODEL_FAILED = "the model failed"
"""What the reason says of a run whose model could not be reached: no rung would do better."""

_FAILURES: dict[str, Failure] = {
    "tool_limit": "capped",
    "turn_limit": "capped",
    "stuck": "capped",
    "context_exhausted": "capped",
    "stopped_early": "capped",
    "rejected": "rejected",
    "no_answer": "no answer",
}


class Receipt(TypedDict):
    """What one rung did and cost.

    Attributes:
        rung: The graph's name.
        status: How it ended.
        stop_reason: Why, in a sentence.
        failure: What makes a ladder climb on; None where it answered, or where climbing is no use.
        model_calls: How often the model was called.
        tool_calls: Tool calls that ran.
        input_tokens: Tokens sent; None is unknown.
        output_tokens: Tokens received; None is unknown.
        seconds: Time in model and tools.
    """

    rung: str
    status: Status
    stop_reason: str
    failure: Failure | None
    model_calls: int
    tool_calls: int
    input_tokens: int | None
    output_tokens: int | None
    seconds: float


def failure_of(status: str, answer: str | None, stop_reason: str) -> Failure | None:
    """Name the failure on which a ladder climbs (SPEC section 9); None where it stops.

    It stops at an answer, and where a higher rung would meet the same: a refusal, a cancel, a model
    that can't be reached.
    """
    if is_incomplete(answer or ""):
        return "incomplete"
    if status == "no_answer" and MODEL_FAILED in stop_reason:
        return None
    return _FAILURES.get(status)


def receipt_of(
    rung: str,
    result: Mapping[str, Any],
    *,
    before: Sequence[AnyMessage],
    added: Sequence[BaseMessage],
    question: str,
) -> Receipt:
    """Write a rung's receipt.

    Args:
        rung: The graph's name.
        result: What it returned.
        before: The messages it was given; those after the question came from lower rungs, and
            their cost is not its own.
        added: The messages it added.
        question: Id of the human message that it answered.
    """
    usage: Usage = result["usage"]
    earlier = usage_of(before, question, usage["model"])
    own = usage_of(added, "", usage["model"])
    model_calls = usage["model_calls"] - earlier["model_calls"]
    status, answer, reason = result["status"], result["answer"], result["stop_reason"]
    return Receipt(
        rung=rung,
        status=status,
        stop_reason=reason,
        failure=failure_of(status, answer, reason),
        model_calls=model_calls,
        tool_calls=usage["tool_calls"] - earlier["tool_calls"],
        # A call that failed for good is in no message, and what it cost is not known.
        input_tokens=own["input_tokens"] if own["model_calls"] == model_calls else None,
        output_tokens=own["output_tokens"] if own["model_calls"] == model_calls else None,
        seconds=round(max(0.0, usage["seconds"] - earlier["seconds"]), 3),
    )


def total_of(receipts: Sequence[Receipt], model: str) -> Usage:
    """Add up what all rungs cost; tokens that one of them does not know are unknown."""
    return Usage(
        model=model,
        model_calls=sum(receipt["model_calls"] for receipt in receipts),
        tool_calls=sum(receipt["tool_calls"] for receipt in receipts),
        input_tokens=_sum([receipt["input_tokens"] for receipt in receipts]),
        output_tokens=_sum([receipt["output_tokens"] for receipt in receipts]),
        seconds=round(sum(receipt["seconds"] for receipt in receipts), 3),
    )


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
