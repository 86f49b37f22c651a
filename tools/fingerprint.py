"""A digest of what a tool says and does, so that no cached answer outlives a changed tool."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from types import CodeType
from typing import Any


def fingerprint(
    name: str, description: str, parameters: Mapping[str, Any], functions: Iterable[Any]
) -> str:
    """Return 32 hex digits, the same in every process that runs the same tool.

    Args:
        name: The tool's name.
        description: Its description.
        parameters: Its schema.
        functions: What its call ends in: their names, code, defaults and bound arguments count.
    """
    told = json.dumps([name, description, parameters], sort_keys=True)
    parts = [told, *(_function(function) for function in functions)]
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=16).hexdigest()


def _function(function: Callable[..., Any]) -> str:
    bound = ""
    while isinstance(function, functools.partial):
        bound += _stable((function.args, function.keywords))
        function = function.func
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__code__"):
        function = type(function).__call__
    code = getattr(function, "__code__", None)
    where = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', '')}"
    defaults = getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None)
    return "\x1f".join((where, bound, _stable(defaults), _code(code) if code else ""))


def _code(code: CodeType) -> str:
    constants = [_stable(constant) for constant in code.co_consts]
    return "\x1f".join((code.co_code.hex(), repr(code.co_names), *constants))


def _stable(value: Any) -> str:
    """Write a value the same way in every process: no addresses, no order of sets."""
    if isinstance(value, CodeType):
        return _code(value)
    if isinstance(value, frozenset | set):
        return repr(sorted(_stable(item) for item in value))
    if isinstance(value, tuple | list):
        return repr([_stable(item) for item in value])
    if isinstance(value, dict):
        return repr(sorted((_stable(k), _stable(v)) for k, v in value.items()))
    if value is None or value is ... or isinstance(value, str | bytes | int | float | complex):
        return repr(value)
    return type(value).__qualname__
