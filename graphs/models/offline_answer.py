"""The rule-based model's next step: calls that are still needed, or the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from graphs.models.offline_comparing import Calls, compare, joined
from graphs.models.offline_conversation import Conversation
from graphs.models.offline_finding import FOR_KIND, search_for
from graphs.models.offline_formula import filled_formula
from graphs.models.offline_hop import entity_for, hop_in
from graphs.models.offline_notes import from_notes
from graphs.models.offline_plan import Task, Tool, Tools, fewer_words, split
from graphs.models.offline_reading import best_answers
from graphs.models.offline_record_step import record_step
from graphs.models.offline_saying import by_formula, call_of, incomplete, quoted
from graphs.models.offline_words import GENERIC, stems
from tools.search_tools import TOOL_SEARCH

NOTHING = (
    "I found nothing that answers this. I work by fixed rules and only repeat what the tools"
    " return; name a model in RUNGS_MODEL for more."
)
NO_QUESTION = "Ask me something: I search the documents, calculate, and keep notes."


def next_step(seen: Conversation, tools: Tools) -> Calls | str:
    """Return the calls to make now, several at once where they do not wait for each other."""
    tasks = split(seen.question)
    if not tasks:
        return NO_QUESTION
    calls: Calls = []
    answers: list[str] = []
    for task in tasks:
        step = HANDLERS[task.kind](task, seen, tools)
        if isinstance(step, str):
            answers.append(step)
        else:
            calls += [call for call in step if call not in calls]
    if calls:
        return calls
    answer = joined(answers)
    if tools.finish:
        return [(tools.finish.name, {tools.finish.parameter: answer})]
    return answer


def step_for(task: Task, seen: Conversation, tools: Tools) -> Calls | str:
    """Return what a part of the question needs now: a call, or the answer.

    Only results of calls that this part asked for count: those for another part are about another
    thing.
    """
    own = Conversation(question=seen.question, notes=seen.notes)
    while True:
        step = HANDLERS[task.kind](task, own, tools)
        if isinstance(step, str):
            return step
        name, arguments = step[0]
        made = [d for d in seen.done if d.tool == name and d.arguments == arguments]
        if not made or made[-1] in own.done:
            return step
        own.done.append(made[-1])


def demanded_step(seen: Conversation, tools: Tools) -> Calls:
    """Return a search for the question's telling words: a call is demanded, and none needed."""
    query = fewer_words(seen.question) or seen.question.strip()
    return [call for tool in tools.searches_for(query) for call in call_of(tool, query)]


def _find(kind: str, seen: Conversation, tools: Tools) -> Calls | None:
    """Search for a tool of a kind, once, where tools are searched for."""
    return search_for(FOR_KIND[kind], seen) if tools.finder else None


def _note(task: Task, seen: Conversation, tools: Tools) -> Calls | str:
    done = seen.result_of(tools.note, task.text)
    if done is None and not tools.note and (found := _find("note", seen, tools)):
        return found
    if done is None:
        return call_of(tools.note, task.text) if tools.note else "I can't keep notes here."
    if done.failed:
        return f"I could not keep that note: {done.result}"
    return f"I have noted: {task.text.rstrip('.')}."


def _sum(task: Task, seen: Conversation, tools: Tools) -> Calls | str:
    done = seen.result_of(tools.sum, task.text)
    if done is None and tools.off and seen.done:
        return incomplete([], f"working out {task.text}")
    if done is None and not tools.sum and (found := _find("sum", seen, tools)):
        return found
    if done is None:
        return call_of(tools.sum, task.text) if tools.sum else "I can't calculate here."
    if done.failed:
        return f"I could not work out {task.text}: {done.result}"
    return f"{task.text} = {done.result.rstrip('.')}."


def _look_into(task: Task, seen: Conversation, tools: Tools) -> Calls | str:
    """Answer from notes, from a record, or from documents, in this order."""
    if (noted := from_notes(task.text, seen.notes)) is not None:
        return noted
    if (step := record_step(f"{task.context} {task.text}".strip(), seen, tools)) is not None:
        return step
    searching = None if tools.search else _find("search", seen, tools)
    return searching or _search(task, seen, tools)


