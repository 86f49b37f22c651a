"""A call of a presented tool, made for a toolkit: what the tool decides stays decided.

Its arguments are checked by its schema, a yes that it needs is asked for, its time limit holds, and
how it fails is told. A pause of its own goes through.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from tools.contract import CallScope, Contract
from tools.errors import InjectionError
from tools.failed import FailedError
from tools.hidden import secrets_of, without
from tools.marks import MARKED, is_marked
from tools.one_step import Step, entered
from tools.permission import Needing, Permission
from tools.presented_result import kept
from tools.redact import redact_data
from tools.results import describe_error
from tools.yes import Waiting

TRANSIENT = (TimeoutError, ConnectionError)


class Presented:
    """One call, from what the model wrote to what comes of it.

    A pause of its own goes through where it is the only call of its step that may pause.

    Args:
        tool: The tool.
        given: Its arguments, as the model wrote them.
        scope: Where injected values come from.
        step: The step that makes the call; None where nothing can pause.
        needing: Tells which calls of a reply need a yes.

    Raises:
        FailedError: The call can't be made; nothing ran.
    """

    def __init__(
        self,
        tool: Contract,
        given: Mapping[str, Any],
        scope: CallScope,
        *,
        step: Step | None,
        needing: Needing,
    ) -> None:
        self._tool, self._scope = tool, scope
        self._hidden: dict[str, str] = {}
        waiting = Waiting(tool, arguments_of(tool, given, scope), scope.call_id)
        self._permission = Permission(waiting, step, needing)
        self._muted = step.without_answers() if step and self._permission.shares else None
        if self._muted is not None:
            self._scope = replace(scope, config=self._muted)

    def run(self) -> Any:
        """Run it in a thread, within its time, and return what it returned.

        Raises:
            FailedError: It gave no result.
            GraphInterrupt: It waits for a person.
        """
        looks = self._permission.looks
        verdict = self._permission.given(looks.shown() if looks else None)
        if verdict.said:
            return kept(verdict.said)
        values = self._filled(verdict.arguments)
        try:
            with self._entered():
                return kept(self._in_thread(values).result(self._tool.timeout), self._hidden)
        except concurrent.futures.TimeoutError as error:
            raise self._failed(error, late=True) from error
        except (Exception, SystemExit) as error:
            raise self._failed(error) from error

    async def arun(self) -> Any:
        """Do what `run` does, on the loop, or in a thread where the tool is sync only."""
        looks = self._permission.looks
        verdict = self._permission.given(await looks.ashown() if looks else None)
        if verdict.said:
            return kept(verdict.said)
        values = self._filled(verdict.arguments)
        limit = asyncio.timeout(self._tool.timeout)
        try:
            with self._entered():
                async with limit:
                    if self._tool.asynchronous is not None:
                        return kept(await self._tool.asynchronous(**values), self._hidden)
                    return kept(await asyncio.wrap_future(self._in_thread(values)), self._hidden)
        except (Exception, SystemExit) as error:
            raise self._failed(error, late=limit.expired()) from error

    def _filled(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self._hidden = secrets_of(arguments, redact_data(arguments))
        try:
            return self._tool.fill(arguments, self._scope)
        except Exception as error:
            said = str(error) if isinstance(error, InjectionError) else describe_error(error)
            raise FailedError("failed", f"{self._tool.name} failed: {said}") from error

    def _entered(self) -> contextlib.AbstractContextManager[None]:
        return entered(self._muted) if self._muted is not None else contextlib.nullcontext()

    def _in_thread(self, values: Mapping[str, Any]) -> concurrent.futures.Future[Any]:
        """Start it in a daemon thread: one that hangs must not keep the process from ending."""
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        tool = self._tool

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

    def _failed(self, error: BaseException, *, late: bool = False) -> BaseException:
        """Return what is raised in an error's place: a pause is no failure."""
        from langgraph.errors import GraphBubbleUp, GraphInterrupt

        tool = self._tool
        if isinstance(error, GraphInterrupt) and self._muted is not None:
            return self._permission.paused()
        if isinstance(error, GraphBubbleUp):
            return error
        if late:
            said = f"{tool.name} gave no result within {tool.timeout:g} s; its outcome is unknown"
            return FailedError("timeout", said, retryable=not tool.once)
        retryable = not tool.once and isinstance(error, TRANSIENT)
        said = without(f"{tool.name} failed: {describe_error(error)}", self._hidden)
        return FailedError("failed", said, retryable=retryable)


def arguments_of(tool: Contract, given: Mapping[str, Any], scope: CallScope) -> dict[str, Any]:
    """Return the arguments of a call that can be made.

    Raises:
        FailedError: It can't: they are not valid, or the tool can't run here.
    """
    checked = tool.check(given)
    if checked.arguments is None:
        raise FailedError("invalid_arguments", checked.error or "invalid")
    if is_marked(checked.arguments):
        raise FailedError("invalid_arguments", MARKED)
    try:
        why = tool.why_unavailable(scope)
    except Exception as error:
        raise FailedError("failed", f"{tool.name} failed: {describe_error(error)}") from error
    if why:
        raise FailedError("failed", f"{tool.name} failed: {why}")
    return checked.arguments


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
