"""The rule-based model as a summarizer: what is settled, what was found, what is next."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from langchain_core.messages import BaseMessage

from graphs.models.offline_answer import HANDLERS
from graphs.models.offline_conversation import Conversation, Done
from graphs.models.offline_plan import Tool, sort_tools, split
from graphs.models.offline_progress import noted, one_line, recalled, settled_in
from graphs.react.keywords import QUOTE
from graphs.react.parser import Action, parse

FOUND_CHARACTERS = 600
FOUND = 2
"""How much of the newest results is kept for a part that is still open."""

_HISTORY = re.compile(
    r"\AQuestion: (.*?)\n\nProgress so far:\n(.*?)\n\nTranscript:\n(.*)\Z", re.DOTALL
)
_PARAMETER = "input"


def summary_of(messages: Sequence[BaseMessage]) -> str | None:
    """Summarize a ReAct history where that is asked for; None where it is not."""
    if len(messages) < 2 or "compress the history" not in str(messages[0].text):  # noqa: PLR2004
        return None
    history = _HISTORY.match(str(messages[1].text))
    if history is None:
        return None
    question, progress, transcript = history.groups()
    lines = [line.removeprefix(QUOTE) for line in progress.splitlines()]
    settled = settled_in(lines)
    made = list(_turns([line.removeprefix(QUOTE) for line in transcript.splitlines()]))
    done = [
        Done(n, {_PARAMETER: i}, result, failed=False) for n, i, result in recalled(lines) + made
    ]
    seen = Conversation(question=question, done=done)
    schemas = [_schema(name) for name in dict.fromkeys(call.tool for call in done)]
    tools, other = sort_tools(schemas), Tool("?", _PARAMETER)
    tools = replace(
        tools,
        search=tools.search or other,
        sum=tools.sum or other,
        note=tools.note or other,
    )
    parts: list[str] = []
    following = "write the answer"
    for task in reversed(split(question)):
        step = settled.get(one_line(task.text)) or HANDLERS[task.kind](task, seen, tools)
        parts.append(noted(task.text, step if isinstance(step, str) else None))
        if not isinstance(step, str):
            following = one_line(task.text)
    found = [
        f"- {name}[{one_line(text)}] -> {json.dumps(result[:FOUND_CHARACTERS], ensure_ascii=False)}"
        for name, text, result in made[-FOUND:]
    ]
    tried = ", ".join(f"{name}[{one_line(text)}]" for name, text, _ in made)
    return "\n".join(
        [
            f"Goal: {one_line(question)}",
            f"Decisions: one part after another; done: {tried or 'nothing'}",
            *reversed(parts),
            *found,
            f"Next step: {following}",
        ]
    )


def _turns(lines: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Read a transcript: tool, input and result of each turn that had an action."""
    said: list[str] = []
    result: list[str] | None = None
    for line in [*lines, ""]:
        if result is not None and line.startswith(">"):
            result.append(line.removeprefix(">").removeprefix(" "))
            continue
        if result is not None:
            action = parse("\n".join(said))
            if isinstance(action, Action):
                yield action.name, action.text, "\n".join(result)
            said, result = [], None
        if line.startswith("Observation: "):
            result = [line.removeprefix("Observation: ")]
        else:
            said.append(line)


def _schema(name: str) -> dict[str, object]:
    fields = {_PARAMETER: {"type": "string"}}
    return {"name": name, "parameters": {"properties": fields, "required": [_PARAMETER]}}
