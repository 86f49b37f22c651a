"""A thread's runs as the page shows them: each a question and the steps that followed."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.store.base import BaseStore

from graphs.audit import Event, events
from graphs.sent_prompts import prompt_sent
from graphs.transcript import model_view, reply_calls
from tools.redact import redact, redact_data


def runs_of(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """Return the runs of a transcript, oldest first.

    Returns:
        Of each run its `question` (`id`, `text`) and its `steps`: what the audit event of the call
        tells, secrets filtered, with `id` (of the message) and, for a reply, its `calls`.
    """
    runs: list[dict[str, Any]] = []
    told = events(messages)
    for message in messages:
        if isinstance(message, HumanMessage):
            question = {"id": message.id, "text": redact(message.text)}
            runs.append({"question": question, "steps": []})
        elif isinstance(message, AIMessage | ToolMessage):
            event = next(told)
            if not runs:  # a thread that another program began without a question
                runs.append({"question": None, "steps": []})
            runs[-1]["steps"].append(_step(message, event))
    return runs


def _step(message: BaseMessage, event: Event) -> dict[str, Any]:
    step = {key: value for key, value in asdict(event).items() if value is not None}
    step["id"] = message.id
    if isinstance(message, AIMessage):
        step["calls"] = [
            {"id": call["id"], "name": call["name"], "args": redact_data(call["args"])}
            for call in reply_calls(message)
        ]
    return step


def prompt_of(
    messages: Sequence[BaseMessage], reply_id: str, store: BaseStore
) -> list[dict[str, Any]] | None:
    """Return the conversation that a reply followed, as the model was sent it.

    The system prompt stands before it, without the user's notes, where it was kept.

    Args:
        messages: The transcript.
        reply_id: The reply's message.
        store: What keeps the prompts.

    Returns:
        A `role` and a `text` for each message, with the `calls` of a reply; None where there is no
        such reply.
    """
    for place, message in enumerate(messages):
        if message.id == reply_id and isinstance(message, AIMessage):
            system = prompt_sent(message, store)
            told = [] if system is None else [SystemMessage(system)]
            return list(_as_sent([*told, *model_view(messages[:place])]))
    return None


def _as_sent(view: Sequence[BaseMessage]) -> Iterator[dict[str, Any]]:
    for message in view:
        told: dict[str, Any] = {"role": message.type, "text": redact(message.text)}
        if isinstance(message, AIMessage) and message.tool_calls:
            told["calls"] = [
                {"name": call["name"], "args": redact_data(call["args"])}
                for call in message.tool_calls
            ]
        if isinstance(message, ToolMessage):
            told["tool"] = message.name
        yield told
