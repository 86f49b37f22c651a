"""The receipt of a run: how it ended, what it cost, and how to go on."""

import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphs.cli.pauses import answering_commands, tell_call, waiting_json
from graphs.cli.screen import plural
from graphs.cli.settings import DEFAULT_DB, DEFAULT_GRAPH
from graphs.database_url import default_place, shown
from graphs.variants import GRAPHS

UNFINISHED = {"cancelled", "waiting", "stopped_early"}
BESIDE = ("notes", "summary")
"""What some variants tell beside the answer."""

MODEL_FAILED = "the model failed"
"""How a stop reason begins that says itself what to do."""

HIGHER = "--graph ladder climbs to a rung that can do more"

_ADVICE = {
    "no_answer": "ask in other words, or try another model with --model",
    "refused": "ask in other words, or try another model with --model",
    "turn_limit": "--max-turns allows more",
}

_CAPS = ("max_tool_rounds", "max_steps")
"""Settings that are caps on tools, and options too."""


def receipt(ended: Mapping[str, Any]) -> str:
    """Tell in one line how a run ended and what it cost."""
    status = str(ended["status"])
    head = status if status == "answered" else f"{status.replace('_', ' ')}: {ended['stop_reason']}"
    cost = costs(ended.get("usage") or {})
    return f"{head} ({cost})" if cost else head


def costs(usage: Mapping[str, Any]) -> str:
    """Tell what a run cost; tokens that were not counted are unknown, never 0."""
    if not usage:
        return ""
    sent, received = usage.get("input_tokens"), usage.get("output_tokens")
    known = sent is not None and received is not None
    guess = usage.get("estimated")
    tokens = f"{sent:,} + {received:,} tokens" if known else "tokens unknown"
    if guess and not known:
        tokens = f"about {guess['input_tokens']:,} + {guess['output_tokens']:,} tokens, estimated"
    told = [
        plural(usage.get("model_calls") or 0, "model call"),
        plural(usage.get("tool_calls") or 0, "tool call"),
        tokens,
        f"{usage.get('seconds') or 0.0:.2f} s",
    ]
    if redacted := sum((usage.get("redacted") or {}).values()):
        told.append(f"{redacted:,} redacted")
    if model := usage.get("model"):
        told.append(f"model {model}")
    return ", ".join(told)


def rungs_told(ended: Mapping[str, Any]) -> list[str]:
    """Tell, a line a rung, what the rungs of a ladder came to."""
    return [
        f"{rung['rung']}: {rung['failure'] or rung['status']} ({costs(rung)})"
        for rung in ended.get("receipts") or []
    ]


def why(ended: Mapping[str, Any], db: str, user: str | None) -> str:
    """Tell why a run ended without a full answer, and what to do about it."""
    status, reason = str(ended["status"]), str(ended["stop_reason"])
    if calls := ended["pause"].calls:
        waiting = "; ".join(map(tell_call, calls))
        commands = " | ".join(answering_commands(calls, next_command(ended, db, user)))
        return f"{reason}: {waiting}; answer with one of: {commands}"
    if status in UNFINISHED:
        return f"{reason}; go on with: {next_command(ended, db, user)}"
    if MODEL_FAILED in reason:
        return reason
    advice = _more(ended, reason) if status == "tool_limit" else _ADVICE.get(status)
    return f"{reason}; {advice}" if advice else reason


def _more(ended: Mapping[str, Any], reason: str) -> str | None:
    """Name the option that allows more; a graph without a cap of its own has a higher rung."""
    graph = GRAPHS.get(ended.get("graph") or DEFAULT_GRAPH)
    settings = graph.Context.model_fields if graph else {}
    caps = [name for name in _CAPS if name in settings]
    if not caps:
        return HIGHER
    return f"--{caps[0].replace('_', '-')} allows more" if "the limit of" in reason else None


def next_command(ended: Mapping[str, Any], db: str, user: str | None) -> str:
    """Return the command that goes on with the thread."""
    thread = shlex.quote(str(ended["thread_id"]))
    place = "" if db == default_place(DEFAULT_DB) else f" --db {shlex.quote(shown(db))}"
    whose = "" if user is None else f" --user {shlex.quote(user)}"
    if ended["status"] in UNFINISHED:
        return f"{program()} resume {thread}{whose}{place}"
    return f'{program()} ask --thread {thread}{whose}{place} "..."'


def program() -> str:
    """Return what to type for `rungs`: its path, where the shell would not find it by name."""
    ours = Path(sys.executable).with_name("rungs")
    if shutil.which("rungs") or not ours.exists():
        return "rungs"
    here = Path.cwd()
    return shlex.quote(str(ours.relative_to(here) if ours.is_relative_to(here) else ours))


def as_json(ended: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `--json` prints."""
    names = ["thread_id", "graph", "answer", "status", "stop_reason", "usage"]
    names += [name for name in ("record", "rejection") if name in ended]
    told = {name: ended.get(name) for name in names}
    if receipts := ended.get("receipts"):
        told["receipts"] = receipts
    told |= {name: ended[name] for name in BESIDE if name in ended}
    return told | {"waiting": waiting_json(ended["pause"].calls)}