def _search(task: Task, seen: Conversation, tools: Tools) -> Calls | str:
    question = task.text
    if not stems(question):  # "My parcel is late. What can I do?"
        question, task = f"{task.context} {question}".strip(), Task("search", question)
    resolved = _resolved(task.context, question, seen, tools)
    if not isinstance(resolved, _Resolved):
        return resolved
    question, evidence = resolved.question, resolved.evidence
    asked = f"{task.context} {question}".strip()
    for query, searches in _attempts(asked, fewer_words(question), tools):
        done = _look_up(query, seen, tools, searches)
        if isinstance(done, list):
            return done
        results = _found(seen, tools)
        found = best_answers(question, results, task.context)
        on_topic = found and stems(found[0].title) & stems(question) - GENERIC
        if on_topic or (found and not stems(question) & GENERIC) or filled_formula(asked, results):
            break
        if done is None and not found:
            return incomplete(evidence, f'a search for "{query}"')
    return _read(question, task.context, " ".join(evidence), seen, tools)


@dataclass(frozen=True, slots=True)
class _Resolved:
    """A question with names in the places of its clauses, and the sentences that gave them."""

    question: str
    evidence: list[str]


def _resolved(
    context: str, question: str, seen: Conversation, tools: Tools
) -> Calls | str | _Resolved:
    """Find the names that clauses stand for, one search after another."""
    evidence: list[str] = []
    while hop := hop_in(question):
        first = _look_up(hop.first, seen, tools, tools.searches_for(hop.first))
        if first is None:
            return incomplete(evidence, f'a search for "{hop.first}"')
        if isinstance(first, list):
            return first
        named = entity_for(hop.relation, first.results, question)
        if named is None:
            break
        question = hop.resolved(question, named[0])
        evidence.append(named[1])
    asked = f"{context} {question}".strip()
    if evidence and _look_up(asked, seen, tools, ()) is None:
        return incomplete(evidence, f'a search for "{asked}"')
    return _Resolved(question, evidence)


def _attempts(asked: str, fewer: str, tools: Tools) -> list[tuple[str, tuple[Tool, ...]]]:
    """List what to search for, and where, as long as nothing is found that is to the point."""
    queries = list(filter(None, dict.fromkeys([asked, fewer])))
    first = tools.searches_for(asked)
    others = tuple(tool for tool in tools.searches if tool not in first)
    return [(query, first) for query in queries] + [(asked, others)] * bool(others)


@dataclass(frozen=True, slots=True)
class _LookedUp:
    results: list[str]


def _look_up(
    query: str, seen: Conversation, tools: Tools, searches: tuple[Tool, ...]
) -> Calls | _LookedUp | None:
    """Return the searches still to make, or their results; None where they can't be made now."""
    if tools.off and seen.done:
        done = seen.all_of(query)
        return _LookedUp([call.result for call in done]) if done else None
    calls: Calls = []
    results: list[str] = []
    for tool in searches:
        done_here = seen.result_of(tool, query)
        if done_here is None:
            calls += call_of(tool, query)
        else:
            results.append(done_here.result)
    return calls or _LookedUp(results)


def _read(
    question: str, context: str, evidence: str, seen: Conversation, tools: Tools
) -> Calls | str:
    """Answer from what was found; a formula is worked out where the question has its numbers."""
    results = _found(seen, tools)
    asked = f"{context} {question}".strip()
    if (step := by_formula(asked, results, evidence, seen, tools)) is not None:
        return step
    if found := best_answers(question, results, context):
        return quoted(found, evidence)
    failures = [call.result for call in seen.done if call.failed]
    if failures and not results:
        return f"I could not look that up: {failures[-1]}"
    return NOTHING


def _found(seen: Conversation, tools: Tools) -> list[str]:
    others = {tool.name for tool in (tools.note, tools.sum, tools.finish) if tool} | {TOOL_SEARCH}
    return [call.result for call in seen.done if not call.failed and call.tool not in others]


def _beyond(task: Task, _seen: Conversation, _tools: Tools) -> str:
    return (
        f"I can't work that out ({task.text.rstrip('?')}): I know only + - * / **, percentages,"
        " square roots, averages and rounding."
    )


HANDLERS: dict[str, Callable[[Task, Conversation, Tools], Calls | str]] = {
    "note": _note,
    "sum": _sum,
    "search": _look_into,
    "compare": lambda task, seen, tools: compare(task, seen, tools, step_for),
    "beyond": _beyond,
}
