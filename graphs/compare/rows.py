"""A row of a comparison: what one graph, with one model, made of one question."""

import json
from typing import Any, Literal

from typing_extensions import TypedDict

from graphs.compare.checks import Verdict
from graphs.compare.questions import Question
from graphs.incomplete import is_incomplete
from graphs.receipts import MODEL_FAILED, failure_of

Outcome = Literal[
    "right",
    "wrong",
    "incomplete",
    "capped",
    "rejected",
    "no answer",
    "refused",
    "failed",
    "not judged",
]
"""How a row is told in plots and tables: `failed` never ran well; whether one that is `not judged`
is right, nobody found out."""

NOT_JUDGED: Outcome = "not judged"


class Row(TypedDict):
    """What one graph made of one question; costs are None where nothing told them.

    Attributes:
        id: The question's.
        question: Its text.
        hops: How many lookups it needs; None is not known.
        graph: The graph's name.
        model: The model's name, as it was given.
        answer: The answer; of a forced record its JSON.
        status: How the run ended; None where it raised.
        stop_reason: Why, in a sentence.
        correct: Whether the answer is right; None could not be found out.
        outcome: The same with the name of the failure.
        why: What is wrong with the answer, or what the judge said.
        model_calls: Model calls.
        tool_calls: Tool calls that ran.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
        seconds: Time in model and tools.
    """

    id: str
    question: str
    hops: int | None
    graph: str
    model: str
    answer: str | None
    status: str | None
    stop_reason: str
    correct: bool | None
    outcome: Outcome
    why: str
    model_calls: int
    tool_calls: int
    input_tokens: int | None
    output_tokens: int | None
    seconds: float


def answer_of(result: dict[str, Any]) -> str | None:
    """Return what is checked of a result: the answer, or the record as JSON."""
    if result.get("record") is not None:
        return json.dumps(result["record"], ensure_ascii=False, default=str)
    answer = result.get("answer")
    return None if answer is None else str(answer)


def outcome_of(verdict: Verdict, status: str | None, answer: str | None, reason: str) -> Outcome:
    """Name a row's outcome: a right answer is right however the run ended."""
    if verdict.correct:
        return "right"
    if status is None or (status == "no_answer" and MODEL_FAILED in reason):
        return "failed"
    if verdict.correct is None:
        return NOT_JUDGED
    return "refused" if status == "refused" else failure_of(status, answer, reason) or "wrong"


def row_of(
    question: Question, graph: str, model: str, result: dict[str, Any], verdict: Verdict
) -> Row:
    """Make the row of a run that ended."""
    usage = result.get("usage") or {}
    status, answer = result.get("status"), answer_of(result)
    row = Row(
        id=question.id,
        question=question.text,
        hops=question.hops,
        graph=graph,
        model=model,
        answer=answer,
        status=status or "no_answer",
        stop_reason=str(result.get("stop_reason") or "it waits for a person"),
        correct=None,
        outcome=NOT_JUDGED,
        why="",
        model_calls=usage.get("model_calls", 0),
        tool_calls=usage.get("tool_calls", 0),
        input_tokens=usage.get("input_tokens"),
        output_tokens=usage.get("output_tokens"),
        seconds=usage.get("seconds", 0.0),
    )
    return judged_row(row, verdict)


def judged_row(row: Row, verdict: Verdict) -> Row:
    """Return a row with what was found out about its answer."""
    answer, status = row["answer"], row["status"]
    if answer and is_incomplete(answer):
        verdict = Verdict(correct=False, why="the answer calls itself incomplete")
    outcome = outcome_of(verdict, status, answer, row["stop_reason"])
    return {**row, "correct": verdict.correct, "outcome": outcome, "why": verdict.why}


def failed_row(question: Question, graph: str, model: str, reason: str, seconds: float) -> Row:
    """Make the row of a run that raised, which is a row like any."""
    return Row(
        id=question.id,
        question=question.text,
        hops=question.hops,
        graph=graph,
        model=model,
        answer=None,
        status=None,
        stop_reason=reason,
        correct=False,
        outcome="failed",
        why=reason,
        model_calls=0,
        tool_calls=0,
        input_tokens=None,
        output_tokens=None,
        seconds=round(seconds, 3),
    )
