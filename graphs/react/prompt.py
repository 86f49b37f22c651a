"""The ReAct prompt, filled for a run: the rules for the system, the question for the user."""

from collections.abc import Sequence

from langchain_core.messages import SystemMessage

import prompts
from graphs.node import Scope
from graphs.waiting import Steps, Wait
from prompts import Template, TemplateError, action_lines
from tools import Contract, ToolSet
from tools.notes import aread_notes, read_notes, render_notes


class ReactPrompt:
    """The seed's prompt, cut at its line with the question.

    What is above that line, rules and actions, is the system prompt: it is the same for every
    question, and holds nothing that a user wrote. The line itself opens the user's message. A
    user's notes from earlier conversations, where there are any, follow the rules.

    Args:
        tools: The tools that exist; a read-only run is told of those alone that change nothing.
            Servers that list some of them are not asked before a run needs the prompt.

    Raises:
        TemplateError: The prompt is wrong.
    """

    def __init__(self, tools: ToolSet) -> None:
        self._template = prompts.load("react", names={"tool_descriptions", "question"})
        self._notes = prompts.load("earlier_notes", names={"memory_notes"})
        self._tools = tools
        _, self._opening = _cut(self._template, ())
        self._made: dict[bool, tuple[int, str]] = {}

    def _rules(self, *, read_only: bool) -> str:
        """Return what is above the question, with the tools as they are listed now."""
        edition, text = self._made.get(read_only, (-1, ""))
        if edition != self._tools.edition or not self._tools.is_ready:
            tools = [tool for tool in self._tools if tool.effect == "read_only" or not read_only]
            text, _ = _cut(self._template, tools)
            self._made[read_only] = self._tools.edition, text
        return text

    def system(self, scope: Scope) -> Steps[SystemMessage]:
        """Return the system prompt of a run."""
        text = self._rules(read_only=scope.context.read_only)
        store, user = scope.store, scope.context.user
        if store is not None and user is not None:
            notes = yield Wait(lambda: read_notes(store, user), lambda: aread_notes(store, user))
            if notes:
                text = f"{text}\n\n{self._notes.render(memory_notes=render_notes(notes))}"
        return SystemMessage(text)

    def question(self, question: str) -> str:
        """Return the line with the question, and what follows it."""
        return self._opening.render(question=question)


def _cut(template: Template, tools: Sequence[Contract]) -> tuple[str, Template]:
    filled = template.fill(tool_descriptions=action_lines(tools))
    above, line, below = filled.parts[0].rpartition("\n")
    if not above.strip():
        raise TemplateError(f"{template.source}: {{{{question}}}} must stand below the rules")
    opening = Template(template.source, template.text, (below, *filled.parts[1:]))
    return above.rstrip() + line.rstrip(), opening
