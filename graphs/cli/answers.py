"""What the options of `rungs resume` decide about the calls that wait."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphs.approvals import DECISIONS
from graphs.cli.pauses import WaitingCall
from graphs.errors import UsageError
from tools.arguments import ArgumentsError, parse_arguments

Decisions = list[dict[str, Any]]

FORMS = "ID=approve, ID=reject:REASON, ID=edit:JSON or ID=respond:TEXT"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer given on the command line, all or nothing.

    Attributes:
        kind: What is decided about the calls that `calls` names, or that it leaves over; None
            where each call has its own decision.
        text: The reason, the arguments as JSON, or the text.
        calls: `ID`, or `ID=` and a decision for that call alone.
    """

    kind: str | None
    text: str
    calls: tuple[str, ...] = ()

    def decisions(self, waiting: Sequence[WaitingCall]) -> Decisions:
        """Decide about each call that waits.

        Raises:
            UsageError: It names a call that does not wait, or leaves one undecided.
        """
        by_id = {call.call_id: call for call in waiting}
        own: dict[str, dict[str, Any]] = {}
        named: list[str] = []
        for word in self.calls:
            call_id, form = _split(word, by_id)
            if call_id in own or call_id in named:
                raise UsageError(f"--call names {call_id} twice: decide about each call once")
            if form is None:
                named.append(call_id)
            else:
                kind, _, text = form.partition(":")
                own[call_id] = decide(by_id[call_id], kind.strip(), text.strip())
        scope = named or [call_id for call_id in by_id if call_id not in own]
        if self.kind is not None:
            own |= self._general([by_id[call_id] for call_id in scope])
        left = [call_id for call_id in by_id if call_id not in own]
        if left:
            raise UsageError(
                f"no decision for {', '.join(left)}: one answer decides about every call that "
                f"waits; give --approve, --reject, --edit or --respond, or --call {FORMS}"
            )
        return [own[call_id] for call_id in by_id]

    def _general(self, calls: Sequence[WaitingCall]) -> dict[str, dict[str, Any]]:
        kind = self.kind or ""
        if kind != "edit" or len(calls) < 2:  # noqa: PLR2004 - one call needs no id
            return {call.call_id: decide(call, kind, self.text) for call in calls}
        by_id = {call.call_id: call for call in calls}
        edits = _read_object(self.text)
        if unknown := [call_id for call_id in edits if call_id not in by_id]:
            raise UsageError(
                f"{len(calls)} calls wait, so --edit is a JSON object of arguments by call id "
                f"({', '.join(by_id)}); there is no {unknown[0]!r} among them"
            )
        return {call_id: _edit(by_id[call_id], arguments) for call_id, arguments in edits.items()}


def read_options(
    *, approve: bool, reject: str | None, edit: str | None, respond: str | None, calls: list[str]
) -> Answer | None:
    """Read the options; None where they answer nothing.

    Raises:
        UsageError: They contradict one another, or are no UTF-8 text.
    """
    texts = {"approve": "" if approve else None, "reject": reject, "edit": edit, "respond": respond}
    given = {kind: text for kind, text in texts.items() if text is not None}
    if len(given) > 1:
        options = " and ".join(f"--{kind}" for kind in given)
        raise UsageError(f"{options} contradict each other: give one, or --call {FORMS}")
    for text in (*given.values(), *calls):
        check_text(text)
    if not given and not calls:
        return None
    kind, text = next(iter(given.items()), (None, ""))
    return Answer(kind, text, tuple(calls))


def decide(call: WaitingCall, kind: str, text: str) -> dict[str, Any]:
    """Decide about one call.

    Args:
        call: The call.
        kind: One of `DECISIONS`.
        text: The reason, the arguments as JSON, or the text.

    Raises:
        UsageError: The text does not fit the kind.
    """
    if kind not in DECISIONS:
        raise UsageError(f"{kind!r} is no decision: --call {FORMS}")
    if kind == "edit":
        return _edit(call, _read_object(text))
    if kind == "approve" and text:
        raise UsageError("approve takes no text: it runs the call as it is shown")
    if kind == "respond" and not text.strip():
        raise UsageError(f"respond needs a text, the result of {call.tool}")
    message = {"message": text} if text else {}
    return {"type": kind, "call_id": call.call_id, **message}


def check_text(text: str) -> None:
    """Refuse what is no UTF-8 text.

    Raises:
        UsageError: It holds bytes that are none.
    """
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise UsageError("the answer is not UTF-8 text: type it again")


def _edit(call: WaitingCall, arguments: Any) -> dict[str, Any]:
    if not isinstance(arguments, Mapping):
        raise UsageError(f"the arguments of {call.call_id} must be one JSON object")
    action = {"name": call.tool, "args": dict(arguments)}
    return {"type": "edit", "call_id": call.call_id, "edited_action": action}


def _read_object(text: str) -> dict[str, Any]:
    if not text.strip():
        raise UsageError("edit needs the arguments, as one JSON object")
    try:
        return parse_arguments(text)
    except ArgumentsError as error:
        raise UsageError(f"the edit can't be read: {error}") from None


def _split(word: str, known: Mapping[str, WaitingCall]) -> tuple[str, str | None]:
    """Split a `--call` into the call's id, in which there may be a `=`, and the decision."""
    if word in known:
        return word, None
    for call_id in known:
        if word.startswith(f"{call_id}="):
            return call_id, word.removeprefix(f"{call_id}=")
    raise UsageError(f"no call {word.partition('=')[0]!r} waits: name one of {', '.join(known)}")
