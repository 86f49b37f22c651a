"""A call as the policies see it: the tool that would really run, and the arguments it would get."""

from collections.abc import Mapping
from typing import Any, NotRequired, cast

from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall

Asked = ToolCall | InvalidToolCall
"""A call as the model made it."""


class Call(ToolCall):
    """A tool call of which it is known what it really calls.

    Attributes:
        name: The tool that would run.
        args: The arguments it would run with.
        id: The id of the model's own call, which the result answers.
        via: The wrapper tools that the model made the call through, outermost first.
        sealed: The real arguments, encrypted, where `args` has secrets taken out.
        asked: The arguments as the model wrote them, where the tool runs with others.
    """

    via: NotRequired[list[str]]
    sealed: NotRequired[str]
    asked: NotRequired[dict[str, Any]]


def ids_of(calls: Any) -> list[Any]:
    """Return the ids of calls; a state edited by hand may hold something else in their place."""
    return [call.get("id") for call in calls if isinstance(call, dict)]


def via(call: ToolCall) -> list[str]:
    """Name the wrapper tools that a call was made through, outermost first; none: directly."""
    return list(cast("Call", call).get("via") or ())


def sealed(call: Mapping[str, Any]) -> str | None:
    """Return the real arguments of a call, encrypted; None where they are stored as they are."""
    found = call.get("sealed")
    return found if isinstance(found, str) else None


def asked_name(call: ToolCall) -> str:
    """Return the name of the tool that the model called, which its result carries."""
    return next(iter(via(call)), call["name"])


def asked_arguments(call: ToolCall) -> dict[str, Any]:
    """Return the arguments as the model wrote them."""
    return cast("Call", call).get("asked", call["args"])


def is_edited(call: ToolCall, reply: AIMessage) -> bool:
    """Tell whether a reply was edited by hand, so that it asks for something else than a call."""
    was = (asked_name(call), asked_arguments(call))
    return any(
        asked["id"] == call["id"] and (asked["name"], asked["args"]) != was for asked in made(reply)
    )


def with_arguments(call: ToolCall, arguments: dict[str, Any]) -> Call:
    """Return the call with other arguments; what the model wrote stays known."""
    passed = cast("Call", call.copy())
    passed["args"] = arguments
    return with_asked(passed, asked_arguments(call))


def with_asked(call: Call, asked: dict[str, Any]) -> Call:
    """Note what the model wrote, as it is recorded, where the tool runs with other arguments."""
    passed = call.copy()
    if passed["args"] != asked:
        passed["asked"] = asked
    return passed


def without_seal(call: Asked) -> Asked:
    """Return a call as it is recorded alone."""
    return cast("Asked", {key: value for key, value in call.items() if key != "sealed"})


def recorded(call: ToolCall) -> dict[str, Any]:
    """Return what the record tells of a call beside what the model wrote."""
    return {"tool": call["name"], "arguments": call["args"]} if via(call) else {}


def made(reply: AIMessage) -> list[Asked]:
    """List every call of a reply, those that did not parse last.

    One whose arguments had secrets taken out has them, encrypted, as `sealed`.
    """
    calls: list[Asked] = [*reply.tool_calls, *reply.invalid_tool_calls]
    sealed = reply.additional_kwargs.get("sealed")
    if not isinstance(sealed, dict):
        return calls
    return [
        cast("Asked", {**call, "sealed": sealed[call["id"]]}) if call["id"] in sealed else call
        for call in calls
    ]


def as_asked(call: Asked) -> Call:
    """Take a call as the model made it; arguments that did not parse count as none."""
    arguments = call["args"] if isinstance(call["args"], dict) else {}
    return Call(name=call["name"] or "unknown", args=arguments, id=call["id"], type="tool_call")
