"""The system prompt, filled for a run."""

from langchain_core.messages import SystemMessage

from graphs.node import Scope
from graphs.waiting import Steps, Wait
from prompts import Template
from tools.notes import aread_notes, read_notes, render_notes


class SystemPrompt:
    """The system prompt of a graph: its template, filled with the company and the user's notes.

    Args:
        template: With the places `company` and `memory_notes`.
    """

    def __init__(self, template: Template) -> None:
        self._template = template
        self._last: tuple[str, str, int, SystemMessage] | None = None

    def fill(self, scope: Scope) -> Steps[SystemMessage]:
        """Fill the template; the same text is the same message, which is converted but once."""
        store, user, company = scope.store, scope.context.user, scope.context.company
        notes = []
        if store is not None and user is not None:
            notes = yield Wait(lambda: read_notes(store, user), lambda: aread_notes(store, user))
        rendered = render_notes(notes)
        last, edition = self._last, self._template.edition
        if last is None or last[:3] != (company, rendered, edition):
            text = self._template.render(company=company, memory_notes=rendered)
            self._last = last = (company, rendered, edition, SystemMessage(text))
        return last[3]
