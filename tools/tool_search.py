"""ToolSearch: two tools in place of any number, for LangChain's agents and every LangGraph.

    tools = ToolSearchToolkit(my_tools, limit=5).get_tools()
    agent = create_agent(model, tools)

`tool_search(query, limit?)` finds tools by what they do and tells their parameters;
`tool_call(name, input)` runs one of them by its name (seed "ToolSearch"). Running a tool is the
tool's own, so what it decides stays decided: one that needs a yes pauses the graph for it
(LangChain's `HITLRequest`), one that pauses by itself pauses, its time limit holds. Failures are
returned as `{code, message, retryable}`, never raised.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, BaseToolkit, StructuredTool, ToolException
from langgraph.prebuilt import ToolRuntime
from langgraph.runtime import Runtime
from pydantic import ConfigDict, Field, PrivateAttr

from tools.catalog import LIMITS, Catalog
from tools.contract import CallScope, Contract, contract
from tools.errors import SearchError
from tools.failed import FailedError
from tools.late_catalog import catalog_of, listed
from tools.one_step import step_of
from tools.presented import Presented, arguments_of
from tools.registry import as_contracts
from tools.search_tools import (
    TOOL_CALL,
    TOOL_SEARCH,
    Library,
    as_found,
    refuse_own_names,
    search,
    toolkit_call,
    toolkit_search,
)
from tools.yes import Waiting

__all__ = ["ToolSearchToolkit"]


class ToolSearchToolkit(BaseToolkit):
    """Presents tools as a search: `get_tools()` gives `tool_search` and `tool_call`.

    It keeps true that
    * building contacts nothing, and what a model is shown is the same however many tools there are;
    * what was searched for is called by its name, and a name that there is not (any more) is told;
    * no failure is raised, and no pause is swallowed, not even a tool's own;
    * a yes is of the one call that was shown, and no answer to a pause makes an effect twice;
    * what a tool returned is kept without secrets, at most 1,000,000 characters of it.

    `create_agent` makes each call in a step of its own: each asks for itself. A `ToolNode` behind a
    plain edge makes all calls of a reply in one step, which after a pause is made again as a whole.
    There all of them are asked about in one question, and what changes state waits for its answer.
    What can't be told to be safe is not run, and its result asks for a reply of its own: a call
    that changes state or needs a yes beside a call of a tool that is not the toolkit's, and a tool
    that pauses by itself beside any other. What a pause of something else has made again, such as
    one in `wrap_tool_call`, is not run again. A process that is killed amid a call is another
    matter: LangGraph then makes the step again, and only the graphs of `open_graph` keep a ledger.

    A tool's `return_direct` counts for nothing here: the model sees what `tool_call` returned.

    Args:
        tools: LangChain tools, functions, JSON schemas with a callable, contracts, or a `Catalog`,
            which may change at any time. A tool of which nothing more is known runs without a yes.
        limit: How many tools a search returns when it does not ask for a number, 1 to 20.

    Raises:
        ContractError: A tool can't be offered, or is called like one of the two.
        ValueError: The limit is out of bounds.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    limit: int = Field(default=5, ge=LIMITS[0], le=LIMITS[-1], strict=True)
    _given: Sequence[Contract] | Catalog = PrivateAttr()
    _made: Catalog | None = PrivateAttr(default=None)
    _making: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, tools: Sequence[Any] | Catalog, *, limit: int = 5) -> None:
        super().__init__(limit=limit)
        self._given = tools if isinstance(tools, Catalog) else as_contracts(tools)
        if isinstance(self._given, list):  # tools of a server are not known before they are needed
            refuse_own_names({tool.name: tool for tool in self._given})

    @property
    def catalog(self) -> Catalog:
        """What is searched, made when it is first needed."""
        if isinstance(self._given, Catalog):
            return self._given
        with self._making:
            if self._made is None:
                self._made = catalog_of(self._given)
            return self._made

    def get_tools(self) -> list[BaseTool]:
        """Return `tool_search` and `tool_call`."""
        return [_search_tool(self), _call_tool(self)]


class _ShapedTool(StructuredTool):
    """A tool that takes what its contract takes, and answers a failure with data."""

    _own: Any = PrivateAttr()

    def as_contract(self) -> Contract:
        """Return the contract that stands for it in a graph of ours (`tools.contract`).

        Policies then look at the tool that is really called.
        """
        own: Contract = self._own
        return own


