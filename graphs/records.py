"""What a forced reply is worth: a record, or a rejection that says why there is none."""

import json
from typing import Any, Literal

from langchain_core.messages import AIMessage
from typing_extensions import TypedDict

from graphs.models.quirks import LOOSE, answer_text, finish_reason
from graphs.state import Status, ending
from tools import redact
from tools.record import RecordTool
from tools.text import one_line, shorten

NO_SINGLE_CALL = "no single tool call"
UNREADABLE = "the arguments can't be read"
NO_OBJECT = "the text of the arguments is no JSON object: empty, null, or encoded twice"
NOT_VALID = "the arguments do not match the schema"
MODEL_FAILED = "the model failed"

Kind = Literal[
    "no_call",
    "several_calls",
    "wrong_tool",
    "cut_off",
    "refusal",
    "content_filter",
    "unreadable",
    "schema",
    "model_failed",
]

_FILTERED = frozenset(("content_filter", "safety", "prohibited_content", "blocklist"))
_QUOTED = 200
_RAW_CHARACTERS = 1_000_000
_FILTER_SAID = "the model server's content filter refused"


class Rejection(TypedDict):
    """Why there is no record.

    Attributes:
        kind: What was wrong, in one word, for programs.
        reason: The same for people, in the words of the seed.
        errors: Each fault in a sentence: the field, what was expected, what came.
        raw_arguments: The arguments as they came: an object; text that is none; a list of them,
            where there were several calls; None where there was no call.
    """

    kind: Kind
    reason: str
    errors: list[str]
    raw_arguments: Any


def judge(reply: AIMessage, tool: RecordTool) -> tuple[dict[str, Any] | None, Rejection | None]:
    """Return the record that a reply holds, or why it holds none; one of the two is None.

    * A reply that was cut off, filtered or refused is no record, whatever it holds.
    * There is exactly one call, and of this tool; a second one that says the same is a second one.
    * The arguments were read strictly (no duplicate keys, no NaN, encoded once), and are valid by
      the schema.
    """
    raw = _raw_arguments(reply)
    if told := _not_one_call(reply, tool.name):
        kind, error = told
        return None, Rejection(kind=kind, reason=NO_SINGLE_CALL, errors=[error], raw_arguments=raw)
    if reply.invalid_tool_calls or reply.additional_kwargs.get(LOOSE):
        broken = reply.invalid_tool_calls
        errors = [redact(str(broken[0]["error"])) if broken else NO_OBJECT]
        return None, Rejection(
            kind="unreadable", reason=UNREADABLE, errors=errors, raw_arguments=raw
        )
    verdict = tool.check(reply.tool_calls[0]["args"])
    if verdict.record is not None:
        return verdict.record, None
    return None, Rejection(
        kind="schema", reason=NOT_VALID, errors=verdict.errors, raw_arguments=raw
    )


def filtered(why: str) -> Rejection:
    """Make the rejection of a request that the server's content filter refused."""
    return Rejection(kind="content_filter", reason=NO_SINGLE_CALL, errors=[why], raw_arguments=None)


def model_failed(why: str) -> Rejection:
    """Make the rejection of a run whose model gave no reply at all."""
    return Rejection(kind="model_failed", reason=MODEL_FAILED, errors=[why], raw_arguments=None)


def recorded(record: dict[str, Any] | None) -> dict[str, Any]:
    """Say that a run ended in a record, which is its answer too, as JSON."""
    answer = json.dumps(record, ensure_ascii=False)
    end = ending(answer, "record", "the model called the tool once, and its arguments are valid")
    return {**end, "record": record, "rejection": None}


def rejected(rejection: Rejection, status: Status = "rejected") -> dict[str, Any]:
    """Say that a run ended in a rejection."""
    reason = f"{rejection['reason']}: {'; '.join(rejection['errors'])}"
    return {**ending(None, status, reason), "record": None, "rejection": rejection}


def _not_one_call(reply: AIMessage, name: str) -> tuple[Kind, str] | None:
    """Say in what way a reply is not exactly one whole call of the tool; None where it is."""
    text = answer_text(reply)
    if withheld := _withheld(reply, text):
        return withheld
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    if not calls:
        instead = f"answered in text: {_quoted(text)}" if text else "said nothing"
        return "no_call", f"the model did not call {name}, it {instead}"
    if len(calls) > 1:
        return "several_calls", f"expected exactly one call of {name}, got {len(calls)}"
    called = calls[0]["name"] or ""
    if called != name:
        return "wrong_tool", f"wrong tool name {_quoted(called)}, expected {name!r}"
    return None


def _withheld(reply: AIMessage, text: str) -> tuple[Kind, str] | None:
    """Say that a reply was filtered, refused or cut off, whatever it holds."""
    reason = finish_reason(reply)
    if reason in _FILTERED:
        return "content_filter", _FILTER_SAID
    refusal = reply.additional_kwargs.get("refusal") or (text if reason == "refusal" else "")
    if refusal or reason == "refusal":
        return "refusal", "the model refused" + (f": {_quoted(str(refusal))}" if refusal else "")
    if reason == "length":
        return "cut_off", "the reply was cut off at its token limit"
    return None


def _raw_arguments(reply: AIMessage) -> Any:
    raw: list[Any] = [call["args"] for call in reply.tool_calls]
    raw += [(call["args"] or "")[:_RAW_CHARACTERS] for call in reply.invalid_tool_calls]
    return raw[0] if len(raw) == 1 else raw or None


def _quoted(text: str) -> str:
    return repr(shorten(redact(one_line(text)), _QUOTED))
