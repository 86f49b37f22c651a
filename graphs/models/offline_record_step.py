"""The next step to an answer about a record: a search for the tool, its call, or its result."""

from __future__ import annotations

from typing import Any

from graphs.models.offline_conversation import Conversation
from graphs.models.offline_examples import without_values
from graphs.models.offline_finding import search_for
from graphs.models.offline_plan import Tools, fewer_words
from graphs.models.offline_records import Choice, RecordTool, arguments_of, choose
from graphs.models.offline_told import told
from graphs.models.offline_words import stems, words

_VERBS = {"which": "list", "what": "list", "where": "track"}
"""What is to be done where a question begins with such a word."""

Calls = list[tuple[str, dict[str, Any]]]


def record_step(text: str, seen: Conversation, tools: Tools) -> Calls | str | None:
    """Return the step that a text about a record needs; None where it is about none.

    Args:
        text: A part of the question.
        seen: The conversation.
        tools: The tools that can be called.
    """
    known = [call.result for call in seen.done if not call.failed]
    chosen: Choice | None = None
    for query in queries(text) if tools.finder else [""]:
        if search := search_for(query, seen):
            return search
        chosen = choose(text, tools.records, known)
        if chosen is not None:
            break
    if chosen is None:
        return None
    if not chosen.missing:
        return _called(chosen, seen)
    return _missing(chosen, text, seen, tools)


def queries(text: str) -> list[str]:
    """List what to search for: what is to be done with what, and then the telling words alone."""
    plain = without_values(text)
    telling = fewer_words(plain)
    first = next(iter(words(plain)), "").lower()
    if first in _VERBS:
        plural = any(word.lower().endswith("s") for word in words(telling))
        verb = _VERBS[first] if plural or first == "where" else ""
    else:
        verb = "" if plain.endswith("?") or first in telling.lower().split() else first
    return [query for query in dict.fromkeys([f"{verb} {telling}".strip(), telling]) if query]


def _called(chosen: Choice, seen: Conversation) -> Calls | str:
    name, arguments = chosen.tool.name, chosen.arguments
    done = seen.outcome(name, arguments)
    if done is None:
        return [(name, arguments)]
    if done.failed:
        return f"That could not be done: {done.result}"
    return told(name, done.result)


def _missing(chosen: Choice, text: str, seen: Conversation, tools: Tools) -> Calls | str | None:
    """Call the tool that gives what is missing, search for it, or say what is needed."""
    for giver in chosen.given_by():
        tool = next((tool for tool in tools.records if tool.name == giver), None)
        if tool is None:
            if tools.finder and (search := search_for(giver.replace("_", " "), seen)):
                return search
            continue
        if step := _asked_first(tool, text, seen):
            return step
    if not stems(text):
        return None
    needed = ", ".join(name.replace("_", " ") for name in chosen.missing)
    return f"For {chosen.tool.name} I need what your question does not give: {needed}."


def _asked_first(tool: RecordTool, text: str, seen: Conversation) -> Calls | None:
    """Call a tool for what it gives, once, where the text has all that it needs."""
    arguments, missing = arguments_of(text, tool, {})
    if missing or seen.outcome(tool.name, arguments):
        return None
    return [(tool.name, arguments)]