def _shaped(shown: Contract, own: Contract, sync: Any, asynchronous: Any) -> _ShapedTool:
    returned: Any = _failure_of
    made = _ShapedTool(
        name=shown.name,
        description=shown.description,
        args_schema=shown.parameters,
        func=sync,
        coroutine=asynchronous,
        handle_tool_error=returned,
    )
    made._own = own  # noqa: SLF001 - a private attribute of a model can't be given to it
    return made


class _ReturnedError(ToolException):
    """Carries a failure to where LangChain makes the tool's answer of it, with error status."""

    def __init__(self, failure: dict[str, Any]) -> None:
        super().__init__(failure["message"])
        self.failure = failure


def _failure_of(error: ToolException) -> dict[str, Any]:
    if isinstance(error, _ReturnedError):
        return error.failure
    return {"code": "failed", "message": str(error), "retryable": False}


def _returned(error: FailedError) -> _ReturnedError:
    return _ReturnedError(asdict(error.failure))


def _checked(own: Contract, arguments: Mapping[str, Any]) -> dict[str, Any]:
    checked = own.check(arguments)
    if checked.arguments is None:
        raise FailedError("invalid_arguments", checked.error or "invalid")
    return checked.arguments


def _search_tool(toolkit: ToolSearchToolkit) -> _ShapedTool:
    shown = toolkit_search()

    def find(**arguments: Any) -> dict[str, Any]:
        try:
            given = _checked(shown, arguments)
            found = search(toolkit.catalog, given["query"], given["limit"], toolkit.limit)
        except SearchError as error:
            raise _returned(FailedError("invalid_arguments", str(error))) from error
        except FailedError as error:
            raise _returned(error) from error
        return as_found(found, list(found))

    # In a graph of ours the tool answers by itself, where no node does.
    described = {"name": TOOL_SEARCH, "description": shown.description}
    answering = {**described, "parameters": shown.parameters, "function": find}
    own = replace(contract(answering, effect="read_only"), failure=shown.failure)
    return _shaped(shown, own, find, None)


def _call_tool(toolkit: ToolSearchToolkit) -> _ShapedTool:
    library = Library(lambda: toolkit.catalog)
    shown = toolkit_call(library)

    def meant(arguments: Any) -> tuple[Contract, Mapping[str, Any]]:
        given = _checked(shown, arguments)
        tool = library.get(name := given["name"])
        if tool is None:
            unknown = shown.wrapper.unknown if shown.wrapper else None
            raise FailedError("unknown_tool", unknown(name) if unknown else name)
        return tool, given["input"]

    def prepared(
        arguments: dict[str, Any], runtime: ToolRuntime | None, config: RunnableConfig
    ) -> Presented:
        tool, given = meant(arguments)
        call_id = (runtime.tool_call_id if runtime else None) or ""
        state = runtime.state if runtime else None
        scope = CallScope(runtime or Runtime(), config, state, call_id)

        def needing(calls: Iterable[ToolCall]) -> list[Waiting]:
            return [*filter(None, (_waiting(call, meant, scope) for call in calls))]

        return Presented(tool, given, scope, step=step_of(config, runtime), needing=needing)

    def run(config: RunnableConfig, runtime: ToolRuntime | None = None, **arguments: Any) -> Any:
        try:
            return _answer(prepared(arguments, runtime, config).run())
        except FailedError as error:
            raise _returned(error) from error

    async def arun(
        config: RunnableConfig, runtime: ToolRuntime | None = None, **arguments: Any
    ) -> Any:
        try:
            await listed(toolkit.catalog)
            return _answer(await prepared(arguments, runtime, config).arun())
        except FailedError as error:
            raise _returned(error) from error

    return _shaped(shown, shown, run, arun)


def _waiting(call: ToolCall, meant: Any, scope: CallScope) -> Waiting | None:
    """Return what a person is asked about a call; None where it needs no yes, or can't be made."""
    if call["name"] != TOOL_CALL:
        return None
    call_id = call["id"] or ""
    try:
        tool, given = meant(call["args"])
        arguments = arguments_of(tool, given, replace(scope, call_id=call_id))
    except FailedError:
        return None
    return Waiting(tool, arguments, call_id) if tool.requires_confirmation else None


def _answer(value: Any) -> Any:
    """Return a tool's answer as `tool_call`'s; one that says that it failed is a failure."""
    if not isinstance(value, ToolMessage):
        return value
    if value.status == "error":
        raise FailedError("failed", value.text)
    return value.model_copy(update={"name": TOOL_CALL})
