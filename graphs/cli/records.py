"""What memory holds: threads, a thread's events, and notes."""

import json
from dataclasses import asdict, replace

from graphs.audit import events
from graphs.cli.screen import Screen, shorten
from graphs.cli.settings import Settings, existing_db, has_memory
from graphs.cli.telling import tell
from graphs.database_url import shown
from graphs.entering import NAMESPACE
from graphs.errors import UsageError
from graphs.limits_hit import hits_of
from graphs.memory import open_memory
from graphs.open import open_graph
from graphs.threads import Thread, get_thread, list_threads, takes_new_limit
from tools.notes import delete_note, read_notes

EVENT_WIDTH = 500
"""Characters of an event's line; `--json` has all of it."""


def recorded_settings(settings: Settings, thread_id: str, db: str) -> Settings:
    """Fill in what was not given from what the thread recorded, if the thread exists.

    Raises:
        UsageError: The thread belongs to another user, or to another graph.
    """
    if not has_memory(db):
        return settings
    thread = _find(db, thread_id, settings.user)
    if thread is None:
        return settings
    if settings.graph not in {None, thread.graph}:
        raise UsageError(
            f"thread {thread_id} was begun by the graph {thread.graph}: "
            "leave --graph out, or begin a new thread"
        )
    return settings.over({**thread.settings, "graph": thread.graph})


def settings_to_resume(thread_id: str, db: str, given: Settings) -> Settings:
    """Return the settings that a thread recorded, with those given in their place.

    Raises:
        UsageError: There is no such thread, or it is another user's; or another limit was given for
            a run that goes on under its own.
    """
    thread = _find(existing_db(db), thread_id, given.user)
    if thread is None:
        raise _no_thread(thread_id, db)
    if given.max_turns is not None and not _takes_new_limit(db, thread_id):
        raise UsageError(
            f"--max-turns: what goes on in thread {thread_id} keeps the limit it began with; "
            "only a run that stopped early is gone on with under another"
        )
    given = replace(given, user=None)
    return given.over({**thread.settings, "graph": thread.graph, "user": thread.user_id})


def show_threads(db: str, user: str | None, screen: Screen, *, as_json: bool) -> None:
    """List a user's threads, newest first; without a user those of nobody in particular."""
    with open_memory(existing_db(db)) as memory:
        found = list_threads(memory, user)
    for thread in found:
        if as_json:
            times = {"created": thread.created.isoformat(), "updated": thread.updated.isoformat()}
            screen.data(asdict(thread) | times)
            continue
        updated = thread.updated.astimezone().strftime("%Y-%m-%d %H:%M")
        told = f"{thread.thread_id}  {updated}  {thread.status}  "
        screen.text(told + shorten(thread.question, max(screen.width - len(told), 40)))
    if not found and not as_json:
        screen.text(
            "no threads without a user: name one with --user"
            if user is None
            else f"no threads of {user}"
        )


def show_events(
    db: str, thread_id: str, user: str | None, screen: Screen, *, as_json: bool
) -> None:
    """Show a thread's model calls and tool calls, in the order they happened.

    Raises:
        UsageError: There is no such thread, or it is another user's.
    """
    thread = _find(existing_db(db), thread_id, user)
    if thread is None:
        raise _no_thread(thread_id, db)
    with open_graph(thread.graph, db=db, tools=[]) as graph:
        state = graph.get_state({"configurable": {"thread_id": thread_id}})
    for event in events(state.values.get("messages") or ()):
        if as_json:
            screen.data(json.loads(event.as_json()))
        else:
            screen.text(tell(event, EVENT_WIDTH, with_text=True))


def show_limits(db: str, screen: Screen, *, as_json: bool) -> None:
    """Show which tools took runs to a limit in the last week, the most blamed first."""
    with open_memory(existing_db(db)) as memory:
        found = hits_of(memory.store)
    for hits in found:
        if as_json:
            screen.data(asdict(hits) | {"newest": hits.newest.isoformat(), "often": hits.often})
            continue
        newest = hits.newest.astimezone().strftime("%Y-%m-%d %H:%M")
        often = "  often: rewrite its description" if hits.often else ""
        counts = f"{hits.tool_limit} at the limit, {hits.stuck} stuck"
        screen.text(f"{hits.tool}  {counts}, last {newest}{often}")
    if not found and not as_json:
        screen.text("no run hit a limit of tools in the last week")


def show_notes(db: str, user: str, screen: Screen, *, as_json: bool) -> None:
    """List a user's notes, oldest first."""
    with open_memory(existing_db(db)) as memory:
        notes = read_notes(memory.store, user)
    for note in notes:
        if as_json:
            screen.data(asdict(note))
        else:
            after = f"  (saved after reading {', '.join(note.after)})" if note.after else ""
            screen.text(f"{note.key[:8]}  {note.created[:16]}  {note.text}{after}")
    if not notes and not as_json:
        screen.text(f"no notes of {user}")


def remove_note(db: str, user: str, key: str, screen: Screen) -> None:
    """Delete the one note of a user whose key begins so.

    Raises:
        UsageError: No note, or more than one, has such a key.
    """
    with open_memory(existing_db(db)) as memory:
        found = [
            note for note in read_notes(memory.store, user) if key and note.key.startswith(key)
        ]
        if len(found) != 1:
            many = (
                f"{len(found)} notes have keys that begin"
                if found
                else "no note has a key that begins"
            )
            raise UsageError(f"{many} with {key!r}: take one from rungs notes list --user {user}")
        delete_note(memory.store, user, found[0].key)
    screen.text(f"deleted: {found[0].text}")


def _find(db: str, thread_id: str, user: str | None) -> Thread | None:
    with open_memory(db) as memory:
        if memory.store.get(NAMESPACE, thread_id) is None:
            return None
        return get_thread(memory, thread_id, user)


def _takes_new_limit(db: str, thread_id: str) -> bool:
    with open_memory(db) as memory:
        return takes_new_limit(memory, thread_id)


def _no_thread(thread_id: str, db: str) -> UsageError:
    return UsageError(f"there is no thread {thread_id!r} in {shown(db)}: rungs threads lists them")
