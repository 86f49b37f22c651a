"""Note records: how notes lie in the store, each under its user and named by its text.

What is done to them is written once for sync and async callers, as a generator that yields store
operations and gets back their results.
"""

import hashlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from langgraph.store.base import BaseStore, GetOp, Op, PutOp, Result, SearchItem, SearchOp

NOTES_LIMIT = 100
"""Notes of one user."""

NO_USER = "no user id was given for this run, notes are off: start it with a user_id (--user)"

_PAGE = 200

Answer = TypeVar("Answer")
Steps = Generator[list[Op], list[Result], Answer]


class NotesError(ValueError):
    """A note that can't be kept or read; one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Note:
    """One note, with where it came from.

    Attributes:
        key: What `delete_note` takes; of one user, the same text has the same key.
        text: The note, trimmed and without credentials.
        created: When it was saved, ISO 8601 in UTC.
        thread_id: The thread it was saved in, if there was one.
        run_id: The run that saved it, if it is known.
        after: The tools whose results the model had read when it saved it.
    """

    key: str
    text: str
    created: str
    thread_id: str | None = None
    run_id: str | None = None
    after: tuple[str, ...] = ()


def key_of(text: str) -> str:
    """Name a note by its text, so that the store itself keeps exact duplicates out."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def user_label(user_id: str) -> str:
    """Turn a user's id into a namespace label, one to one, whatever the id holds.

    Hexadecimal digits hold no dot (which the store refuses), no wildcard and no quote, and with
    the end mark no label begins another. The way back is
    `bytes.fromhex(label[1:-1]).decode("utf-8", "surrogatepass")`.

    Raises:
        NotesError: The id is blank.
    """
    if not user_id.strip():
        raise NotesError(NO_USER)
    return f"u{user_id.encode('utf-8', 'surrogatepass').hex()}z"


def save(user_id: str, note: Note) -> Steps[bool]:
    """Keep a note, and tell whether it is new.

    Raises:
        NotesError: There are too many notes.
    """
    namespace = _namespace(user_id)
    notes = yield from read(user_id)
    if any(kept.key == note.key for kept in notes):
        return False
    if len(notes) >= NOTES_LIMIT:
        raise _full()
    value = {
        "text": note.text,
        "created": note.created,
        "thread_id": note.thread_id,
        "run_id": note.run_id,
        "after": list(note.after),
    }
    yield [PutOp(namespace, note.key, value)]
    # Another process may have taken the last place since: then this note gives way, no older one.
    if len((yield from read(user_id))) > NOTES_LIMIT:
        yield [PutOp(namespace, note.key, None)]
        raise _full()
    return True


def read(user_id: str) -> Steps[list[Note]]:
    """Read a user's notes, oldest first."""
    namespace = _namespace(user_id)
    notes: list[Note] = []
    offset = 0
    while True:
        (found,) = yield [SearchOp(namespace, limit=_PAGE, offset=offset)]
        items = cast("list[SearchItem]", found)
        # A search answers with what lies below the namespace too.
        notes += [_note(item) for item in items if item.namespace == namespace and _is_note(item)]
        if len(items) < _PAGE:
            return sorted(notes, key=lambda note: (note.created, note.key))
        offset += _PAGE


def delete(user_id: str, key: str) -> Steps[bool]:
    """Delete a note, and tell whether there was one."""
    namespace = _namespace(user_id)
    (found,) = yield [GetOp(namespace, key)]
    if found is not None:
        yield [PutOp(namespace, key, None)]
    return found is not None


def do(store: BaseStore, steps: Steps[Answer]) -> Answer:
    """Take the steps in this thread."""
    try:
        ops = next(steps)
        while True:
            ops = steps.send(store.batch(ops))
    except StopIteration as stop:
        return cast("Answer", stop.value)


async def ado(store: BaseStore, steps: Steps[Answer]) -> Answer:
    """Take the steps on the event loop."""
    try:
        ops = next(steps)
        while True:
            ops = steps.send(await store.abatch(ops))
    except StopIteration as stop:
        return cast("Answer", stop.value)


def _namespace(user_id: str) -> tuple[str, str]:
    return ("notes", user_label(user_id))


def _is_note(item: SearchItem) -> bool:
    """Leave out what another program, or another version, may have stored here."""
    value: dict[str, Any] = item.value
    return isinstance(value.get("text"), str) and isinstance(value.get("created"), str)


def _note(item: SearchItem) -> Note:
    value = item.value
    return Note(
        key=item.key,
        text=value["text"],
        created=value["created"],
        thread_id=value.get("thread_id"),
        run_id=value.get("run_id"),
        after=tuple(value.get("after") or ()),
    )


def _full() -> NotesError:
    return NotesError(
        f"there are {NOTES_LIMIT} notes about this customer already: the note was not saved; "
        "an older one has to be deleted first, with `rungs notes delete`"
    )
