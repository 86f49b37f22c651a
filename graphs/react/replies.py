"""What becomes of a reply: an action to run, an answer, or an Observation of what is wrong."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall, ToolMessage

from graphs.models.quirks import finish_reason
from graphs.nodes.call_model import refusal_of, why_it_ended
from graphs.react.actions import call_of
from graphs.react.parser import EMPTY, NO_KEYWORD, Action, FinalAnswer, FormatError, parse
from graphs.react.turns import Turn, repeats
from graphs.sealing import SEALED, recordable
from graphs.state import Ending, ending
from graphs.transcript import failed_result
from graphs.vault import unlocked
from graphs.waiting import Steps
from prompts import form_of
from tools import Contract, redact, redact_data, unknown_tool
from tools.text import nearest, one_line, shorten

BAD_TURNS = 3
"""Replies in a row without an action of a known tool, or an answer, that end the run."""

NATIVE = "the reply made a tool call, but an action is written as a line of text here"

NO_ACTION = "no_action"
"""What stands for a tool's name where a reply names none."""

_CUT = {"length", "max_tokens"}


@dataclass(frozen=True, slots=True)
class Taken:
    """A reply, taken for what it is.

    Attributes:
        reply: As it is recorded: its text as far as it counts, and the call that stands for its
            action, or an invalid call where it has none.
        result: The Observation, where the action does not get as far as a tool.
        end: How the run ends with this reply, if it does.
        bad: Whether the reply named no action that there is.
        action: The action as it was written, `name[input]`; None where the reply has none.
    """

    reply: AIMessage
    result: ToolMessage | None = None
    end: Ending | None = None
    bad: bool = False
    action: str | None = None

    @property
    def call(self) -> ToolCall:
        """The call that the result answers."""
        return [*self.reply.tool_calls, *map(_as_call, self.reply.invalid_tool_calls)][0]


def take(
    reply: AIMessage,
    tools: Sequence[Contract],
    allowed: Sequence[Contract],
    *,
    bad: int,
) -> Taken:
    """Take a reply for what it is.

    A tool call beside the text is not run: the model was offered none, and is told how to write it.

    Args:
        reply: What the model sent.
        tools: The tools that exist.
        allowed: Those that this run may use; an action of another is turned away later, as every
            call is.
        bad: Bad replies in a row before this one.
    """
    if refusal := refusal_of(reply):
        return Taken(_recorded(reply, str(reply.text)), end=ending(None, "refused", refusal))
    parsed = parse(text_of(reply))
    native = _native(reply)
    if isinstance(parsed, FormatError) and native and parsed.reason in {EMPTY, NO_KEYWORD}:
        parsed = FormatError(NATIVE, parsed.said)
    if isinstance(parsed, FinalAnswer):
        end = ending(parsed.text, "answered", why_it_ended(reply))
        return Taken(_recorded(reply, parsed.said), end=end)
    tool = _named(parsed, tools)
    if isinstance(parsed, FormatError) or tool is None:
        return _bad(reply, parsed, allowed, bad + 1)
    call = call_of(parsed, tool, f"call_{uuid4().hex[:24]}")
    return Taken(_recorded(reply, parsed.said, call), action=_written(parsed))


def unless_stuck(taken: Taken, turns: Sequence[Turn], most: int) -> Taken:
    """End the run where the same action came too often in a row, whether it exists or not.

    Args:
        taken: What was taken, as it is recorded: so are the turns with which it is compared.
        turns: The run's turns so far.
        most: The same action in a row that ends the run.
    """
    if taken.action is None or (count := repeats(turns, Turn(taken.reply, None))) < most:
        return taken
    reason = f"the same action came {count} times in a row: {shorten(taken.action, 160)}"
    result = failed_result(taken.call, f"not executed: {reason}", "limit_reached")
    return replace(taken, result=result, end=ending(None, "stuck", reason))


def without_secrets(taken: Taken) -> Steps[Taken]:
    """Return it as it may be recorded; the secret arguments of its call are sealed.

    So is the input of a call that comes to nothing: by it alone can a repeat be told.
    """
    reply = yield from recordable(taken.reply, {})
    for call, kept in zip(taken.reply.invalid_tool_calls, reply.invalid_tool_calls, strict=True):
        if kept["args"] != call["args"]:
            vault = yield from unlocked()
            sealed = {SEALED: {call["id"]: vault.seal(call["args"])}}
            reply = reply.model_copy(
                update={"additional_kwargs": {**reply.additional_kwargs, **sealed}}
            )
    result = taken.result
    if result is not None:
        clean = {"content": redact(result.text), "name": redact(result.name or "")}
        result = result.model_copy(update=clean)
    action = redact(taken.action) if taken.action else taken.action
    return replace(taken, reply=reply, result=result, end=redact_data(taken.end), action=action)


