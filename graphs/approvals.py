"""What a person is asked about calls that need a yes, and what an answer means.

Both have the form of LangChain's human in the loop (`HITLRequest`, `HITLResponse`), which Studio,
Agent Chat UI and Agent Inbox show. Beside it each request carries its call's id, and an answer may.
A request has the older form too, and an answer may have it: older pages know no other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.messages import ToolCall

from graphs.calls import via, with_arguments
from graphs.errors import AnswerError
from graphs.inbox_form import as_decisions, asked_of_one
from graphs.reach import Reach
from tools import Contract, redact_data
from tools.marks import MARKED_EDIT, is_marked, restored
from tools.redact import redact
from tools.text import shorten

Decision = Literal["approve", "edit", "reject", "respond"]
DECISIONS: tuple[Decision, ...] = ("approve", "edit", "reject", "respond")


@dataclass(frozen=True, slots=True)
class Decided:
    """One call and what a person decided about it.

    Attributes:
        call: The call, with the arguments that were approved.
        decision: What was decided.
        message: What the person said beside a reject, or instead of the tool.
    """

    call: ToolCall
    decision: Decision
    message: str = ""


def request_for(
    calls: Sequence[ToolCall], reach: Reach, problem: str | None = None
) -> dict[str, Any]:
    """Ask about calls, in one request for all of them.

    Args:
        calls: The calls that need a yes.
        reach: The tools that exist.
        problem: What was wrong with the answer before.
    """
    requests = _requests(calls, reach)
    names = dict.fromkeys(call["name"] for call in calls)
    configs = [{"action_name": name, "allowed_decisions": list(DECISIONS)} for name in names]
    asked: dict[str, Any] = {"action_requests": requests, "review_configs": configs}
    asked |= asked_of_one(requests, problem)
    return {**asked, "problem": problem} if problem else asked


def _requests(calls: Sequence[ToolCall], reach: Reach) -> list[dict[str, Any]]:
    requests = []
    for call in calls:
        tool = reach.contract_of(call)
        about = _about(tool, via(call)) if tool else "This tool is no longer available."
        requests.append(
            {
                "name": call["name"],
                "args": redact_data(call["args"]),
                "description": about,
                "call_id": call["id"],
            }
        )
    return requests


def _about(tool: Contract, path: Sequence[str]) -> str:
    effect = "changes state" if tool.effect == "state_changing" else "only reads"
    through = f" Called through {', '.join(path)}." if path else ""
    owner = f" It is {tool.origin}." if tool.origin else ""
    return f"{tool.name} {effect}.{owner} {tool.description}{through}"


def read_answer(
    answer: Any,
    calls: Sequence[ToolCall],
    reach: Reach,
    real: Mapping[str | None, dict[str, Any]] | None = None,
) -> list[Decided]:
    """Read an answer, all or nothing.

    Decisions belong to the calls in their order, or to the calls whose ids they all carry.

    Args:
        answer: `{"decisions": [{"type": "approve" | "edit" | "reject" | "respond", ...}]}`, or
            what the older form has in its place.
        calls: The calls that were asked about.
        reach: The tools that exist: an edited call is checked against its own.
        real: The real arguments, by call id, of calls that were shown redacted: what of them an
            edit leaves as it was shown stays as it is.

    Raises:
        AnswerError: It decides nothing; no call may run by it.
    """
    answer = as_decisions(answer, _requests(calls, reach))
    decisions = answer.get("decisions") if isinstance(answer, Mapping) else None
    if not isinstance(decisions, list) or not all(isinstance(d, Mapping) for d in decisions):
        raise AnswerError(
            'an answer is {"decisions": [{"type": "approve"}, ...]}, one for each call'
        )
    if len(decisions) != len(calls):
        raise AnswerError(
            f"one decision is needed for each of {len(calls)} calls; got {len(decisions)}"
        )
    return [
        _decide(decision, call, reach, real or {})
        for decision, call in zip(_in_order(decisions, calls), calls, strict=True)
    ]


def _in_order(
    decisions: Sequence[Mapping[str, Any]], calls: Sequence[ToolCall]
) -> list[Mapping[str, Any]]:
    ids = [d.get("call_id", d.get("id")) for d in decisions]
    if not all(name is None or isinstance(name, str) for name in ids):
        raise AnswerError("a decision's call_id is text")
    named = dict(zip(ids, decisions, strict=True))
    if set(named) == {None}:
        return list(decisions)
    if set(named) != {call["id"] for call in calls}:
        raise AnswerError(
            "the decisions name other calls than those that wait, or only some of them"
        )
    return [named[call["id"]] for call in calls]


def _decide(
    decision: Mapping[str, Any],
    call: ToolCall,
    reach: Reach,
    real: Mapping[str | None, dict[str, Any]],
) -> Decided:
    kind, message = decision.get("type"), decision.get("message", "")
    if kind not in DECISIONS:
        told = shorten(redact(repr(kind)), 40)
        raise AnswerError(f"a decision's type is one of {', '.join(DECISIONS)}, not {told}")
    if not isinstance(message, str):
        raise AnswerError("a decision's message is text")
    if kind == "respond" and not message.strip():
        raise AnswerError(f"respond needs a message, the result of {call['name']}")
    if kind != "edit":
        return Decided(call, kind, message)
    edited = decision.get("edited_action")
    if not isinstance(edited, Mapping) or not isinstance(edited.get("args"), Mapping):
        raise AnswerError('edit needs "edited_action": {"name": ..., "args": {...}}')
    if edited.get("name", call["name"]) != call["name"]:
        raise AnswerError(f"an edit changes the arguments of {call['name']}, not the tool")
    contract = reach.contract_of(call)
    if contract is None:
        raise AnswerError(f"{call['name']} is no longer available: it can't be edited")
    arguments = restored(dict(edited["args"]), call["args"], real.get(call["id"], call["args"]))
    if is_marked(arguments):
        raise AnswerError(MARKED_EDIT)
    checked = contract.check(arguments)
    if checked.arguments is None:
        raise AnswerError(f"the edited call can't run: {checked.error}")
    passed = with_arguments(call, checked.arguments)
    passed.pop("sealed", None)
    return Decided(passed, kind, message)
