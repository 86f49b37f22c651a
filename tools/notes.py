"""Notes: durable facts about a customer, kept under the user of the run and shown as data."""

import json
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from tools import note_records as records
from tools.availability import available_unless
from tools.note_records import NO_USER, NOTES_LIMIT, Note, NotesError, user_label
from tools.redact import redact
from tools.tools_read import ToolsRead

__all__ = [
    "NOTES_LIMIT",
    "NOTE_LIMIT",
    "Note",
    "NotesError",
    "aread_notes",
    "delete_note",
    "read_notes",
    "render_notes",
    "save_note",
    "user_label",
]

NOTE_LIMIT = 2_000
"""Characters of one note."""

NOTHING_READ = ToolsRead()

# Within a process saves take turns, so that the limit is exact and none gives way in vain.
_saving = threading.Lock()


def _why_off(runtime: Runtime[Any]) -> str | None:
    try:
        _owner(runtime)
    except NotesError as error:
        return str(error)
    return None


@available_unless(_why_off)
def save_note(text: str, runtime: Runtime[Any], read: ToolsRead = NOTHING_READ) -> str:
    """Store a durable fact about this customer, such as a preference, for later conversations.

    The note belongs to the user that the run's context names, whatever the model says. It is kept
    trimmed, without credentials, with its time, thread, run, and the tools whose results the model
    had read, for what it keeps may be a stranger's words; an exact duplicate is not kept
    twice. A user has at most 100 notes: one more is refused, and no older one is dropped for it.

    Args:
        text: The fact in one or two plain sentences, 1 to 2,000 characters.
        runtime: The run; never shown to the model.
        read: The tools whose results the model had read; never shown to the model either.

    Raises:
        NotesError: Notes are off in this run, or the note is too short, too long or one too many.
    """
    user_id, store = _owner(runtime)
    kept = redact(_storable(text)).strip()
    if not kept:
        raise NotesError(f"the note is empty: give a text of 1 to {NOTE_LIMIT:,} characters")
    if len(kept) > NOTE_LIMIT:
        raise NotesError(
            f"the note has {len(kept):,} characters, at most {NOTE_LIMIT:,} are allowed: shorten it"
        )
    about = runtime.execution_info
    note = Note(
        key=records.key_of(kept),
        text=kept,
        created=datetime.now(UTC).isoformat(timespec="microseconds"),
        thread_id=about.thread_id if about else None,
        run_id=about.run_id if about else None,
        after=tuple(read),
    )
    with _saving:
        is_new = records.do(store, records.save(user_id, note))
    return "Noted." if is_new else "Already noted."


def read_notes(store: BaseStore, user_id: str) -> list[Note]:
    """Read a user's notes, oldest first; NotesError for a blank id."""
    return records.do(store, records.read(user_id))


async def aread_notes(store: BaseStore, user_id: str) -> list[Note]:
    """Read a user's notes, oldest first; NotesError for a blank id."""
    return await records.ado(store, records.read(user_id))


def delete_note(store: BaseStore, user_id: str, key: str) -> bool:
    """Delete a user's note, and tell whether there was one; NotesError for a blank id."""
    return records.do(store, records.delete(user_id, key))


def render_notes(notes: Sequence[Note], budget: int = 4_000) -> str:
    """Show notes in a prompt: the newest that fit, oldest first, each a JSON string on its line.

    No text of a note can leave its line or its quotes, and so none reads as part of the prompt.

    Args:
        notes: As `read_notes` returns them.
        budget: Characters; the line that says how many were left out is not counted.

    Returns:
        The lines; "(none)" where there are no notes.
    """
    lines: list[str] = []
    left = budget + 1  # the last line has no line end
    for note in reversed(notes):
        line = f"- {_quoted(note.text)}"
        if len(line) < left:
            lines.append(line)
            left -= len(line) + 1
    hidden = len(notes) - len(lines)
    if hidden:
        lines.append(f"({hidden} more {'note' if hidden == 1 else 'notes'} left out)")
    return "\n".join(reversed(lines)) or "(none)"


def _owner(runtime: Runtime[Any]) -> tuple[str, BaseStore]:
    """Say whose notes the run may touch, and where they are: the context does, never the model."""
    context = runtime.context
    found = (
        context.get("user_id")
        if isinstance(context, Mapping)
        else getattr(context, "user_id", None)
    )
    if not isinstance(found, str) or not found.strip():
        raise NotesError(NO_USER)
    if runtime.store is None:
        raise NotesError("this run has no store, notes are off")
    return found, runtime.store


def _storable(text: str) -> str:
    """Take out what the store can't hold: NULs, and halves of surrogate pairs."""
    whole = text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.strip()


def _quoted(text: str) -> str:
    """Write a text as JSON whose every character shows: none ends a line or turns the reading."""
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isprintable():
        return quoted
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in quoted)
