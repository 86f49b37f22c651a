"""The tools that a graph's calls can reach, and what a call comes to.

A call made directly and one made through a wrapper tool come to the same: a tool and its arguments,
by which every policy decides (SPEC section 4, "Policy on the effective call").
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import InvalidToolCall, ToolCall, ToolMessage

from graphs.calls import Call, as_asked, asked_name, via
from graphs.context import Context
from tools import Code, Contract, Failure, tool_set, unknown_tool
from tools.search_tools import TOOL_SEARCH

MOST_WRAPPERS = 3
"""Wrappers through which one call may go, a fixed limit: one may call itself."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a call comes to.

    Attributes:
        call: The call of the tool that would run; with the arguments it runs with where it may, as
            they were asked for where it may not.
        error: Why it may not run, in a sentence; None where it may.
        code: What kind of error that is.
        retryable: Whether the very same call may run when it is made again.
        told: What the record tells of the error beside.
    """

    call: Call
    error: str | None = None
    code: Code = "failed"
    retryable: bool = False
    told: Mapping[str, Any] = field(default_factory=dict)


class Reach:
    """The tools of a graph, and those behind its wrappers.

    Args:
        tools: The tools that the model is shown, or may be.

    Attributes:
        tools: The same, as a set.
    """

    def __init__(self, tools: Sequence[Contract]) -> None:
        self.tools = tool_set(tools)

    @property
    def _tools(self) -> Mapping[str, Contract]:
        """All that can be called directly."""
        return self.tools.by_name

    @property
    def searches(self) -> bool:
        """Whether there are tools that a search finds, so that what is called then is logged."""
        return TOOL_SEARCH in self._tools

    @property
    def caches(self) -> bool:
        """Whether one of the tools may have its results kept."""
        return any(tool.cache_seconds or tool.wrapper for tool in self._tools.values())

    def get(self, name: str) -> Contract | None:
        """Return the tool of a name that a model may be shown; None where there is none."""
        return self._tools.get(name)

    def names(self, loaded: Sequence[str]) -> list[str]:  # noqa: ARG002 - nothing is loaded here
        """Name the tools that a model may be shown, given what searches loaded in the run."""
        return list(self.tools.by_name)

    def offered(self, context: Context, loaded: Sequence[str]) -> list[str]:
        """Name the tools that the model is shown; in a read-only run none that change state."""
        tools = [self._tools[name] for name in self.names(loaded)]
        return [tool.name for tool in tools if may_run(tool, context)]

    def contract_of(self, call: ToolCall) -> Contract | None:
        """Return the tool that a checked call runs; None where it is gone."""
        tools: Mapping[str, Contract] = self._tools
        for name in via(call):
            outer = tools.get(name)
            if outer is None or outer.wrapper is None:
                return None
            tools = outer.wrapper.tools
        found = tools.get(call["name"])
        return found if found and found.wrapper is None else None

    def needs_yes(self, call: ToolCall) -> bool:
        """Tell whether a person must say yes to a call; one whose tool is gone asks nobody."""
        contract = self.contract_of(call)
        return contract is not None and contract.requires_confirmation

    def resolve(
        self,
        call: ToolCall | InvalidToolCall,
        context: Context,
        *,
        approval: bool,
        loaded: Sequence[str] = (),
    ) -> Resolved:
        """Say what a call of the model comes to, and whether it may run.

        Args:
            call: The call, as the model made it.
            context: The run's settings.
            approval: Whether a person can be asked about it.
            loaded: What searches loaded in this run.
        """
        effective = as_asked(call)
        contract = self._tools.get(effective["name"])
        if contract is None or not self.is_loaded(contract.name, loaded):
            return Resolved(effective, *self._out_of_reach(call["name"] or "", context, loaded))
        if call["type"] == "invalid_tool_call" and may_run(contract, context):
            error = f"the arguments of {contract.name} are no JSON object: {call['error']}"
            return Resolved(effective, f"not executed: {error}", "invalid_arguments")
        while contract.wrapper is not None:
            unwrapped = _unwrap(effective, contract, context)
            if isinstance(unwrapped, Resolved):
                return unwrapped
            effective, contract = unwrapped
        return _checked(effective, contract, context, approval=approval)

    def is_loaded(self, name: str, loaded: Sequence[str]) -> bool:  # noqa: ARG002
        """Tell whether the model may call a tool that there is."""
        return True

    def _out_of_reach(self, name: str, context: Context, loaded: Sequence[str]) -> tuple[str, Code]:
        """Say why a tool can't be called: here, there is none of that name."""
        allowed = [self._tools[shown] for shown in self.offered(context, loaded)]
        return " ".join([unknown_tool(name, allowed), *self.tools.failures]), "unknown_tool"

    def answer(self, call: ToolCall, result: ToolMessage) -> ToolMessage:
        """Put an error into the shape that the tool which the model called gives its errors."""
        outermost = self._tools.get(asked_name(call))
        shape = (outermost.wrapper or outermost).failure if outermost else None
        if shape is None or result.status != "error":
            return result
        told = result.additional_kwargs
        failure = Failure(told.get("code", "failed"), result.text, told.get("retryable", False))
        return result.model_copy(update={"content": shape(failure)})


def as_reach(tools: Sequence[Contract] | Reach) -> Reach:
    """Make the reach of tools, where it is not made yet."""
    return tools if isinstance(tools, Reach) else Reach(tools)


def _unwrap(call: Call, contract: Contract, context: Context) -> tuple[Call, Contract] | Resolved:
    """Go through one wrapper; the arguments of the wrapper itself are checked first."""
    wrapper = contract.wrapper
    if wrapper is None:
        raise ValueError(f"{contract.name} is no wrapper")
    path = [*via(call), contract.name]
    if len(path) > MOST_WRAPPERS:
        names = " -> ".join(path)
        error = f"not executed: {names} is more than {MOST_WRAPPERS} tools in one another"
        return Resolved(call, error, "invalid_arguments")
    checked = contract.check(call["args"])
    if checked.arguments is None:
        return Resolved(call, checked.error, "invalid_arguments")
    name, arguments = wrapper.unwrap(checked.arguments)
    inner = Call(name=name, args=dict(arguments), id=call["id"], type="tool_call", via=path)
    found = wrapper.tools.get(name)
    if found is not None:
        return inner, found
    if wrapper.unknown is not None:
        return Resolved(inner, wrapper.unknown(name), "unknown_tool")
    allowed = [tool for tool in wrapper.tools.values() if may_run(tool, context)]
    return Resolved(inner, unknown_tool(name, allowed), "unknown_tool")


def may_run(contract: Contract, context: Context) -> bool:
    """Tell whether a run's settings let a tool run."""
    return contract.effect == "read_only" or not context.read_only


def _checked(call: Call, contract: Contract, context: Context, *, approval: bool) -> Resolved:
    if not may_run(contract, context):
        error = f"not executed: {contract.name} changes state, and this run is read-only"
        return Resolved(call, error, "not_permitted")
    if contract.requires_confirmation and not approval:
        error = f"not executed: {contract.name} needs a person's yes, which can't be asked here"
        return Resolved(call, error, "not_permitted")
    checked = contract.check(call["args"])
    if checked.arguments is None:
        return Resolved(call, checked.error, "invalid_arguments")
    passed = call.copy()
    passed["args"] = checked.arguments
    return Resolved(passed)
