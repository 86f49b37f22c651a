"""The notes at the top of the prompt, and the last turns below them (seed "ReAct", To-do notes)."""

from collections.abc import Sequence
from typing import Annotated, NotRequired

from langgraph.channels import EphemeralValue

from graphs.asking import Asked
from graphs.errors import UsageError
from graphs.node import Scope, Update
from graphs.react.context import NotesContext, settings_of
from graphs.react.keywords import quoted
from graphs.react.run_notes import begin_notes, file_of, read_notes_file
from graphs.react.turns import Turn, turns_of
from graphs.react.views import View
from graphs.state import Input, Output, State
from graphs.transcript import newest_question
from graphs.waiting import Steps
from tools import limit

LEAST = 100
"""Characters of the notes that are shown, however low the limit: a cut must leave some of them."""


class NotesInput(Input):
    """The question, and the notes of an earlier run to go on from."""

    from_notes: NotRequired[str | None]


class NotesOutput(Output):
    """What every run returns, and its final notes."""

    notes: str


class NotesState(State):
    """The shared state, and the notes that the run began with and ended with.

    Attributes:
        from_notes: What the input gave. It is gone after the run's first step, and before it when
            another question comes: a run that was killed hands nothing on to the next one.
        notes: What the run began with, until it ends.
    """

    from_notes: NotRequired[Annotated[str | None, EphemeralValue]]
    notes: NotRequired[str | None]


class NotesWindow:
    """The notes, and the newest turns.

    It keeps true that
    * the notes are above the question and the turns, as they are now, in every prompt;
    * each run has a notes file of its own, begun empty or with the notes it is given;
    * the notes are those of the branch, as of its newest turn: a fork sees nothing that another
      branch noted, and takes nothing from it;
    * notes that are longer than the limit allows, because it was lowered, are shown with their
      middle left out, and kept whole;
    * no line of the notes can be read as a keyword.
    """

    def begin(self, state: State, scope: Scope) -> Steps[Update]:
        """Create the run's notes file."""
        given = state.get("from_notes")
        if given is not None and not isinstance(given, str):
            raise UsageError(f"from_notes must be text, not {type(given).__name__}")
        yield from begin_notes(file_of(state, scope), given or "")
        return {"notes": given or ""}

    def view(self, turns: Sequence[Turn], state: State, scope: Scope) -> Steps[View]:
        """Show the notes, and the turns of the window."""
        settings = settings_of(scope.context, NotesContext)
        notes = yield from self._notes(turns, state, scope)
        shown = limit(notes, max(settings.notes_limit, LEAST)) or "(empty)"
        return View(turns[-settings.kept_turns :], above=f"Notes:\n{quoted(shown)}")

    def too_long(self, state: State, asked: Asked) -> Update | None:  # noqa: ARG002
        """Nothing can be left out but what the settings say."""
        return None

    def told(self, state: State, scope: Scope) -> Steps[Update]:
        """Return the final notes."""
        turns = turns_of(state["messages"], newest_question(state["messages"]).id or "")
        return {"notes": (yield from self._notes(turns, state, scope))}

    def _notes(self, turns: Sequence[Turn], state: State, scope: Scope) -> Steps[str]:
        # In a run's first turn `notes` are still those of the run before it.
        begun_with = str(state.get("notes" if turns else "from_notes") or "")
        return (yield from read_notes_file(file_of(state, scope), state["messages"], begun_with))
