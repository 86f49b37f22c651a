"""What runs a checked call: its tool with the injected values, its result shown as text."""

import inspect
from collections.abc import Awaitable, Mapping
from typing import Any

from langchain_core.messages import ToolCall

from graphs.context import Context
from graphs.control import Stopping
from graphs.inside_tools import Inside
from graphs.jobs import Job
from graphs.state import State
from graphs.tool_results import Shown, show
from tools import CallScope, Contract
from tools.progress import Progress


def call_scope(call: ToolCall, state: State, within: Inside, progress: Progress) -> CallScope:
    """Say where the injected values of a call come from."""
    return CallScope(within.runtime, within.config, state, call["id"] or "", progress)


def job_of(
    contract: Contract,
    call: ToolCall,
    given: CallScope,
    within: Inside,
    *,
    context: Context,
    stopping: Stopping,
    hidden: Mapping[str, str],
) -> Job:
    """Make what runs a call.

    Args:
        contract: Its tool.
        call: The call, with its real arguments.
        given: Where injected values come from.
        within: What the tool reaches of the run.
        context: The run's settings.
        stopping: The way to stop it.
        hidden: The secrets among the arguments, and what stands for each.

    Raises:
        InjectionError: An injected value is not there.
    """
    arguments = contract.fill(call["args"], given)
    most = context.tool_result_limit
    sync, asynchronous = contract.sync, contract.asynchronous

    def body() -> Any:
        if sync is None:
            raise TypeError(f"{contract.name} has no function to call")
        with within.entered():
            value = sync(**arguments)
        return _shown_later(value) if inspect.isawaitable(value) else show(value, most, hidden)

    async def _shown_later(value: Awaitable[Any]) -> Shown:
        with within.entered():
            shown = await value
        return show(shown, most, hidden)

    async def abody() -> Shown:
        if asynchronous is None:
            raise TypeError(f"{contract.name} has no coroutine to await")
        with within.entered():
            value = await asynchronous(**arguments)
        return show(value, most, hidden)

    return Job(
        sync=body if sync else None,
        asynchronous=abody if asynchronous else None,
        timeout=contract.timeout or context.tool_timeout,
        stopping=stopping,
    )
