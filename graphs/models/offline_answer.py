"""The rule-based model's next step: calls that are still needed, or the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from graphs.models.offline_formula import filled_formula
from graphs.models.offline_plan import Task, Tool, Tools, fewer_words, hop_in, split
from graphs.models.offline_reading import Finding, best_answer, entity_for, passages
from graphs.models.offline_words import stems

Calls = list[tuple[str, dict[str, Any]]]

NOTHING = (
    "I found nothing that answers this. I work by fixed rules and only repeat what the tools"
    " return; name a model in RUNGS_MODEL for more."
)
NO_QUESTION = "Ask me something: I search the documents, calculate, and keep notes."
_NOTES_LINE = re.compile(r'^\s*-\s+(".*")\s*$', re.MULTILINE)
_ABOUT_ME = re.compile(
    r"\b(?:know|remember|notes?)\b.*\b(?:about me|of me|my)\b|\bmy notes\b|\bdid i tell you\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Done:
    """A finished call: its tool, its arguments, its result."""

    tool: str
    arguments: dict[str, Any]
    result: str
    failed: bool


@dataclass(slots=True)
class Conversation:
    """What the rules look at: the newest question, the calls since, the notes of the prompt."""

    question: str = ""
    done: list[Done] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, messages: Sequence[BaseMessage]) -> Conversation:
        """Read the messages as they are sent to a model."""
        seen = cls()
        waiting: dict[str | None, tuple[str, dict[str, Any]]] = {}
        for message in messages:
            text = str(message.text)
            if isinstance(message, SystemMessage):
                seen.notes += [json.loads(found) for found in _NOTES_LINE.findall(text)]
            elif isinstance(message, HumanMessage):
                seen.question, seen.done, waiting = text, [], {}
            elif isinstance(message, AIMessage):
                waiting |= {call["id"]: (call["name"], call["args"]) for call in message.tool_calls}
            elif isinstance(message, ToolMessage) and message.tool_call_id in waiting:
                name, arguments = waiting[message.tool_call_id]
                seen.done.append(Done(name, arguments, text, message.status == "error"))
        return seen

    def result_of(self, tool: Tool | None, text: str) -> Done | None:
        """Return the finished call of this tool with this text; without a tool, of any."""
        for call in self.done:
            if tool is None or call.tool == tool.name:
                given = call.arguments.get(tool.parameter) if tool else None
                if text == given or (tool is None and text in call.arguments.values()):
                    return call
        return None


def next_step(seen: Conversation, tools: Tools) -> Calls | str:
    """Return the calls to make now, several at once where they do not wait for each other."""
    tasks = split(seen.question)
    if not tasks:
        return NO_QUESTION
    calls: Calls = []
    answers: list[str] = []
    for task in tasks:
        step = _HANDLERS[task.kind](task, seen, tools)
        if isinstance(step, str):
            answers.append(step)
        else:
            calls += [call for call in step if call not in calls]
    if calls:
        return calls
    answer = "\n\n".join(dict.fromkeys(answers))
    if tools.finish:
        return [(tools.finish.name, {tools.finish.parameter: answer})]
    return answer


def _call(tool: Tool, text: str) -> Calls:
    return [(tool.name, {tool.parameter: text})]


def _note(task: Task, seen: Conversation, tools: Tools) -> Calls | str:
    done = seen.result_of(tools.note, task.text)
    if done is None:
        return _call(tools.note, task.text) if tools.note else "I can't keep notes here."
    if done.failed:
        return f"I could not keep that note: {done.result}"
    return f"I have noted: {task.text.rstrip('.')}."


def _sum(task: Task, seen: Conversation, tools: Tools) -> Calls | str:
    done = seen.result_of(tools.sum, task.text)
    if done is None:
        return _call(tools.sum, task.text) if tools.sum else "I can't calculate here."
    if done.failed:
        return f"I could not work out {task.text}: {done.result}"
    return f"{task.text} = {done.result.rstrip('.')}."


def _search(task: Task, seen: Conversation, tools: Tools) -> Calls | str:
    if (told := _from_notes(task.text, seen.notes)) is not None:
        return told
    question, evidence = task.text, ""
    if hop := hop_in(question):
        first = seen.result_of(tools.search, hop.first)
        if first is None and tools.search:
            return _call(tools.search, hop.first)
        if first and (named := entity_for(hop.relation, [first.result], question)):
            name, sentence = named
            question, evidence = hop.resolved(question, name), sentence
    queries = [f"{task.context} {question}".strip(), fewer_words(question)]
    for query in dict.fromkeys(queries):
        done = seen.result_of(tools.search, query)
        if done is None and tools.search:
            return _call(tools.search, query)
        if done and not done.failed and any(p.title for p in passages(done.result)):
            break
    results = [call.result for call in seen.done if not call.failed and _is_search(call, tools)]
    return _with_formula(question, results, evidence, seen, tools)


def _with_formula(
    question: str, results: list[str], evidence: str, seen: Conversation, tools: Tools
) -> Calls | str:
    """Add what a formula of the results makes of the question's numbers."""
    found = best_answer(question, results)
    if filled := filled_formula(question, results):
        formula, expression = filled
        done = seen.result_of(tools.sum, expression)
        if done is None and tools.sum:
            return _call(tools.sum, expression)
        if done and not done.failed:
            title = next((p.title for r in results for p in passages(r) if formula in r), "")
            said = Finding(f"{formula}. {expression} = {done.result.rstrip('.')}.", title, 1.0)
            return _quoted(said, evidence)
    if found is not None:
        return _quoted(found, evidence)
    failures = [call.result for call in seen.done if call.failed]
    if failures and not results:
        return f"I could not look that up: {failures[-1]}"
    return NOTHING


def _quoted(found: Finding, evidence: str) -> str:
    lead = f"{evidence} " if evidence and evidence not in found.text else ""
    return f'{lead}According to "{found.title}": {found.text}' if found.title else lead + found.text


def _is_search(call: Done, tools: Tools) -> bool:
    others = {tool.name for tool in (tools.note, tools.sum, tools.finish) if tool}
    return call.tool not in others


def _from_notes(question: str, notes: list[str]) -> str | None:
    """Answer a question about the user from the notes of earlier conversations."""
    if not notes or not re.search(r"\b(?:i|me|my|mine)\b", question, re.IGNORECASE):
        return None
    if _ABOUT_ME.search(question):
        return "From my notes: " + "; ".join(note.rstrip(".") for note in notes) + "."
    asked = stems(question)
    covered = [(len(stems(note) & asked), note) for note in notes]
    most, note = max(covered, key=lambda item: item[0])
    if asked and most / len(asked) > 0.6:  # noqa: PLR2004 - most of what is asked
        return f"From my notes: {note.rstrip('.')}."
    return None


_HANDLERS = {"note": _note, "sum": _sum, "search": _search}
