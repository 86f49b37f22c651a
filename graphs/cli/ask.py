"""Put a question to a graph, or go on with a thread, ask for approvals, and show how it ends."""

import uuid
from typing import Any

from graphs.cli import CANCELLED
from graphs.cli.failures import EXIT_CODES, FAILED, complain
from graphs.cli.following import Ended, Run, follow, pause_in
from graphs.cli.opening import opened
from graphs.cli.pauses import answering_commands, tell_call
from graphs.cli.prompting import ask_person, can_ask
from graphs.cli.receipt import BESIDE, as_json, next_command, receipt, rungs_told, why
from graphs.cli.screen import Screen
from graphs.cli.settings import DEFAULT_GRAPH
from graphs.errors import UsageError
from graphs.threads import ended_with

WAITING = EXIT_CODES["waiting"]


def execute(run: Run, screen: Screen, *, json_only: bool = False, answer_only: bool = False) -> int:
    """Run it, show the steps, ask for approvals, and close with the answer and its receipt.

    Returns:
        The exit code.

    Raises:
        UsageError: An answer was given that decides nothing; what waited waits on.
    """
    graph_name = run.settings.graph or DEFAULT_GRAPH
    thread_id = run.thread_id or str(uuid.uuid4())
    with opened(run.settings, run.db, screen) as graph:
        ended, stopped = _converse(graph, run, thread_id, screen)
    ended |= {"thread_id": thread_id, "graph": graph_name}
    if json_only:
        screen.data(as_json(ended))
    elif answer_only:
        if ended["answer"]:
            screen.text(ended["answer"], always=True)
    else:
        _close(ended, run, screen)
    code = CANCELLED if stopped else EXIT_CODES.get(ended["status"], FAILED)
    if code == FAILED or (code and answer_only) or (code == WAITING and json_only):
        complain(why(ended, run.db, run.settings.user))
    return code


def _converse(graph: Any, run: Run, thread_id: str, screen: Screen) -> tuple[Ended, bool]:
    """Follow the run, and go on with each answer of the person who is at the terminal.

    Returns:
        How it stands, and whether Ctrl-C ended the asking.
    """
    if run.answer is None:
        ended = follow(graph, run, thread_id, screen)
    else:
        waiting = pause_in(graph, thread_id).calls
        if not waiting:
            raise UsageError(
                f"nothing in thread {thread_id} waits for an answer"
                + (
                    ""
                    if ended_with(graph.memory, thread_id)
                    else f"; the run has not ended: `rungs resume {thread_id}` goes on with it"
                )
            )
        decisions = run.answer.decisions(waiting)
        ended = follow(graph, run, thread_id, screen, decisions)
        if ended["pause"].problem:
            raise UsageError(f"{ended['pause'].problem}; nothing ran, and all of it waits on")
    while ended["pause"].calls and can_ask(screen):
        try:
            answer = ask_person(ended["pause"], screen)
        except KeyboardInterrupt:
            screen.text()
            return ended, True
        if answer is None:
            break
        ended = follow(graph, run, thread_id, screen, answer)
    return ended, False


def _close(ended: Ended, run: Run, screen: Screen) -> None:
    if ended["answer"]:
        screen.text()
        screen.text(ended["answer"], "bold")
        screen.text()
    for name in BESIDE:
        if ended.get(name) and not ended["answer"]:
            screen.text(f"{name}:", "dim")
            screen.text(ended[name])
    for line in rungs_told(ended):
        screen.text(line, "dim")
    good = ended["status"] in {"answered", "record"}
    screen.text(receipt(ended), "green" if good else "yellow")
    calls = ended["pause"].calls
    resume = next_command(ended, run.db, run.settings.user)
    if not calls:
        screen.text(f"go on with: {resume}", "dim", whole=True)
        return
    for call in calls:
        screen.text(f"  {tell_call(call)}")
    screen.text("answer with one of:", "dim")
    for command in answering_commands(calls, resume):
        screen.text(f"  {command}", "dim", whole=True)
