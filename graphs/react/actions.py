"""An action's input as the arguments of its tool: the one required argument, or a JSON object."""

from typing import Any

from langchain_core.messages import InvalidToolCall, ToolCall

from graphs.react.parser import Action
from prompts import form_of
from tools import ArgumentsError, Contract, parse_arguments


def call_of(action: Action, tool: Contract, call_id: str) -> ToolCall | InvalidToolCall:
    """Make the tool call that an action stands for.

    * A JSON object that names one of the tool's arguments is its arguments.
    * Any other text is the tool's one required argument, or its only one.
    * A tool without arguments takes nothing between the brackets.

    Returns:
        The call; an invalid one, whose error says how the action is written, where the input fits
        none of these. Whether the arguments are right is checked later, as for every call.
    """
    arguments = _arguments(action.text, tool)
    if isinstance(arguments, str):
        return InvalidToolCall(
            name=tool.name,
            args=action.text,
            id=call_id,
            error=f"{arguments}; write it as Action: {form_of(tool)}",
            type="invalid_tool_call",
        )
    return ToolCall(name=tool.name, args=arguments, id=call_id, type="tool_call")


def _arguments(text: str, tool: Contract) -> dict[str, Any] | str:
    """Return the arguments, or what is wrong with the input."""
    fields = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", [])
    only = list(required if len(required) == 1 else fields if len(fields) == 1 else [])
    broken = "the input is no JSON object"
    if text.startswith("{"):
        try:
            read = parse_arguments(text)
        except ArgumentsError as error:
            broken = str(error)
        else:
            if not only or not fields.keys().isdisjoint(read):
                return read
    if not text and not required:
        return {}
    if only:
        return {only[0]: text}
    return broken if fields else f"{tool.name} takes no input"
