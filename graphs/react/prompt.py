"""The ReAct prompt, filled for a run: the rules for the system, the question for the user."""

from typing import NamedTuple

from langchain_core.messages import SystemMessage

from graphs.context import Context
from graphs.node import Scope
from graphs.prompt_of_run import MOST_KEPT, PromptOfRun
from graphs.react.prompt_text import NOTES, PLACES, REACT, cut
from graphs.sent_prompts import NOTES as KEPT_NOTES
from graphs.sent_prompts import keep, system_message
from graphs.waiting import Steps, Wait
from prompts import Template
from tools import ToolSet
from tools.notes import aread_notes, read_notes, render_notes


class Filled(NamedTuple):
    """The prompt of a run.

    Attributes:
        system: The system prompt.
        opening: The line with the question, and what follows it.
    """

    system: SystemMessage
    opening: Template


class _Made(NamedTuple):
    """A prompt with its tools, and the edition of those."""

    edition: int
    rules: str
    opening: Template


class ReactPrompt:
    """The seed's prompt, cut at its line with the question.

    What is above that line, rules and actions, is the system prompt: it is the same for every
    question, and holds nothing that a user wrote. The line itself opens the user's message. A
    user's notes from earlier conversations, where there are any, follow the rules.

    Args:
        tools: The tools that exist; a read-only run is told of those alone that change nothing.
            Servers that list some of them are not asked before a run needs the prompt.
        context: The variant's settings, of which some may give other prompts.

    Raises:
        TemplateError: The prompt is wrong.
    """

    def __init__(self, tools: ToolSet, context: type[Context]) -> None:
        self._prompt = PromptOfRun(REACT, context, names=PLACES, check=cut)
        self._notes = PromptOfRun(NOTES, context, names={"memory_notes"})
        self._tools = tools
        self._made: dict[tuple[str, bool], _Made] = {}

    def _of(self, template: Template, *, read_only: bool) -> _Made:
        """Cut the prompt, with the tools as they are listed now."""
        key = template.text, read_only
        made = self._made.get(key)
        if made is None or made.edition != self._tools.edition or not self._tools.is_ready:
            tools = [tool for tool in self._tools if tool.effect == "read_only" or not read_only]
            made = _Made(self._tools.edition, *cut(template, tools))
            while len(self._made) >= MOST_KEPT:
                self._made.pop(next(iter(self._made)), None)
            self._made[key] = made
        return made

    def fill(self, scope: Scope) -> Steps[Filled]:
        """Return the prompt of a run.

        Raises:
            TemplateError: A prompt's file was edited since the graph was built, and is wrong.
        """
        template = yield from self._prompt.now(scope)
        made = self._of(template, read_only=scope.context.read_only)
        text = shown = made.rules
        store, user = scope.store, scope.context.user
        if store is not None and user is not None:
            notes = yield Wait(lambda: read_notes(store, user), lambda: aread_notes(store, user))
            if notes:
                below = yield from self._notes.now(scope)
                text = f"{text}\n\n{below.render(memory_notes=render_notes(notes))}"
                shown = f"{shown}\n\n{below.render(memory_notes=KEPT_NOTES)}"
        system = system_message(text, shown)
        yield from keep(system, shown, scope)
        return Filled(system, made.opening)
