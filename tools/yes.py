"""A person's yes for calls, asked where they are made: LangChain's human in the loop.

The graphs here ask in a node of their own. A tool that brings its calls into another graph, such as
a toolkit in LangChain's `create_agent`, asks by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tools.contract import Contract
from tools.marks import MARKED_EDIT, is_marked, restored
from tools.redact import redact, redact_data
from tools.text import shorten

DECISIONS: Final = ("approve", "edit", "reject", "respond")


class AnswerError(ValueError):
    """An answer decides nothing; the message says why, in a sentence."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that needs a yes: its tool, its valid arguments, and its id."""

    tool: Contract
    arguments: dict[str, Any]
    call_id: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a person decided about a call.

    Attributes:
        approved: Whether it may run, or is answered by the person.
        arguments: What to run with, which an edit may have changed.
        said: The person's words: beside a no the reason, else what stands in the tool's place.
    """

    approved: bool
    arguments: dict[str, Any]
    said: str = ""


def ask(call: Waiting, pause: Callable[[Any], Any]) -> Verdict:
    """Ask about one call until an answer decides.

    Args:
        call: The call, the only one that pauses where it is made.
        pause: LangGraph's `interrupt`: raises at first, and returns the answer on resume.
    """
    problem: str | None = None
    while True:
        answer = pause(request([call], problem))
        try:
            return read([call], answer)[0]
        except AnswerError as error:
            problem = str(error)


def request(calls: Sequence[Waiting], problem: str | None = None) -> dict[str, Any]:
    """Return the one question about calls, in the form of LangChain's `HITLRequest`.

    Args:
        calls: The calls; each is shown with its name, its arguments and its id.
        problem: What was wrong with the answer before.
    """
    names = dict.fromkeys(call.tool.name for call in calls)
    configs = [{"action_name": name, "allowed_decisions": list(DECISIONS)} for name in names]
    asked = {"action_requests": [_action(call) for call in calls], "review_configs": configs}
    return {**asked, "problem": problem} if problem else asked


def _action(call: Waiting) -> dict[str, Any]:
    tool = call.tool
    effect = "changes state" if tool.effect == "state_changing" else "only reads"
    return {
        "name": tool.name,
        "args": redact_data(call.arguments),
        "description": f"{tool.name} {effect}. {tool.description}",
        "call_id": call.call_id,
    }


def read(calls: Sequence[Waiting], answer: Any) -> list[Verdict]:
    """Read an answer, all or nothing: a decision for each call, in their order or by their ids.

    Raises:
        AnswerError: It decides nothing; no call may run by it.
    """
    decisions = answer.get("decisions") if isinstance(answer, Mapping) else None
    if not isinstance(decisions, list) or not all(isinstance(one, Mapping) for one in decisions):
        said = 'an answer is {"decisions": [{"type": "approve"}]}, one for each call'
        raise AnswerError(said)
    if len(decisions) != len(calls):
        needed = f" for each of {len(calls)} calls" if len(calls) > 1 else ""
        raise AnswerError(f"one decision is needed{needed}; got {len(decisions)}")
    return [
        _verdict(decision, call)
        for decision, call in zip(_in_order(decisions, calls), calls, strict=True)
    ]


def _in_order(decisions: list[Any], calls: Sequence[Waiting]) -> list[Any]:
    ids = [one.get("call_id") for one in decisions]
    if all(name is None for name in ids):
        return decisions
    wanted = [call.call_id for call in calls]
    if not all(isinstance(name, str) for name in ids) or set(ids) != set(wanted):
        raise AnswerError("the decisions name other calls than those that wait")
    return [decisions[ids.index(name)] for name in wanted]


def _verdict(decision: Mapping[str, Any], call: Waiting) -> Verdict:
    kind, message = decision.get("type"), decision.get("message") or ""
    if kind not in DECISIONS:
        told = shorten(redact(repr(kind)), 40)
        raise AnswerError(f"a decision's type is one of {', '.join(DECISIONS)}, not {told}")
    if not isinstance(message, str):
        raise AnswerError("a decision's message is text")
    said = message.strip()
    if kind == "reject":
        return Verdict(approved=False, arguments=call.arguments, said=said)
    if kind == "respond":
        if not said:
            raise AnswerError(f"respond needs a message, the result of {call.tool.name}")
        return Verdict(approved=True, arguments=call.arguments, said=said)
    arguments = _edited(decision, call) if kind == "edit" else call.arguments
    return Verdict(approved=True, arguments=arguments)


def _edited(decision: Mapping[str, Any], call: Waiting) -> dict[str, Any]:
    """Return the arguments of an edit, checked like any others; secrets left alone are real."""
    tool, edited = call.tool, decision.get("edited_action")
    if not isinstance(edited, Mapping) or not isinstance(edited.get("args"), Mapping):
        raise AnswerError('edit needs "edited_action": {"name": ..., "args": {...}}')
    if edited.get("name", tool.name) != tool.name:
        raise AnswerError(f"an edit changes the arguments of {tool.name}, not the tool")
    shown = redact_data(call.arguments)
    arguments = restored(dict(edited["args"]), shown, call.arguments)
    if is_marked(arguments):
        raise AnswerError(MARKED_EDIT)
    checked = tool.check(arguments)
    if checked.arguments is None:
        raise AnswerError(f"the edited call can't run: {redact(checked.error or '')}")
    return checked.arguments
