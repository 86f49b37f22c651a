"""What runs a checked call: its tool with the injected values, its result shown as text."""

import inspect
from collections.abc import Awaitable
from typing import Any

from langchain_core.messages import ToolCall

from graphs.context import Context
from graphs.control import Stopping
from graphs.jobs import Job
from graphs.node import Scope
from graphs.state import State
from graphs.tool_results import Shown, show
from tools import CallScope, Contract
from tools.progress import Progress


def call_scope(call: ToolCall, state: State, scope: Scope, progress: Progress) -> CallScope:
    """Say where the injected values of a call come from."""
    runtime = scope.runtime
    if runtime.context is not scope.context:
        runtime = runtime.override(context=scope.context)
    return CallScope(runtime, scope.config, state, call["id"] or "", progress)


def job_of(
    contract: Contract, call: ToolCall, given: CallScope, context: Context, stopping: Stopping
) -> Job:
    """Make what runs a call.

    Raises:
        InjectionError: An injected value is not there.
    """
    arguments = contract.fill(call["args"], given)
    most = context.tool_result_limit
    sync, asynchronous = contract.sync, contract.asynchronous

    def body() -> Any:
        if sync is None:
            raise TypeError(f"{contract.name} has no function to call")
        value = sync(**arguments)
        return _shown_later(value) if inspect.isawaitable(value) else show(value, most)

    async def _shown_later(value: Awaitable[Any]) -> Shown:
        return show(await value, most)

    async def abody() -> Shown:
        if asynchronous is None:
            raise TypeError(f"{contract.name} has no coroutine to await")
        return show(await asynchronous(**arguments), most)

    return Job(
        sync=body if sync else None,
        asynchronous=abody if asynchronous else None,
        timeout=contract.timeout or context.tool_timeout,
        stopping=stopping,
    )
