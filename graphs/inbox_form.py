"""The older form of a pause, which Agent Chat UI from the npm registry and Agent Inbox still speak.

It asks about one action, `action_request` with `config` beside it, and is answered by a list with
one `{"type": "accept" | "edit" | "response" | "ignore", "args": ...}`. A request of ours has both
forms. Where several calls wait, the one action holds all of them: it can be accepted or ignored as
a whole, and every call is shown.

Such a page breaks on an argument that is null: those are not shown, and an edit leaves them as they
are.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from graphs.errors import AnswerError

_KINDS = {"accept": "approve", "edit": "edit", "response": "respond", "ignore": "reject"}


def asked_of_one(
    requests: Sequence[Mapping[str, Any]], problem: str | None = None
) -> dict[str, Any]:
    """Return the keys of the older form.

    Args:
        requests: The calls that wait, as in `action_requests`.
        problem: What was wrong with the answer before.
    """
    alone = len(requests) == 1
    if alone:
        action = {"action": requests[0]["name"], "args": _given(requests[0]["args"])}
    else:
        shown = {f"{n}. {one['name']}": one["args"] for n, one in enumerate(requests, 1)}
        action = {"action": f"{len(requests)} calls", "args": shown}
    config = {
        "allow_accept": True,
        "allow_ignore": True,
        "allow_edit": alone,
        "allow_respond": alone,
    }
    about = "\n\n".join(filter(None, [problem, *(str(one["description"]) for one in requests)]))
    return {"action_request": action, "config": config, "description": about}


def as_decisions(answer: Any, requests: Sequence[Mapping[str, Any]]) -> Any:
    """Return an answer of the older form as one of ours; any other as it is.

    Args:
        answer: What came.
        requests: The calls that wait, as in `action_requests`.

    Raises:
        AnswerError: It accepts another action than was asked about: an earlier one.
    """
    given = answer[0] if isinstance(answer, list) and len(answer) == 1 else answer
    if not isinstance(given, Mapping) or "decisions" in given:
        return answer
    kind, args = given.get("type"), given.get("args")
    if kind not in _KINDS:
        return answer
    asked = asked_of_one(requests)["action_request"]
    if kind == "accept" and isinstance(args, Mapping) and dict(args) != asked:
        raise AnswerError(
            "the answer accepts another call, or other arguments, than those that wait"
        )
    decision: dict[str, Any] = {"type": _KINDS[kind]}
    if kind == "edit" and isinstance(args, Mapping):
        edited = args.get("args")
        if isinstance(edited, Mapping):
            edited = {**_nulls(requests[0]["args"]), **edited}
        decision["edited_action"] = {"name": args.get("action"), "args": edited}
    if kind == "response":
        decision["message"] = args
    together = len(requests) if kind in ("accept", "ignore") else 1
    return {"decisions": [decision] * together}


def _given(args: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in args.items() if value is not None}


def _nulls(args: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None for name, value in args.items() if value is None}
