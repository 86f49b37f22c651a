"""The calls that wait for a person's yes: what they are, and how to answer them."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from graphs.cli.screen import clean, one_line

SHOWN_FOR_EDITING = 300
"""Characters of arguments that are put into a command to edit; of longer ones it says JSON."""


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """One call that waits.

    Attributes:
        call_id: Its id.
        tool: The tool's name.
        arguments: What it would run with, secrets filtered.
        description: What the tool does, and whether that changes state.
    """

    call_id: str
    tool: str
    arguments: dict[str, Any]
    description: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Where a run waits for a person.

    Attributes:
        calls: The calls of one reply that wait, in order; none where nothing waits.
        problem: Why the answer before decided nothing; "" where there was none.
    """

    calls: tuple[WaitingCall, ...] = ()
    problem: str = ""


def pause_of(interrupts: Sequence[Any]) -> Pause:
    """Read the request of a run that paused for approval."""
    for interrupt in interrupts:
        asked = interrupt.value
        if isinstance(asked, Mapping) and asked.get("action_requests"):
            calls = tuple(
                WaitingCall(
                    request["call_id"], request["name"], request["args"], request["description"]
                )
                for request in asked["action_requests"]
            )
            return Pause(calls, asked.get("problem") or "")
    return Pause()


def waiting_json(calls: Sequence[WaitingCall]) -> list[dict[str, Any]]:
    """Return what `--json` tells of the calls."""
    return [asdict(call) for call in calls]


def tell_call(call: WaitingCall) -> str:
    """Tell a call in one line, its arguments whole: a yes to half of them would be a guess."""
    told = ", ".join(f"{one_line(name)}={as_text(value)}" for name, value in call.arguments.items())
    about = one_line(f"call {call.call_id}: {call.description}")
    return f"{one_line(call.tool)}({told}), {about}"


def as_text(value: Any) -> str:
    """Write a value as JSON, on one line that no text in it can leave."""
    return clean(json.dumps(value, ensure_ascii=False))


def why_waiting(calls: Sequence[WaitingCall]) -> str:
    """Tell what a run waits for."""
    if not calls:
        return "waiting for a person's answer"
    names = ", ".join(call.tool for call in calls)
    return f"{names} {'needs' if len(calls) == 1 else 'need'} a person's approval"


def answering_commands(calls: Sequence[WaitingCall], resume: str) -> list[str]:
    """Return the commands that answer, each naming its calls: never one that waits by then.

    Args:
        calls: The calls that wait.
        resume: The command that goes on with the thread.
    """
    those = "".join(f" --call {shlex.quote(call.call_id)}" for call in calls)
    if len(calls) == 1:
        (call,) = calls
        arguments = as_text(call.arguments)
        arguments = shlex.quote(arguments) if len(arguments) <= SHOWN_FOR_EDITING else "JSON"
        return [
            f"{resume} --approve{those}",
            f'{resume} --reject "REASON"{those}',
            f"{resume} --edit {arguments}{those}",
            f'{resume} --respond "TEXT"{those}',
        ]
    forms = ("approve", "reject:REASON", "edit:JSON", "respond:TEXT")
    each = "".join(
        f" --call {shlex.quote(f'{call.call_id}={forms[place % len(forms)]}')}"
        for place, call in enumerate(calls)
    )
    return [f"{resume} --approve{those}", f'{resume} --reject "REASON"{those}', f"{resume}{each}"]
