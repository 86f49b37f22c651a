"""The kinds of things that can be a tool, each read into one shape."""

from __future__ import annotations

import functools
import inspect
import sys
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.docstring import argument_descriptions, summary
from tools.errors import ContractError
from tools.injection import CallScope, Injection, injections
from tools.signature import Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A tool as it was given.

    Attributes:
        parameters: Its JSON schema, not yet closed.
        generated: Whether the schema was derived from Python annotations.
        signature: Turns plain JSON arguments into what the annotations say; None leaves them.
        pack: Turns the values of a call into the keyword arguments of `sync` and `asynchronous`.
        code: What the fingerprint covers.
        origin: Whose tool it is, where it is not of this process.
    """

    name: str
    description: str
    parameters: Any
    sync: Callable[..., Any] | None = None
    asynchronous: Callable[..., Awaitable[Any]] | None = None
    injected: Mapping[str, Injection] = field(default_factory=dict)
    generated: bool = False
    signature: Signature | None = None
    pack: Callable[[dict[str, Any], CallScope], dict[str, Any]] | None = None
    code: tuple[Any, ...] = ()
    origin: str = ""


def read(tool: Any, *, name: str | None = None) -> Source:
    """Read a function, a LangChain tool or a mapping.

    Raises:
        ContractError: It is none of these, or can't be called by named arguments.
    """
    if isinstance(tool, Source):
        return tool
    langchain = sys.modules.get("langchain_core.tools.base")
    if langchain is not None and isinstance(tool, langchain.BaseTool):
        from tools.langchain_tools import from_langchain

        return from_langchain(tool)
    if isinstance(tool, Mapping):
        return from_mapping(tool)
    if callable(tool) and not isinstance(tool, type):
        return from_function(tool, name or function_name(tool))
    raise ContractError(
        name or str(getattr(tool, "__name__", tool))[:80],
        f"a tool is a function, a LangChain tool or a mapping, not {type(tool).__name__}",
    )


def from_function(function: Callable[..., Any], name: str) -> Source:
    """Read a plain function: its schema comes from its annotations and docstring."""
    body = function_body(function)
    doc = inspect.getdoc(body) or ""
    parameters, annotations = visible(function, name)
    injected = injections(parameters, annotations)
    shown = {key: value for key, value in parameters.items() if key not in injected}
    signature = Signature(name, shown, annotations, argument_descriptions(doc))
    return Source(
        name=name,
        description=summary(doc),
        parameters=signature.schema,
        injected=injected,
        generated=True,
        signature=signature,
        code=(function,),
        **_callables(function, name),
    )


def from_mapping(tool: Mapping[str, Any]) -> Source:
    """Read a JSON schema with a callable; its arguments arrive as the plain JSON they are."""
    name = tool.get("name")
    if not isinstance(name, str):
        raise ContractError(str(name), "a mapping needs a 'name' of text")
    if unknown := sorted(str(key) for key in tool.keys() - _KEYS):
        raise ContractError(name, f"a mapping has {', '.join(_KEYS)}; not {unknown[0]!r}")
    description, function = tool.get("description"), tool.get("function")
    if not isinstance(description, str | None):
        raise ContractError(name, "its 'description' must be text")
    if not callable(function):
        raise ContractError(name, "a mapping needs a 'function' to call")
    parameters, annotations = visible(function, name)
    injected = injections(parameters, annotations)
    schema = tool.get("parameters")
    _check_names(name, schema, {k: p for k, p in parameters.items() if k not in injected})
    return Source(
        name=name,
        description=summary(description or ""),
        parameters=schema,
        injected=injected,
        code=(function,),
        **_callables(function, name),
    )


_KEYS = {"name": str, "description": str, "parameters": dict, "function": Callable}.keys()


def function_name(function: Any) -> str:
    """Return what a callable is called; an object with `__call__` is called like its class."""
    body = function_body(function)
    return str(getattr(body, "__name__", None) or type(body).__name__)


def function_body(function: Any) -> Any:
    """Look through `functools.partial`."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def visible(function: Any, name: str) -> tuple[dict[str, inspect.Parameter], dict[str, Any]]:
    """Return a function's parameters and annotations, without those a partial has filled."""
    filled = getattr(function, "keywords", {}) if isinstance(function, functools.partial) else {}
    body = function_body(function)
    routine = body if inspect.isroutine(body) else type(body).__call__
    try:
        parameters = inspect.signature(function).parameters
        annotations = typing.get_type_hints(routine, include_extras=True)
    except (NameError, TypeError, ValueError) as exc:
        raise ContractError(name, f"its signature can't be read: {exc}") from None
    return {k: p for k, p in parameters.items() if k not in filled}, annotations


def _callables(function: Any, name: str) -> dict[str, Any]:
    body = function_body(function)
    routines = [body, type(body).__call__]
    if any(inspect.isgeneratorfunction(r) or inspect.isasyncgenfunction(r) for r in routines):
        raise ContractError(name, "it yields; a tool returns one result")
    if any(inspect.iscoroutinefunction(r) for r in routines):
        return {"asynchronous": function}
    return {"sync": function}


def _check_names(name: str, schema: Any, parameters: Mapping[str, inspect.Parameter]) -> None:
    """Refuse a schema and a function that do not take the same arguments."""
    kinds = {p.kind for p in parameters.values()}
    named = schema.get("properties") if isinstance(schema, Mapping) else None
    named = named if isinstance(named, Mapping) else {}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        for key in named:
            if key not in parameters:
                raise ContractError(name, f"its schema has {key!r}, which its function lacks")
    for key, parameter in parameters.items():
        variadic = parameter.kind in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}
        if parameter.default is parameter.empty and not variadic and key not in named:
            raise ContractError(name, f"its function needs {key!r}, which its schema lacks")
