"""The state that every variant shares: the transcript, the run's progress, and its outcome."""

from typing import Annotated, Any, Literal, NotRequired, cast

from langchain_core.messages import AnyMessage, ToolCall
from langgraph.channels import DeltaChannel
from langgraph.managed import RemainingSteps
from typing_extensions import TypedDict

from graphs.growing import append_messages

Status = Literal[
    "answered",
    "tool_limit",
    "turn_limit",
    "stuck",
    "context_exhausted",
    "stopped_early",
    "record",
    "rejected",
    "no_answer",
    "refused",
    "cancelled",
]

VERSION = 2

# Snapshots make a long thread quicker to read back and the file larger; a thousand updates are
# some 300 rounds.
Transcript = Annotated[list[AnyMessage], DeltaChannel(append_messages, snapshot_frequency=1000)]


class Progress(TypedDict):
    """How far a run is, checkpointed: a pause or a crash neither refills nor spends its budget.

    Attributes:
        version: The layout of this record; another one is reset, not guessed at.
        question: Id of the human message that the run answers; a newer one starts a new run.
        cap: Rounds that the run may have, as it was when it began.
        rounds: Replies with tool calls, and empty replies, so far.
        calls: Tool calls that the model made so far.
        open_calls: Tool calls of the newest reply.
        to_approve: Ids of the newest reply's calls that wait for a person's yes.
        approved: What was approved of the newest reply: digests of tool and arguments by call id.
        empty_replies: Replies in a row that said nothing.
        stuck: Whether the same call came again and again, without a new result.
    """

    version: int
    question: str
    cap: int
    rounds: int
    calls: int
    open_calls: int
    to_approve: list[str]
    approved: dict[str, str]
    empty_replies: int
    stuck: bool


class Usage(TypedDict):
    """What a run cost: counts, tokens (None: unknown), seconds in model and tools.

    `redacted`, where anything was, counts by kind what was taken out of replies and results.
    `estimated` are the tokens, sent and received, where a server did not tell those of a reply that
    was read no further than it counts, and they had to be estimated.
    """

    model: str
    model_calls: int
    tool_calls: int
    input_tokens: int | None
    output_tokens: int | None
    seconds: float
    redacted: NotRequired[dict[str, int]]
    estimated: NotRequired[dict[str, int]]


class Ending(TypedDict):
    """How a run ended, its cost apart."""

    answer: str | None
    status: Status
    stop_reason: str


class Input(TypedDict):
    """What a run takes; the question is the newest human message."""

    messages: list[AnyMessage]


class Output(TypedDict):
    """What every run returns."""

    messages: list[AnyMessage]
    answer: str | None
    status: Status
    stop_reason: str
    usage: Usage


class State(TypedDict):
    """The whole state: plain values and messages, nothing else.

    Attributes:
        messages: The transcript, recorded once and never rewritten.
        calls: Tool calls of the newest reply that were checked and may run, with the arguments they
            run with.
        progress: How far the run is.
        loaded: Names of the tools that searches of the run loaded, in that order.
        owner: The user who began the thread; None lets anybody go on with it.
    """

    messages: Transcript
    calls: NotRequired[list[ToolCall]]
    progress: NotRequired[Progress]
    loaded: NotRequired[list[str]]
    owner: NotRequired[str | None]
    answer: NotRequired[str | None]
    status: NotRequired[Status | None]
    stop_reason: NotRequired[str | None]
    usage: NotRequired[Usage | None]
    remaining_steps: RemainingSteps


OUTCOME = ("answer", "status", "stop_reason", "usage", "record", "rejection")
"""The fields that tell how a run ended; a new run empties them."""


class Standing(TypedDict):
    """The part of the state that stop rules look at; reading less keeps an edge cheap."""

    calls: NotRequired[list[ToolCall]]
    progress: NotRequired[Progress]
    status: NotRequired[Status | None]
    remaining_steps: RemainingSteps


class Replied(Standing):
    """What the rule after a reply looks at, where its calls were checked with it."""

    messages: Transcript


def begin(question: str, cap: int) -> Progress:
    """Start the record of a run that may have so many rounds."""
    return Progress(
        version=VERSION,
        question=question,
        cap=cap,
        rounds=0,
        calls=0,
        open_calls=0,
        to_approve=[],
        approved={},
        empty_replies=0,
        stuck=False,
    )


def current(state: State | Standing) -> Progress | None:
    """Return the record of the newest run, or None where there is none that this version reads.

    A record of another layout, left by another version or written by hand, counts as none.
    """
    progress: Any = state.get("progress")
    if (
        isinstance(progress, dict)
        and progress.get("version") == VERSION
        and progress.keys() == Progress.__required_keys__
    ):
        return cast("Progress", progress)
    return None


def progress_of(state: State, question: str) -> Progress | None:
    """Return the record of the run that answers this question, or None where a new run begins."""
    progress = current(state)
    return progress if progress and progress["question"] == question else None


def loaded_tools(state: State) -> list[str]:
    """Return the names of the tools that searches loaded; state edited by hand may hold others."""
    loaded: Any = state.get("loaded")
    return [name for name in loaded if isinstance(name, str)] if isinstance(loaded, list) else []


def ending(answer: str | None, status: Status, stop_reason: str) -> Ending:
    """Say how a run ended."""
    return Ending(answer=answer, status=status, stop_reason=stop_reason)
