"""Values that look like the example in a parameter's description, `such as O-2001`, and names."""

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

_ANY_WORDS = re.compile(
    r"\b(?:quer(?:y|ies)|questions?|texts?|words?|keywords?|terms?|phrases?|sentences?|topics?"
    r"|messages?|contents?|notes?|inputs?|prompts?|expressions?|answers?|search(?:ed)?)\b",
    re.IGNORECASE,
)
"""What the name or the description of a parameter says that takes any words."""
_WORD = r"[A-Z](?![\w-]*\d)[\w'\u2019-]*"
_NAME = rf"{_WORD}(?:/{_WORD})*(?: (?:{_WORD}|\d+))*"
_NAMED = re.compile(rf"(?<=[a-z,;:] )({_NAME})|[\"\u201c]([^\"\u201c\u201d]+)[\"\u201d]")
"""A name inside a sentence, whose first word is a capital for another reason; or a quotation."""


def takes_a_name(name: str, field: Mapping[str, Any]) -> bool:
    """Tell a parameter that takes one name, such as a city, from one that takes any words."""
    described = f"{name.replace('_', ' ')} {field.get('description', '')}"
    plain = field.get("type") == "string" and not {"format", "pattern", "enum"} & field.keys()
    if not plain or name in _FREE or _ANY_WORDS.search(described):
        return False
    return shape(name, field) is None


def named_in(text: str) -> str | None:
    """Return the one name or quotation in a text; None where there is none, or several."""
    found = {one or other for one, other in _NAMED.findall(text)} - {"I"}
    return found.pop() if len(found) == 1 else None


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
