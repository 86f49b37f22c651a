"""Follow one run of a graph to where it ends, pauses or is stopped, showing each step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.types import Command
from langchain_core.messages import AnyMessage, HumanMessage

from graphs.cli.answers import Answer, Decisions
from graphs.cli.interrupts import stoppable
from graphs.cli.pauses import Pause, pause_of, why_waiting
from graphs.cli.receipt import BESIDE, next_command
from graphs.cli.screen import Screen
from graphs.cli.settings import Settings
from graphs.cli.steps import Steps
from graphs.control import controlled
from graphs.entering import NAMESPACE
from graphs.threads import ended_with, unrecorded_question
from graphs.usage import spent_beside, usage_of


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a graph on a thread.

    Attributes:
        question: What is asked; None goes on where the thread stopped.
        settings: What the run is put together from.
        db: The memory file.
        thread_id: The thread; None begins a new one.
        answer: A person's answer to what the thread waits for; None goes on without one.
    """

    question: str | None
    settings: Settings
    db: str
    thread_id: str | None = None
    answer: Answer | None = None


STOPPED_EARLY = "stopped_early"
"""The status of a run that another one goes on with."""

Ended = dict[str, Any]
"""How a run stands: answer, status, stop_reason and usage, and the `Pause` it is in."""


def follow(
    graph: Any, run: Run, thread_id: str, screen: Screen, decisions: Decisions | None = None
) -> Ended:
    """Stream the run, showing each step, until it ends, pauses or is stopped.

    Args:
        graph: The graph, on its memory file.
        run: The run.
        thread_id: Its thread.
        screen: Where the steps are shown.
        decisions: What a person decided about the calls that wait; None asks the run's question,
            or goes on where the thread stopped.

    Raises:
        KeyboardInterrupt: The user stopped it before anything of it was recorded.
    """
    config = {"configurable": {"thread_id": thread_id}, "metadata": run.settings.recorded()}
    question = run.question if decisions is None else None
    if (
        question is None and decisions is None
    ):  # of a run that was killed before its first step, the thread has it
        question = unrecorded_question(graph.memory, thread_id)
    asked = [] if question is None else [HumanMessage(question)]
    known = _began(graph, thread_id)
    before = graph.get_state(config)
    status = ended_with(graph.memory, thread_id)
    if not asked and decisions is None and status and status != STOPPED_EARLY:
        screen.text(f"thread {thread_id}", "dim")
        return _outcome(before.values)
    if not asked and decisions is None and before.interrupts:
        screen.text(f"thread {thread_id}", "dim")
        return _paused(graph, config)
    transcript = [*(before.values.get("messages") or ()), *asked]
    if not asked and status == STOPPED_EARLY:
        transcript.append(
            HumanMessage(graph.memory.store.get(NAMESPACE, thread_id).value["question"])
        )
    steps = Steps(screen, transcript)
    left = {"thread_id": thread_id, "status": "cancelled"}
    go_on = next_command(left, run.db, run.settings.user)
    values: Mapping[str, Any] = before.values
    paused, told = False, decisions is not None
    # With these modes alone LangGraph runs a step in this thread, where Ctrl-C ends a wait.
    stream = graph.stream(
        # What the thread has of a run that was killed, the graph itself takes from there.
        _input(asked if run.question is not None else [], decisions),
        config,
        context=run.settings.context(),
        stream_mode=["updates", "values"],
    )

    try:
        with (
            controlled(_hearing(steps, lambda: stop.requested)) as control,
            stoppable(lambda: steps.busy, control.stop, screen.note, go_on) as stop,
        ):
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
        if decisions is None and run.question is not None and _began(graph, thread_id) == known:
            raise
        return _cancelled(graph, config, steps)
    finally:
        stream.close()
        screen.settle()
    return _paused(graph, config, steps.heard) if paused else _outcome(values)


def _hearing(
    steps: Steps, stop_requested: Callable[[], bool]
) -> Callable[[Mapping[str, Any]], None]:
    """Make what hears of tools and rungs; between two steps of a rung it stops the run."""

    def hear(event: Mapping[str, Any]) -> None:
        steps.hear(event)
        if event["state"] == "step" and stop_requested() and not steps.busy:
            raise KeyboardInterrupt

    return hear


def pause_in(graph: Any, thread_id: str) -> Pause:
    """Return what waits in a thread for a person; a question that came after it goes first."""
    if unrecorded_question(graph.memory, thread_id) is not None:
        return Pause()
    return pause_of(graph.get_state({"configurable": {"thread_id": thread_id}}).interrupts)


def _input(asked: list[HumanMessage], decisions: Decisions | None) -> Any:
    if decisions is not None:
        return Command(resume={"decisions": decisions})
    return {"messages": asked} if asked else None


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
        "receipts": values.get("receipts"),
        **{name: values[name] for name in BESIDE if values.get(name)},
        "pause": Pause(),
        **{name: values[name] for name in ("record", "rejection") if name in values},
    }


def _cancelled(graph: Any, config: Mapping[str, Any], steps: Steps) -> Ended:
    ran = f"; {', '.join(steps.ran)} had run" if steps.ran else "; no tool had run"
    was = (
        "was stopped before its end" if len(steps.stopped) == 1 else "were stopped before their end"
    )
    cut = f", {', '.join(steps.stopped)} {was}" if steps.stopped else ""
    kept = ", what ran is not undone" if steps.ran else ""
    reason = f"stopped by you{ran}{cut}{kept}, and nothing more was started"
    return _unfinished(graph, config, "cancelled", reason, heard=steps.heard)


def _paused(graph: Any, config: Mapping[str, Any], heard: Sequence[AnyMessage] = ()) -> Ended:
    pause = pause_in(graph, config["configurable"]["thread_id"])
    return _unfinished(graph, config, "waiting", why_waiting(pause.calls), pause, heard=heard)


def _unfinished(
    graph: Any,
    config: Mapping[str, Any],
    status: str,
    reason: str,
    pause: Pause | None = None,
    *,
    heard: Sequence[AnyMessage] = (),
) -> Ended:
    """Tell how a run stands that has not ended, with what it used so far.

    What a rung of a ladder did is in no transcript before it ends: it was `heard`.
    """
    ended: Ended = {"answer": None, "status": status, "stop_reason": reason, "usage": None}
    ended["pause"] = pause or Pause()
    if unrecorded_question(graph.memory, config["configurable"]["thread_id"]) is not None:
        return ended
    values = graph.get_state(config).values
    messages = max(values.get("messages") or [], heard, key=len)
    asked = [place for place, message in enumerate(messages) if message.type == "human"]
    answered_by = [message.response_metadata.get("model_name") for message in messages]
    model = next((name for name in reversed(answered_by) if name), "unknown")
    since = messages[asked[-1] + 1 :] if asked else []
    cost = usage_of(since, "", model, beside=spent_beside(values))
    return ended | {"usage": cost if asked else None}
