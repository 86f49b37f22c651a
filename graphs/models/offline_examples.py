"""Values that look like the example in a parameter's description: `such as O-2001`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_EXAMPLES = re.compile(r"\bsuch as (.+?)(?=[;,:]|\.\s|\.?$)")
_CODE = re.compile(r"([A-Z]{1,6}[-_]?)(\d+)")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_AMOUNT = re.compile(r"[$€£]\s?\d[\d,.]*")
_FREE = frozenset(["query", "question", "text", "search", "q"])
"""Names of parameters that take any words: an example is one of many."""


def examples(field: Mapping[str, Any]) -> list[str]:
    """List the examples that a parameter's description gives."""
    found = _EXAMPLES.search(str(field.get("description", "")))
    return [part.strip("\"' ") for part in re.split(r"\s+or\s+", found.group(1))] if found else []


def shape(name: str, field: Mapping[str, Any]) -> re.Pattern[str] | None:
    """Return what a value looks like where the example is an id or an e-mail address."""
    if name in _FREE:
        return None
    for example in examples(field):
        if _ADDRESS.fullmatch(example):
            return _ADDRESS
        if code := _CODE.fullmatch(example):
            letters, digits = code.groups()
            return re.compile(rf"(?<![\w-]){re.escape(letters)}\d{{{len(digits)}}}(?!\w)")
    return None


def shaped_in(text: str, name: str, field: Mapping[str, Any]) -> str | None:
    """Return the one text of that look, or an example that the text names; None where unclear."""
    if look := shape(name, field):
        found = dict.fromkeys(look.findall(text))
        return next(iter(found)) if len(found) == 1 else None
    if name in _FREE:
        return None
    named = [e for e in examples(field) if re.search(rf"\b{re.escape(e)}\b", text, re.IGNORECASE)]
    return named[0] if len(named) == 1 else None


def values_in(text: str) -> list[str]:
    """List the ids and addresses of a text."""
    return _ADDRESS.findall(text) + [found.group() for found in _CODE.finditer(text)]


def without_values(text: str) -> str:
    """Take ids, addresses and amounts out: they say which one is meant, not what is asked."""
    return " ".join(_AMOUNT.sub(" ", _CODE.sub(" ", _ADDRESS.sub(" ", text))).split())
