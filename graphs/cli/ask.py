"""Put a question to a graph, or go on with a run that was stopped, and show how it ends."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import HumanMessage

from graphs.cli.failures import EXIT_CODES, FAILED, complain
from graphs.cli.interrupts import stoppable
from graphs.cli.opening import opened
from graphs.cli.receipt import as_json, next_command, receipt, why
from graphs.cli.screen import Screen
from graphs.cli.settings import DEFAULT_GRAPH, Settings
from graphs.cli.steps import Steps
from graphs.threads import NAMESPACE, unrecorded_question
from graphs.usage import usage_of

Ended = dict[str, Any]
"""How a run ended: the graph's output, its messages left out, with `thread_id` and `graph`."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a graph on a thread.

    Attributes:
        question: What is asked; None goes on where the thread stopped.
        settings: What the run is put together from.
        db: The memory file.
        thread_id: The thread; None begins a new one.
    """

    question: str | None
    settings: Settings
    db: str
    thread_id: str | None = None


def execute(run: Run, screen: Screen, *, json_only: bool = False, answer_only: bool = False) -> int:
    """Run it, show the steps, and close with the answer and its receipt.

    Returns:
        The exit code.
    """
    graph_name = run.settings.graph or DEFAULT_GRAPH
    thread_id = run.thread_id or str(uuid.uuid4())
    with opened(run.settings, run.db, screen) as graph:
        ended = _follow(graph, run, thread_id, screen)
    ended |= {"thread_id": thread_id, "graph": graph_name}
    if json_only:
        screen.data(as_json(ended))
    elif answer_only:
        if ended["answer"]:
            screen.text(ended["answer"], always=True)
    else:
        _close(ended, run, screen)
    code = EXIT_CODES.get(ended["status"], FAILED)
    if code == FAILED or (code and answer_only):
        complain(why(ended, run.db, run.settings.user))
    return code


def _close(ended: Ended, run: Run, screen: Screen) -> None:
    if ended["answer"]:
        screen.text()
        screen.text(ended["answer"], "bold")
        screen.text()
    good = ended["status"] in {"answered", "record"}
    screen.text(receipt(ended), "green" if good else "yellow")
    screen.text(f"go on with: {next_command(ended, run.db, run.settings.user)}", "dim")


def _follow(graph: Any, run: Run, thread_id: str, screen: Screen) -> Ended:
    """Stream the run, showing each step, until it ends, pauses or is stopped.

    Raises:
        KeyboardInterrupt: The user stopped it before anything of it was recorded.
    """
    config = {"configurable": {"thread_id": thread_id}, "metadata": run.settings.recorded()}
    question = run.question
    if question is None:  # of a run that was killed before its first step, the thread has it
        question = unrecorded_question(graph.memory, thread_id)
    asked = [] if question is None else [HumanMessage(question)]
    known = _began(graph, thread_id)
    before = graph.get_state(config)
    if not asked and not before.next:
        screen.text(f"thread {thread_id}", "dim")
        return _outcome(before.values)
    steps = Steps(screen, [*(before.values.get("messages") or ()), *asked])
    values: Mapping[str, Any] = before.values
    paused = told = False
    # With these modes alone LangGraph runs a step in this thread, where Ctrl-C ends a wait.
    stream = graph.stream(
        {"messages": asked} if asked else None,
        config,
        context=run.settings.context(),
        stream_mode=["updates", "values"],
    )
    try:
        with stoppable(lambda: steps.busy, screen.note) as stop:
            steps.begin()
            for mode, chunk in stream:
                if not told:  # now the thread is recorded, and can be resumed
                    screen.text(f"thread {thread_id}", "dim")
                    told = True
                if mode == "updates":
                    steps.update(chunk)
                    paused = "__interrupt__" in chunk
                    continue
                values = chunk
                steps.settle()
                if stop.requested:
                    return _cancelled(graph, config, steps)
    except KeyboardInterrupt:
        if run.question is not None and _began(graph, thread_id) == known:
            raise
        return _cancelled(graph, config, steps)
    finally:
        stream.close()
        screen.settle()
    return _paused(graph, config) if paused else _outcome(values)


def _began(graph: Any, thread_id: str) -> float | None:
    """Return when the newest run of a thread began; None where the thread is not recorded."""
    item = graph.memory.store.get(NAMESPACE, thread_id)
    return None if item is None else item.value["updated"]


def _outcome(values: Mapping[str, Any]) -> Ended:
    return {
        "answer": values.get("answer"),
        "status": values.get("status") or "no_answer",
        "stop_reason": values.get("stop_reason") or "the thread holds no answer",
        "usage": values.get("usage"),
    }


def _cancelled(graph: Any, config: Mapping[str, Any], steps: Steps) -> Ended:
    ran = f"; {', '.join(steps.ran)} had run" if steps.ran else "; no tool had run"
    return _unfinished(
        graph, config, "cancelled", f"stopped by you{ran}, and nothing more was started"
    )


def _paused(graph: Any, config: Mapping[str, Any]) -> Ended:
    return _unfinished(graph, config, "waiting", "waiting for a person's approval")


def _unfinished(graph: Any, config: Mapping[str, Any], status: str, reason: str) -> Ended:
    """Tell how a run stands that has not ended, with what it used so far."""
    thread_id = config["configurable"]["thread_id"]
    if unrecorded_question(graph.memory, thread_id) is not None:
        return {"answer": None, "status": status, "stop_reason": reason, "usage": None}
    messages = graph.get_state(config).values.get("messages") or []
    questions = [message.id for message in messages if message.type == "human"]
    answered_by = [message.response_metadata.get("model_name") for message in messages]
    model = next((name for name in reversed(answered_by) if name), "unknown")
    usage = usage_of(messages, questions[-1], model) if questions else None
    return {"answer": None, "status": status, "stop_reason": reason, "usage": usage}
