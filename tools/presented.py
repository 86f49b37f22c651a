"""A call of a presented tool, made for a toolkit: what the tool decides stays decided.

Its arguments are checked by its schema, a yes that it needs is asked for, its time limit holds, and
how it fails is told. A pause of its own goes through.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tools import yes
from tools.contract import CallScope, Contract
from tools.errors import InjectionError
from tools.results import describe_error
from tools.wrapper import Code, Failure

TRANSIENT = (TimeoutError, ConnectionError)


class FailedError(Exception):
    """A call gave no result; `failure` says why."""

    def __init__(self, code: Code, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.failure = Failure(code, message, retryable)


class Presented:
    """One call, from what the model wrote to what comes of it.

    Args:
        tool: The tool.
        given: Its arguments, as the model wrote them.
        scope: Where injected values come from.

    Raises:
        FailedError: The call can't be made; nothing ran.
        GraphInterrupt: It needs a yes, and waits for it.
    """

    def __init__(self, tool: Contract, given: Mapping[str, Any], scope: CallScope) -> None:
        checked = tool.check(given)
        if checked.arguments is None:
            raise FailedError("invalid_arguments", checked.error or "invalid")
        if why := tool.why_unavailable(scope):
            raise FailedError("failed", f"{tool.name} failed: {why}")
        self._tool = tool
        self.said: str | None = None
        arguments = checked.arguments
        if tool.requires_confirmation:
            arguments, self.said = _approved(tool, arguments, scope)
        try:
            self._values = tool.fill(arguments, scope)
        except InjectionError as error:
            raise FailedError("failed", f"{tool.name} failed: {error}") from error

    def run(self) -> Any:
        """Run it in a thread, within its time, and return what it returned."""
        if self.said is not None:
            return self.said
        try:
            return self._in_thread().result(self._tool.timeout)
        except concurrent.futures.TimeoutError as error:
            raise self._failed(error, late=True) from error
        except Exception as error:
            raise self._failed(error) from error

    async def arun(self) -> Any:
        """Run it on the loop, or in a thread where it is sync only."""
        if self.said is not None:
            return self.said
        limit = asyncio.timeout(self._tool.timeout)
        try:
            async with limit:
                if self._tool.asynchronous is not None:
                    return await self._tool.asynchronous(**self._values)
                return await asyncio.wrap_future(self._in_thread())
        except Exception as error:
            raise self._failed(error, late=limit.expired()) from error

    def _in_thread(self) -> concurrent.futures.Future[Any]:
        """Start it in a daemon thread: one that hangs must not keep the process from ending."""
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        tool, values = self._tool, self._values

        def body() -> Any:
            call: Callable[..., Any] | None = tool.sync or tool.asynchronous
            if call is None:
                raise TypeError(f"{tool.name} has no function to call")
            value = call(**values)
            return asyncio.run(_result_of(value)) if inspect.isawaitable(value) else value

        def main() -> None:
            try:
                value = body()
            except BaseException as error:  # noqa: BLE001 - a thread has nobody else to tell
                _tell(future, error=error)
            else:
                _tell(future, value=value)

        context = contextvars.copy_context()
        threading.Thread(
            target=context.run, args=(main,), name="rungs-presented", daemon=True
        ).start()
        return future

    def _failed(self, error: Exception, *, late: bool = False) -> Exception:
        """Return what is raised in an error's place: a pause is no failure."""
        from langgraph.errors import GraphBubbleUp

        tool = self._tool
        if isinstance(error, GraphBubbleUp):
            return error
        if late:
            said = f"{tool.name} gave no result within {tool.timeout:g} s; its outcome is unknown"
            return FailedError("timeout", said, retryable=not tool.once)
        retryable = not tool.once and isinstance(error, TRANSIENT)
        said = f"{tool.name} failed: {describe_error(error)}"
        return FailedError("failed", said, retryable=retryable)


def _approved(
    tool: Contract, arguments: dict[str, Any], scope: CallScope
) -> tuple[dict[str, Any], str | None]:
    from langgraph.types import interrupt

    settings = scope.config.get("configurable") or {}
    if settings.get("__pregel_checkpointer") is None:
        said = "nobody could be asked, because there is no checkpointer with which to wait"
        raise FailedError("not_permitted", f"not executed: {tool.name} needs a yes; {said}")
    try:
        return yes.ask(tool, arguments, interrupt)
    except yes.NotApprovedError as error:
        said = f": {error}" if str(error) else ""
        raise FailedError("rejected", f"not executed, it was not approved{said}") from error


async def _result_of(value: Awaitable[Any]) -> Any:
    return await value


def _tell(
    future: concurrent.futures.Future[Any], *, value: Any = None, error: BaseException | None = None
) -> None:
    """Set an outcome, unless nobody waits for it any more."""
    if not future.set_running_or_notify_cancel():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