def text_of(reply: AIMessage) -> str:
    """Return a reply's text, thinking included: the parser knows what to leave out."""
    return reply.content if isinstance(reply.content, str) else str(reply.text)


def _named(parsed: Action | FormatError, tools: Sequence[Contract]) -> Contract | None:
    name = parsed.name if isinstance(parsed, Action) else None
    return next((tool for tool in tools if tool.name == name), None)


def _bad(
    reply: AIMessage, parsed: Action | FormatError, tools: Sequence[Contract], count: int
) -> Taken:
    """Answer a reply that names no action there is: what is wrong, what exists, one right line."""
    if isinstance(parsed, Action):
        name, said = parsed.name, unknown_tool(parsed.name, tools)
        reason = f"it named {shorten(one_line(name), 80)!r}"
    else:
        name, reason = NO_ACTION, parsed.reason
        cut = ", because it was cut at the token limit" if finish_reason(reply) in _CUT else ""
        names = ", ".join(tool.name for tool in tools) or "none"
        said = f"{parsed.reason[:1].upper()}{parsed.reason[1:]}{cut}. Available tools: {names}."
    said = f"not executed: {said} {_how_to(tools, _meant(reply, parsed, tools))}"
    call = InvalidToolCall(
        name=redact(name)[:64],
        args=parsed.text if isinstance(parsed, Action) else "",
        id=f"call_{uuid4().hex[:24]}",
        error=said,
        type="invalid_tool_call",
    )
    end = None
    if count >= BAD_TURNS:
        why = (
            f"the model named no action that exists and gave no answer, {count} times in a row; "
            f"the last time {reason}"
        )
        end = ending(None, "no_answer", why)
    recorded = _recorded(reply, parsed.said, call)
    result = failed_result(_as_call(call), said, "unknown_tool")
    action = _written(parsed) if isinstance(parsed, Action) else None
    return Taken(recorded, result, end, bad=True, action=action)


def _written(action: Action) -> str:
    return f"{action.name}[{action.text}]"


def _native(reply: AIMessage) -> str | None:
    """Name the tool of the first tool call that stands beside the text of a reply."""
    calls = (*reply.tool_calls, *reply.invalid_tool_calls)
    return (calls[0]["name"] or "") if calls else None


def _meant(
    reply: AIMessage, parsed: Action | FormatError, tools: Sequence[Contract]
) -> Contract | None:
    """Return the tool that a reply probably meant: of its call, by its spelling, or mentioned."""
    names = [tool.name for tool in tools]
    if isinstance(parsed, Action):
        name = nearest(parsed.name, names)
    elif parsed.reason == NATIVE:
        name = _native(reply)
    else:
        named = [name for name in names if name in parsed.said]
        name = max(named, key=len, default=None)
    return next((tool for tool in tools if tool.name == name), None)


def _how_to(tools: Sequence[Contract], meant: Contract | None) -> str:
    """Show one right line, of the tool that was meant where it is known."""
    answer = "Final Answer: your answer"
    if not tools:
        return f"Write one line such as: {answer}"
    line = form_of(meant or tools[0])
    return f"Write one line such as: Action: {line} or, to answer: {answer}"


def _recorded(
    reply: AIMessage, said: str, call: ToolCall | InvalidToolCall | None = None
) -> AIMessage:
    """Return a reply as it is recorded: what it said as far as it counts, and its one call."""
    good = [call] if call is not None and call["type"] == "tool_call" else []
    bad = [call] if call is not None and call["type"] == "invalid_tool_call" else []
    told = {k: v for k, v in reply.additional_kwargs.items() if k != "tool_calls"}
    changes = {"content": said, "tool_calls": good, "invalid_tool_calls": bad}
    return reply.model_copy(update={**changes, "additional_kwargs": told})


def _as_call(call: ToolCall | InvalidToolCall) -> ToolCall:
    return ToolCall(name=call["name"] or NO_ACTION, args={}, id=call["id"], type="tool_call")
