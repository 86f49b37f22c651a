"""A tool may say why it can't run in a given run, before anything of the call is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
Check = Callable[[Any], "str | None"]

_MARK = "__why_unavailable__"


def available_unless(check: Check) -> Callable[[Function], Function]:
    """Mark a tool with a check: given the run, it returns a sentence that says why not, or None.

    Args:
        check: Called with the node's `langgraph.runtime.Runtime`.
    """

    def mark(function: Function) -> Function:
        setattr(function, _MARK, check)
        return function

    return mark


def check_of(function: Any) -> Check | None:
    """Return the check that a function was marked with."""
    check: Check | None = getattr(function, _MARK, None)
    return check
