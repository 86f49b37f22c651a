"""What an input must not hold, because no checkpoint or store could keep it."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from graphs.errors import UsageError
from tools.plain import MAX_INTEGER, MIN_INTEGER


def check_storable(given: Any) -> None:
    """Refuse what a caller passed where a text or a number in it can't be kept.

    Args:
        given: A run's input, or an answer: messages, lists, mappings, and values in them.

    Raises:
        UsageError: It holds a lone surrogate or an integer beyond 64 bits, or is too deep.
    """
    try:
        fault = _fault(given)
    except RecursionError:
        fault = "it is nested too deep"
    if fault:
        raise UsageError(f"the input can't be stored: {fault}")


def _fault(value: Any) -> str | None:
    if isinstance(value, str):
        return None if value.isascii() else _fault_of_text(value)
    if isinstance(value, int):
        fits = MIN_INTEGER <= value <= MAX_INTEGER
        return None if fits else "it holds an integer beyond 64 bits; send it as text"
    if isinstance(value, BaseMessage):
        value = value.__dict__
    if isinstance(value, Mapping):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple):
        return next((fault for item in value if (fault := _fault(item))), None)
    return None


def _fault_of_text(text: str) -> str | None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return "it holds text that is not UTF-8 (a lone surrogate)"
    return None
