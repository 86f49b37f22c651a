"""The rule-based model's next step: calls that are still needed, or the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from graphs.models.offline_formula import filled_formula, has_formula
from graphs.models.offline_hop import entity_for, hop_in
from graphs.models.offline_notes import from_notes
from graphs.models.offline_passages import passages
from graphs.models.offline_plan import Task, Tool, Tools, fewer_words, split
from graphs.models.offline_reading import Finding, best_answers
from graphs.models.offline_words import GENERIC, stems

Calls = list[tuple[str, dict[str, Any]]]

NOTHING = (
    "I found nothing that answers this. I work by fixed rules and only repeat what the tools"
    " return; name a model in RUNGS_MODEL for more."
)
NO_QUESTION = "Ask me something: I search the documents, calculate, and keep notes."
_GIVES_AMOUNTS = re.compile(r"[$€£]\s?\d|\d (?:dollars|euros)\b.*\d|\d.*\d (?:dollars|euros)\b")
_NOTES_LINE = re.compile(r'^\s*-\s+(".*")\s*$', re.MULTILINE)


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
    if (told := from_notes(task.text, seen.notes)) is not None:
        return told
    question, evidence = task.text, ""
    if not stems(question):  # "My parcel is late. What can I do?"
        question, task = f"{task.context} {question}".strip(), Task("search", question)
    if hop := hop_in(question):
        first = seen.result_of(tools.search, hop.first)
        if first is None and tools.search:
            return _call(tools.search, hop.first)
        if first and (named := entity_for(hop.relation, [first.result], question)):
            name, sentence = named
            question, evidence = hop.resolved(question, name), sentence
    asked = f"{task.context} {question}".strip()
    for query in filter(None, dict.fromkeys([asked, fewer_words(question)])):
        done = seen.result_of(tools.search, query)
        if done is None and tools.search:
            return _call(tools.search, query)
        results = _found(seen, tools)
        found = best_answers(question, results, task.context)
        on_topic = found and stems(found[0].title) & stems(question) - GENERIC
        if on_topic or (found and not stems(question) & GENERIC) or filled_formula(asked, results):
            break
    return _read(question, task.context, evidence, seen, tools)


def _read(
    question: str, context: str, evidence: str, seen: Conversation, tools: Tools
) -> Calls | str:
    """Answer from what was found; a formula is worked out where the question has its numbers."""
    results = _found(seen, tools)
    asked = f"{context} {question}".strip()
    if filled := filled_formula(asked, results):
        formula, expression = filled
        done = seen.result_of(tools.sum, expression)
        if done is None and tools.sum:
            return _call(tools.sum, expression)
        if done and not done.failed:
            said = f"{formula}. {expression} = {done.result.rstrip('.')}."
            return _quoted([Finding(said, _title_of(formula, results), 1.0)], evidence)
    elif (named := has_formula(asked, results)) and _GIVES_AMOUNTS.search(asked):
        said = f"{named}. I did not calculate it: the numbers for it are not all plain to me."
        return _quoted([Finding(said, _title_of(named, results), 1.0)], evidence)
    if found := best_answers(question, results, context):
        return _quoted(found, evidence)
    failures = [call.result for call in seen.done if call.failed]
    if failures and not results:
        return f"I could not look that up: {failures[-1]}"
    return NOTHING


def _title_of(formula: str, results: list[str]) -> str:
    return next((p.title for r in results for p in passages(r) if formula in p.text), "")


def _found(seen: Conversation, tools: Tools) -> list[str]:
    others = {tool.name for tool in (tools.note, tools.sum, tools.finish) if tool}
    return [call.result for call in seen.done if not call.failed and call.tool not in others]


def _quoted(found: list[Finding], evidence: str) -> str:
    said = [f'According to "{f.title}": {f.text}' if f.title else f.text for f in found]
    lead = f"{evidence} " if evidence and evidence not in said[0] else ""
    return lead + "\n\n".join(said)


def _beyond(task: Task, _seen: Conversation, _tools: Tools) -> str:
    return (
        f"I can't work that out ({task.text.rstrip('?')}): I know only + - * / **, percentages,"
        " square roots, averages and rounding."
    )


_HANDLERS: dict[str, Callable[[Task, Conversation, Tools], Calls | str]] = {
    "note": _note,
    "sum": _sum,
    "search": _search,
    "beyond": _beyond,
}
