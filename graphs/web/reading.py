"""What the page is told: a user's threads, and one thread with all that happened in it."""

from dataclasses import asdict
from typing import Any

from graphs.cli.pauses import pause_of, waiting_json
from graphs.cli.settings import has_memory
from graphs.memory import open_memory
from graphs.open import open_graph
from graphs.threads import Thread, get_thread, list_threads
from graphs.variants import GRAPHS
from graphs.web.paths import MOST_CHECKPOINTS, drawing_of, paths_of
from graphs.web.timeline import prompt_of, runs_of
from tools.redact import redact_data

_SHOWN = ("answer", "status", "stop_reason", "usage", "record", "rejection", "notes", "summary")


def threads_of(db: str, user: str | None) -> list[dict[str, Any]]:
    """List a user's threads, newest first; without a user those of nobody in particular."""
    if not has_memory(db):
        return []
    with open_memory(db) as memory:
        return [_told(thread) for thread in list_threads(memory, user)]


def thread_of(db: str, thread_id: str, user: str | None) -> dict[str, Any]:
    """Return all that the page shows of a thread.

    Returns:
        `thread`; `runs`, each with `question`, `steps` and `drawing`; `outcome` of the newest run;
        `waiting`, the calls that wait for a yes, and the `problem` of the answer before.

    Raises:
        UsageError: There is no such thread, or it is another user's.
    """
    thread = _find(db, thread_id, user)
    config: Any = {"configurable": {"thread_id": thread_id}}
    with open_graph(thread.graph, db=db) as graph:
        state = graph.get_state(config)
        own: Any = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
        paths = paths_of(graph.memory.saver.list(own, limit=MOST_CHECKPOINTS))
        drawable = graph.get_graph()
    runs = runs_of(state.values.get("messages") or [])
    for run, path in zip(reversed(runs), reversed(paths), strict=False):
        run["drawing"] = drawing_of(drawable, path)
    pause = pause_of(state.interrupts)
    return {
        "thread": _told(thread),
        "runs": runs,
        "outcome": redact_data({name: state.values.get(name) for name in _SHOWN}),
        "waiting": waiting_json(pause.calls),
        "problem": pause.problem,
    }


def prompt_before(db: str, thread_id: str, user: str | None, reply_id: str) -> Any:
    """Return what a reply's model was sent; None where the thread has no such reply.

    Raises:
        UsageError: There is no such thread, or it is another user's.
    """
    thread = _find(db, thread_id, user)
    with open_graph(thread.graph, db=db) as graph:
        state = graph.get_state({"configurable": {"thread_id": thread_id}})
        return prompt_of(state.values.get("messages") or [], reply_id, graph.memory.store)


def _find(db: str, thread_id: str, user: str | None) -> Thread:
    with open_memory(db) as memory:
        return get_thread(memory, thread_id, user)


def _told(thread: Thread) -> dict[str, Any]:
    about = GRAPHS[thread.graph].DESCRIPTION if thread.graph in GRAPHS else ""
    times = {"created": thread.created.isoformat(), "updated": thread.updated.isoformat()}
    return {**asdict(thread), **times, "about": about}
