"""The transcript, and the view of it that a model is sent.

What is recorded stays as it was said. Everything a provider would refuse (a call without a result,
a result away from its call, an empty assistant turn, arguments that are no JSON) is put right in
the view alone.
"""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

from graphs.calls import as_asked, asked_name, recorded
from graphs.errors import UsageError
from graphs.models.replay import replayable
from graphs.places import newest_human
from tools.wrapper import Code

COMPACTION = "compaction"
"""Key, in `additional_kwargs`, of a summary among the replies."""

SUPERSEDED = "not executed: superseded by a new message"
INTERRUPTED = "interrupted before a result came: its outcome is unknown"


def newest_question(messages: Sequence[BaseMessage]) -> HumanMessage:
    """Return the newest human message.

    Raises:
        UsageError: There is none, or it has no text.
    """
    question = newest_human(messages)
    if question is None:
        raise UsageError('no question: pass {"messages": [...]} with a human message')
    if not question.text.strip() and not _shows_something(question.content):
        raise UsageError("the question is empty: give the newest human message some text")
    return question


def _shows_something(content: str | list[str | dict[str, Any]]) -> bool:
    """Tell whether content holds an image, a file or the like."""
    return not isinstance(content, str) and any(
        isinstance(block, dict) and block.get("type") != "text" for block in content
    )


def newest_reply(messages: Sequence[BaseMessage]) -> AIMessage:
    """Return the reply whose calls are open; a state edited by hand may have none."""
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return message
    return AIMessage("")


def reply_calls(reply: AIMessage) -> list[ToolCall]:
    """List every call of a reply, those that did not parse too, as they are replayed to a model."""
    return [*reply.tool_calls, *map(as_asked, reply.invalid_tool_calls)]


def unanswered(messages: Sequence[BaseMessage]) -> list[ToolCall]:
    """List the calls without a result, oldest first."""
    results = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    return [
        call
        for message in messages
        if isinstance(message, AIMessage)
        for call in reply_calls(message)
        if call["id"] not in results
    ]


def failed_result(
    call: ToolCall,
    reason: str,
    code: Code = "failed",
    *,
    retryable: bool = False,
    **extra: Any,
) -> ToolMessage:
    """Answer a call with an error result.

    Args:
        call: The call; where it went through a wrapper, the result carries the wrapper's name.
        reason: What happened, in a sentence.
        code: What kind of error it is.
        retryable: Whether the very same call may work when it is made again.
        extra: What the record tells beside.
    """
    told = {"code": code, **({"retryable": True} if retryable else {}), **recorded(call), **extra}
    return ToolMessage(
        content=reason,
        tool_call_id=call["id"] or "",
        name=asked_name(call),
        status="error",
        additional_kwargs=told,
    )


def model_view(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Show the transcript as every provider takes it.

    * Each call has exactly one result, placed right after its reply; a missing one reads as
      interrupted.
    * A result without a call is left out, and so is a second one for the same call.
    * An empty assistant turn is left out.
    * Calls and results have the form that every server takes back (`replay.replayable`).
    """
    return list(messages) if _is_regular(messages) else _repaired(messages)


def _is_regular(messages: Sequence[BaseMessage]) -> bool:
    """Tell in one pass whether nothing needs repair, the usual case."""
    open_calls: set[str | None] = set()
    for message in messages:
        kind = message.type
        if kind == "tool":
            call_id = message.tool_call_id  # type: ignore[attr-defined]
            # An error may answer a call that providers would not take back as it was made.
            if call_id not in open_calls or message.status == "error":  # type: ignore[attr-defined]
                return False
            open_calls.discard(call_id)
        elif open_calls:
            return False
        elif kind == "ai":
            calls = message.tool_calls  # type: ignore[attr-defined]
            if message.invalid_tool_calls or not (calls or message.content):  # type: ignore[attr-defined]
                return False
            open_calls.update([call["id"] for call in calls])
    return not open_calls


def _repaired(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    results: dict[str, ToolMessage] = {}
    for message in messages:
        if isinstance(message, ToolMessage):
            results.setdefault(message.tool_call_id, message)
    view: list[BaseMessage] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            continue
        if not isinstance(message, AIMessage):
            view.append(message)
        elif message.tool_calls or message.invalid_tool_calls:
            view.append(message)
            for call in reply_calls(message):
                result = results.get(call["id"] or "")
                view.append(result or failed_result(call, INTERRUPTED, "interrupted"))
        elif message.text or not isinstance(message.content, str):
            view.append(message)
    return replayable(view)


def with_system(system: BaseMessage, view: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Put the system prompt first, and what a caller's system messages say at its end.

    Some providers take one system message only, and only as the first.
    """
    added = [message.text for message in view if message.type == "system"]
    if not added:
        return [system, *view]
    text = "\n\n".join([system.text, *added])
    return [SystemMessage(text), *(message for message in view if message.type != "system")]
