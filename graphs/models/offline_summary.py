"""The rule-based model as a summarizer: what is settled, what was found, what is next."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from langchain_core.messages import BaseMessage

from graphs.models.offline_answer import HANDLERS, step_for
from graphs.models.offline_conversation import Conversation, Done
from graphs.models.offline_plan import Task, Tool, Tools, sort_tools, split
from graphs.models.offline_progress import noted, one_line, recalled, settled_in
from graphs.react.keywords import QUOTE
from graphs.react.parser import Action, parse

FOUND_CHARACTERS = 600
"""How much of a result is kept for a part that is in progress."""

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
    tasks = split(question)
    answers = {task.text: _answer(task, settled, seen, tools) for task in tasks}
    still_open = [task for task in tasks if answers[task.text] is None]
    tried = ", ".join(f"{name}[{one_line(text)}]" for name, text, _ in made)
    lines = [
        f"Goal: answer the {len(tasks)} parts of the question; {len(still_open)} are still open",
        f"Decisions: one part after another; done: {tried or 'nothing'}",
        *(noted(task.text, answers[task.text]) for task in tasks),
    ]
    if still_open:
        lines += _found_for(still_open[0], made, tools)
    following = one_line(still_open[0].text) if still_open else "write the answer"
    return "\n".join([*lines, f"Next step: {following}"])


def _answer(task: Task, settled: dict[str, str], seen: Conversation, tools: Tools) -> str | None:
    """Return what is known of a part, as it was noted or as it can be told now."""
    step = settled.get(one_line(task.text)) or step_for(task, seen, tools)
    return step if isinstance(step, str) else None


def _found_for(task: Task, made: Sequence[tuple[str, str, str]], tools: Tools) -> list[str]:
    """Keep what was found for a part in progress, from the first call that was made for it on."""
    first = HANDLERS[task.kind](task, Conversation(question=task.text), tools)
    if isinstance(first, str):
        return []
    wanted = next(iter(first[0][1].values()))
    texts = [text for _, text, _ in made]
    begun = made[texts.index(wanted) :] if wanted in texts else []
    return [
        f"- {name}[{one_line(text)}] -> {json.dumps(result[:FOUND_CHARACTERS], ensure_ascii=False)}"
        for name, text, result in begun
    ]


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
