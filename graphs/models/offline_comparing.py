"""The rule-based model's steps of a comparison: two look-ups, one sum, and both sources told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from graphs.models.offline_compare import comparison_in, expression_of, numbers_for, told
from graphs.models.offline_conversation import Conversation
from graphs.models.offline_plan import Task, Tools

Calls = list[tuple[str, dict[str, Any]]]

INCOMPLETE = "Incomplete:"
"""How an answer begins that needs a call which can't be made any more."""

_LEAD = re.compile(r'According to "[^"]*": ')


def compare(
    task: Task,
    seen: Conversation,
    tools: Tools,
    step_for: Callable[[Task, Conversation, Tools], Calls | str],
) -> Calls | str:
    """Look two things up, and have the difference or the sum of their numbers worked out.

    Args:
        task: The part of the question that compares.
        seen: What was done.
        tools: The tools.
        step_for: What another part of a question needs.
    """
    comparison = comparison_in(task.text)
    if comparison is None:
        return step_for(Task("search", task.text, task.context), seen, tools)
    said: list[str] = []
    for question in (comparison.first, comparison.second):
        step = step_for(Task("search", question, task.context), seen, tools)
        if not isinstance(step, str):
            return step
        said.append(step)
    found = numbers_for(comparison, *(_LEAD.sub("", one) for one in said))
    if found is None:
        return joined(said)
    expression = expression_of(comparison, *found)
    done = seen.result_of(tools.sum, expression)
    if done is None and tools.sum:
        return [(tools.sum.name, {tools.sum.parameter: expression})]
    if done is None or done.failed:
        return joined(said)
    return f"{joined(said)}\n\n{expression} = {told(done.result, found[0])}."


def joined(answers: Iterable[str]) -> str:
    """Join the answers to the parts of a question; one incomplete part makes the whole so."""
    answers = list(dict.fromkeys(answers))
    answer = "\n\n".join(part.removeprefix(INCOMPLETE).strip() for part in answers)
    return f"{INCOMPLETE} {answer}" if any(a.startswith(INCOMPLETE) for a in answers) else answer
