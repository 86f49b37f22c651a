"""The rule-based model in the ReAct format: one action a turn, its progress kept in its notes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage

from graphs.models.offline_answer import HANDLERS, NO_QUESTION, step_for
from graphs.models.offline_comparing import joined
from graphs.models.offline_conversation import Conversation, Done
from graphs.models.offline_plan import Task, Tools, sort_tools, split
from graphs.models.offline_progress import noted, one_line, recalled, settled_in
from graphs.react.keywords import QUOTE
from graphs.react.parser import Action, parse

UPDATE_NOTES = "update_notes"
NOW = "You must answer now."
EMPTY = "(empty)"

_ACTIONS = re.compile(r"^Available actions:\n((?:- .+\n?)+)", re.MULTILINE)
_ACTION = re.compile(r"^- ([^\[\s]+)\[([^\[\]{}]*)\][^:]*: (.+)$", re.MULTILINE)
_QUESTION = re.compile(
    r"^Question: (.*?)(?=\n\nProgress so far:|\nObservation: |\Z)", re.DOTALL | re.MULTILINE
)


@dataclass(slots=True)
class Reading:
    """What the rules see of a ReAct prompt.

    Attributes:
        seen: The question, and the calls that were made since.
        tools: The actions by what they are for.
        keeps_notes: Whether there is a notes file.
        notes: The lines of the notes file, or of a summary of what was done.
        must_answer: Whether this is the last call.
    """

    seen: Conversation
    tools: Tools
    keeps_notes: bool
    notes: list[str] = field(default_factory=list)
    must_answer: bool = False

    @property
    def settled(self) -> dict[str, str]:
        """The parts of the question that are answered, by what was noted of them."""
        return settled_in(self.notes)


def read(messages: Sequence[BaseMessage]) -> Reading | None:
    """Read messages that ask for the ReAct format; None where they do not."""
    system = "\n".join(str(m.text) for m in messages if isinstance(m, SystemMessage))
    listed = _ACTIONS.search(system)
    if listed is None or "Action: tool_name[input]" not in system:
        return None
    actions = _ACTION.findall(listed.group(1))
    schemas = [_schema(*action) for action in actions if action[0] != UPDATE_NOTES]
    keeps_notes = any(name == UPDATE_NOTES for name, _, _ in actions)
    parameters = {name: parameter for name, parameter, _ in actions}
    reading = Reading(Conversation.read(messages[:1]), sort_tools(schemas), keeps_notes)
    action: Action | None = None
    for message in messages[1:]:
        text = str(message.text)
        if isinstance(message, AIMessage):
            parsed = parse(text)
            action = parsed if isinstance(parsed, Action) else None
        elif asked := _QUESTION.search(text):
            reading.seen.question, reading.seen.done = asked.group(1).strip(), []
            reading.notes = _quoted_lines(text)
        if action is not None and message.type == "human" and "Observation: " in text:
            result = _unquoted(text.partition("Observation: ")[2].removesuffix(f"\n{NOW}"))
            reading.seen.done.append(_done(action, parameters, result))
            action = None
        reading.must_answer = text.endswith(NOW)
    kept = [_done(Action(n, i, ""), parameters, r) for n, i, r in recalled(reading.notes)]
    reading.seen.done[:0] = kept
    return reading


def _schema(name: str, parameter: str, description: str) -> dict[str, Any]:
    fields = {parameter: {"type": "string"}} if parameter else {}
    parameters = {"type": "object", "properties": fields, "required": list(fields)}
    return {"name": name, "description": description, "parameters": parameters}


def _quoted_lines(text: str) -> list[str]:
    """Return the lines that the system quoted around a question: its notes, or a summary."""
    lines = text.partition("\nObservation: ")[0].splitlines()
    return [line.removeprefix(QUOTE) for line in lines if line.startswith(QUOTE)]


def _unquoted(text: str) -> str:
    first, *others = text.split("\n")
    return "\n".join([first, *(line.removeprefix(">").removeprefix(" ") for line in others)])


def _done(action: Action, parameters: dict[str, str], result: str) -> Done:
    failed = result.startswith(("not executed", f"{action.name} failed", f"{action.name} gave no"))
    return Done(action.name, {parameters.get(action.name, "input"): action.text}, result, failed)


def reply_to(reading: Reading) -> str:
    """Write the next turn: the first step that a part of the question needs, or the answer."""
    tasks = split(reading.seen.question)
    if not tasks:
        return _final(NO_QUESTION)
    settled = reading.settled
    answers: dict[str, str] = {}
    for task in tasks:
        known = settled.get(one_line(task.text))
        step = known or step_for(task, reading.seen, reading.tools)
        if reading.must_answer and not isinstance(step, str):
            step = HANDLERS[task.kind](task, reading.seen, Tools())
        if isinstance(step, str):
            answers[task.text] = step
        elif reading.keeps_notes and _should_note(tasks, answers, reading):
            notes = {"text": _notes(tasks, answers)}
            return _action("I keep my plan and what I found.", UPDATE_NOTES, notes)
        else:
            return _action(f"I need to know: {one_line(task.text)}", *step[0])
    return _final(joined(answers.values()))


def _should_note(tasks: list[Task], answers: dict[str, str], reading: Reading) -> bool:
    """Note a plan of several parts first, and then each part that was settled since."""
    if len(tasks) == 1:
        return False
    return reading.notes in ([], [EMPTY]) or any(
        one_line(text) not in reading.settled for text in answers
    )


def _notes(tasks: list[Task], answers: dict[str, str]) -> str:
    return "\n".join(noted(task.text, answers.get(task.text)) for task in tasks)


def _action(thought: str, name: str, arguments: dict[str, str]) -> str:
    """Write an action; as JSON where its text alone would be read as another one."""
    (text,) = arguments.values()
    plain = f"Thought: {thought}\nAction: {name}[{text}]"
    parsed = parse(plain)
    if isinstance(parsed, Action) and (parsed.name, parsed.text) == (name, text):
        return plain
    return f"Thought: {thought}\nAction: {name}[{json.dumps(arguments, ensure_ascii=False)}]"


def _final(answer: str) -> str:
    return f"Thought: I now have enough information.\nFinal Answer: {answer}"
