"""Answer from the page what a thread waits for, as `rungs resume` does from the command line."""

import threading
from typing import Any

from langgraph.types import Command

from graphs.cli.opening import opened
from graphs.cli.pauses import pause_of
from graphs.cli.records import settings_to_resume
from graphs.cli.screen import Screen
from graphs.cli.settings import Settings
from graphs.errors import UsageError

_one_at_a_time = threading.Lock()
"""A run reads the folder of its documents from the process's environment."""


def answer(db: str, thread_id: str, user: str | None, decisions: Any) -> None:
    """Go on with a thread that waits, until its run ends or waits again.

    Args:
        db: The memory file.
        thread_id: The thread.
        user: Whose thread it is.
        decisions: As in LangChain's `HITLResponse`, one for each call that waits, by its id.

    Raises:
        UsageError: Nothing waits, or the answer decides nothing; what waited waits on.
    """
    named = isinstance(decisions, list) and all(
        isinstance(one, dict) and isinstance(one.get("call_id"), str) for one in decisions
    )
    if not named:  # an answer that came late would decide about a newer call
        raise UsageError("an answer is a list of decisions, each with the call_id it is for")
    settings = settings_to_resume(thread_id, db, Settings(user=user))
    config: Any = {
        "configurable": {"thread_id": thread_id},
        "metadata": settings.recorded(),
    }
    with _one_at_a_time, opened(settings, db, Screen(silent=True)) as graph:
        if not pause_of(graph.get_state(config).interrupts).calls:
            raise UsageError(f"nothing in thread {thread_id} waits for an answer")
        resume: Command[Any] = Command(resume={"decisions": decisions})
        graph.invoke(resume, config, context=settings.context())
        if problem := pause_of(graph.get_state(config).interrupts).problem:
            raise UsageError(f"{problem}; nothing ran, and all of it waits on")
