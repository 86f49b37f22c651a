"""LangChain tools as sources of contracts; they are called as LangChain calls them."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, Tool
from langchain_core.tools.base import get_all_basemodel_annotations

from tools.docstring import summary
from tools.errors import ContractError
from tools.injection import CallScope, Injection, injection, tool_runtime
from tools.sources import Source

RESERVED = ("config", "run_manager", "callbacks")
"""Names that LangChain overwrites or drops on the way to the function."""


def from_langchain(tool: BaseTool) -> Source:
    """Read a LangChain tool, with Pydantic arguments or a JSON schema as MCP adapters give it.

    Its result is the bare return value, which is rendered by our rule. Tools that need the whole
    call (an artifact, errors they handle themselves, the call's id) answer with a `ToolMessage`.
    """
    schema = _schema(tool)
    shown = schema.get("properties") or {}
    for name in RESERVED:
        if name in shown:
            raise ContractError(tool.name, f"LangChain keeps the argument name {name!r} for itself")
    injected = _injected(tool, shown)
    whole = (
        tool.response_format == "content_and_artifact"
        or bool(tool.handle_tool_error)
        or bool(tool.handle_validation_error)
        or bool(injected)
        # an argument called "type" could pass itself off as a whole call
        or "type" in shown
        or bool(schema.get("additionalProperties"))
    )

    def pack(values: dict[str, Any], scope: CallScope) -> dict[str, Any]:
        call = {"type": "tool_call", "id": scope.call_id, "name": tool.name, "args": values}
        return {"call": call if whole else values, "config": dict(scope.config)}

    def sync(call: Any, config: Any) -> Any:
        return tool.invoke(call, config)

    async def asynchronous(call: Any, config: Any) -> Any:
        return await tool.ainvoke(call, config)

    has_sync, has_async = _abilities(tool)
    functions = [getattr(tool, "func", None), getattr(tool, "coroutine", None)]
    return Source(
        name=tool.name,
        description=summary(tool.description or ""),
        parameters=schema,
        sync=sync if has_sync else None,
        asynchronous=asynchronous if has_async else None,
        injected=injected,
        generated=not isinstance(tool.args_schema, dict),
        pack=pack,
        code=tuple(f for f in functions if f) or (_run(tool), _arun(tool)),
    )


def _run(tool: BaseTool) -> Any:
    """Return what a tool's author wrote; LangChain's contract for subclasses is this method."""
    return tool._run  # noqa: SLF001


def _arun(tool: BaseTool | type[BaseTool]) -> Any:
    cls = tool if isinstance(tool, type) else type(tool)
    return cls._arun


def _abilities(tool: BaseTool) -> tuple[bool, bool]:
    if isinstance(tool, StructuredTool | Tool):
        return tool.func is not None, tool.coroutine is not None
    return True, _arun(tool) is not _arun(BaseTool)


def _schema(tool: BaseTool) -> dict[str, Any]:
    if isinstance(tool, Tool) and tool.args_schema is None:
        return {"type": "object", "properties": tool.args, "required": list(tool.args)}
    if isinstance(tool.args_schema, dict):
        return tool.args_schema
    try:
        model: Any = tool.tool_call_schema
        schema = (
            model.model_json_schema() if hasattr(model, "model_json_schema") else model.schema()
        )
    except Exception as exc:
        raise ContractError(tool.name, f"its arguments have no JSON schema: {exc}") from exc
    schema.pop("description", None)
    return dict(schema)


def _injected(tool: BaseTool, shown: Mapping[str, Any]) -> dict[str, Injection]:
    annotations: dict[str, Any] = {}
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None) or _run(tool)
    parameters = inspect.signature(function).parameters
    annotations.update(typing.get_type_hints(function, include_extras=True))
    if isinstance(tool.args_schema, type):
        annotations.update(get_all_basemodel_annotations(tool.args_schema))
    found = {}
    for name, annotation in annotations.items():
        if name in RESERVED or name == "return":
            continue
        parameter = parameters.get(name)
        optional = parameter is not None and parameter.default is not parameter.empty
        fill = injection(name, annotation, optional=optional)
        if fill is None and name == "runtime" and name not in shown:
            fill = tool_runtime  # LangGraph's tool node goes by the name alone
        if fill is not None:
            found[name] = fill
    return found
