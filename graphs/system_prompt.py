"""The system prompt, filled for a run."""

from typing import Protocol

from langchain_core.messages import SystemMessage

from graphs.node import Scope
from graphs.sent_prompts import NOTES, keep, system_message
from graphs.waiting import Steps, Wait
from prompts import Template
from tools.notes import aread_notes, read_notes, render_notes


class Prompt(Protocol):
    """A prompt that may be another one in each run."""

    def now(self, scope: Scope) -> Steps[Template]:
        """Return the run's; the same text is the same object."""


class SystemPrompt:
    """The system prompt of a graph: its template, filled with the company and the user's notes.

    Args:
        prompt: With the places `company` and `memory_notes`.
    """

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self._last: tuple[Template, str, str, int, SystemMessage, str] | None = None

    def fill(self, scope: Scope) -> Steps[SystemMessage]:
        """Fill the template; the same text is the same message, which is converted but once.

        Raises:
            TemplateError: The prompt's file was edited since the graph was built, and is wrong.
        """
        template = yield from self._prompt.now(scope)
        store, user, company = scope.store, scope.context.user, scope.context.company
        notes = []
        if store is not None and user is not None:
            notes = yield Wait(lambda: read_notes(store, user), lambda: aread_notes(store, user))
        rendered = render_notes(notes)
        last, edition = self._last, template.edition
        if last is None or last[0] is not template or last[1:4] != (company, rendered, edition):
            text = template.render(company=company, memory_notes=rendered)
            told = NOTES if notes else rendered
            shown = template.render(company=company, memory_notes=told)
            message = system_message(text, shown)
            self._last = last = (template, company, rendered, edition, message, shown)
        yield from keep(last[4], last[5], scope)
        return last[4]
