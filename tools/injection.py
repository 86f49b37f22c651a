"""Parameters that the application fills in, and that the model neither sees nor sets."""

from __future__ import annotations

import copy
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Annotated, Any, Union, get_args, get_origin

from tools.errors import InjectionError
from tools.progress import Progress
from tools.tools_read import ToolsRead

OMIT: Any = object()
"""Returned by an injection whose parameter keeps its own default."""


@dataclass(frozen=True, slots=True)
class CallScope:
    """Where one call's injected values come from.

    Attributes:
        runtime: The node's `langgraph.runtime.Runtime` (context, store, stream writer), or None.
        config: The node's `RunnableConfig`.
        state: The graph's state as the node got it.
        call_id: The id of the tool call.
        progress: What the tool tells its progress by.
    """

    runtime: Any = None
    config: Mapping[str, Any] = field(default_factory=dict)
    state: Any = None
    call_id: str = ""
    progress: Progress = field(default_factory=Progress)


Injection = Callable[[CallScope], Any]
"""Reads one injected value from the scope of a call, or answers `OMIT`."""


def injection(name: str, annotation: Any, *, optional: bool) -> Injection | None:
    """Say how a parameter is filled, or None when it is the model's to fill.

    Args:
        name: The parameter's name, also the key looked up for a bare `InjectedToolArg`.
        annotation: Its annotation, `Annotated` extras included.
        optional: Whether it has a default, which is kept when there is nothing to inject.
    """
    marks, kinds = _take_apart(annotation)
    for found, module, cls, make in (
        (marks, "langchain_core.tools.base", "InjectedToolCallId", _call_id),
        (marks, "langgraph.prebuilt.tool_node", "InjectedState", _state),
        (marks, "langgraph.prebuilt.tool_node", "InjectedStore", _store),
        (marks, "langchain_core.tools.base", "InjectedToolArg", _by_name),
        (kinds, "langgraph.prebuilt.tool_node", "ToolRuntime", lambda *_: tool_runtime),
        (kinds, "tools.tools_read", "ToolsRead", lambda *_: _tools_read),
        (kinds, "tools.progress", "Progress", lambda *_: report_progress),
        (kinds, "langgraph.runtime", "Runtime", lambda *_: attrgetter("runtime")),
        (kinds, "langgraph.store.base", "BaseStore", _store),
        (kinds, "langchain_core.runnables.config", "RunnableConfig", _config),
    ):
        for mark in found:
            if _is(mark, module, cls):
                return make(name, mark, optional)
    return None


def injections(
    parameters: Mapping[str, inspect.Parameter], annotations: Mapping[str, Any]
) -> dict[str, Injection]:
    """Find the injected ones among a function's parameters."""
    found = {}
    for name, parameter in parameters.items():
        optional = parameter.default is not parameter.empty
        fill = injection(name, annotations.get(name, Any), optional=optional)
        if fill is not None:
            found[name] = fill
    return found


report_progress: Injection = attrgetter("progress")
"""Hands a tool what it tells its progress by."""


def _tools_read(scope: CallScope) -> Any:
    return ToolsRead.before(scope.state)


def tool_runtime(scope: CallScope) -> Any:
    """Build the `ToolRuntime` that LangGraph's own tool node would hand to a tool."""
    from langgraph.prebuilt import ToolRuntime

    runtime = scope.runtime
    return ToolRuntime(
        state=copy.deepcopy(scope.state),
        context=getattr(runtime, "context", None),
        config=dict(scope.config),  # type: ignore[arg-type]
        stream_writer=getattr(runtime, "stream_writer", lambda _: None),
        tool_call_id=scope.call_id,
        store=getattr(runtime, "store", None),
        execution_info=getattr(runtime, "execution_info", None),
        server_info=getattr(runtime, "server_info", None),
    )


def _take_apart(annotation: Any) -> tuple[list[Any], list[Any]]:
    """Split an annotation into its `Annotated` marks and the types it may be."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *extras = get_args(annotation)
        marks, bare = _take_apart(inner)
        return [*extras, *marks], bare
    if origin in {Union, types.UnionType}:
        parts = [_take_apart(part) for part in get_args(annotation)]
        return [m for marks, _ in parts for m in marks], [b for _, bare in parts for b in bare]
    return [], [origin or annotation]


def _loaded(module: str, name: str) -> Any:
    """Look a class up without importing its module: what is annotated with it has imported it."""
    return getattr(sys.modules.get(module), name, None)


def _is(mark: Any, module: str, name: str) -> bool:
    cls = _loaded(module, name)
    if not isinstance(cls, type):
        return False
    if mark is cls or hasattr(cls, "__required_keys__"):  # a TypedDict has no instances
        return mark is cls
    return isinstance(mark, cls) or (isinstance(mark, type) and issubclass(mark, cls))


def _call_id(_name: str, _mark: Any, _optional: bool) -> Injection:  # noqa: FBT001
    return attrgetter("call_id")


def _config(_name: str, _mark: Any, _optional: bool) -> Injection:  # noqa: FBT001
    return lambda scope: dict(scope.config)


def _by_name(name: str, _mark: Any, optional: bool) -> Injection:  # noqa: FBT001
    def fill(scope: CallScope) -> Any:
        context = getattr(scope.runtime, "context", None)
        for source in (context, scope.config.get("configurable")):
            value = _read(source, name)
            if value is not OMIT:
                return value
        return _missing(optional, f"the run's context gives no value for {name!r}")

    return fill


def _state(name: str, mark: Any, optional: bool) -> Injection:  # noqa: FBT001
    key = getattr(mark, "field", None)

    def fill(scope: CallScope) -> Any:
        value = _read(scope.state, key) if key else scope.state
        if value is not OMIT:
            return copy.deepcopy(value)  # a tool's changes are its own
        return _missing(optional, f"the graph's state has no {key!r}, which {name!r} needs")

    return fill


def _store(name: str, _mark: Any, optional: bool) -> Injection:  # noqa: FBT001
    def fill(scope: CallScope) -> Any:
        store = getattr(scope.runtime, "store", None)
        if store is not None:
            return store
        return _missing(optional, f"the graph has no store, which {name!r} needs")

    return fill


def _read(source: Any, key: str) -> Any:
    """Read a key of a mapping or an attribute of an object."""
    if isinstance(source, Mapping):
        return source.get(key, OMIT)
    return getattr(source, key, OMIT)


def _missing(optional: bool, reason: str) -> Any:  # noqa: FBT001
    if optional:
        return OMIT
    raise InjectionError(reason)
