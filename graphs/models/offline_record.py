"""A record filled from free text by rules: each field from its name, description and type.

What the text does not give by one of these rules is left out, so that a record that needs it is
rejected, not made up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from graphs.models.offline_examples import shape, shaped_in
from graphs.models.offline_values import (
    Cues,
    address_in,
    date_in,
    first_sentence,
    labelled,
    number_in,
    person_in,
)
from graphs.models.offline_words import stems
from tools.references import References

_MISSING: Any = object()
_PERSON = re.compile(r"\b(?:name|customer|client|person|sender|contact|author)\b", re.IGNORECASE)
_WHOLE = re.compile(r"\b(?:summary|message|request|question|text|subject)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"\b(?:sentence|summary|summarize)\b", re.IGNORECASE)
_CUES = re.compile(r"(?<![\w-])([\w -]+?) \(([^()]*)\)")
_YES = {"yes": True, "true": True, "no": False, "false": False}


def fill_record(text: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Fill the parameters of a tool from a text.

    Args:
        text: The text.
        parameters: The JSON schema of an object.

    Returns:
        The arguments: what was found; null for what was not, where the schema allows it.
    """
    return _Reader(text, References(parameters)).whole(parameters)


class _Reader:
    """Reads one text by the fields of one schema."""

    def __init__(self, text: str, references: References) -> None:
        self._text = text
        self._references = references
        self._within: list[Mapping[str, Any]] = []

    def whole(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        self._within.append(self._merged(schema).get("properties", {}))
        return self.object(schema)

    def object(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, field in self._merged(schema).get("properties", {}).items():
            value = self._value(Cues(name, str(field.get("description", ""))), field)
            if value is not _MISSING:
                found[name] = value
            elif "null" in self._references.kinds(field):
                found[name] = None
        return found

    def _value(self, cues: Cues, field: Any) -> Any:
        """Return what the text gives for a field, or `_MISSING`; the first form counts."""
        schema = self._merged(field)
        if forms := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
            values = (self._value(cues, form) for form in forms)
            return next((value for value in values if value is not _MISSING), _MISSING)
        if "enum" in schema or "const" in schema:
            return self._choice(cues, schema.get("enum") or [schema["const"]])
        readers: dict[Any, Callable[[Cues, Mapping[str, Any]], Any]] = {
            "string": self._string,
            "number": lambda cues, _: number_in(self._text, cues, whole=False),
            "integer": lambda cues, _: number_in(self._text, cues, whole=True),
            "boolean": lambda cues, _: _YES.get((labelled(self._text, cues) or "").lower()),
            "array": self._array,
            "object": self._inner,
        }
        read = readers.get(schema.get("type"))
        value = read(cues, schema) if read else None
        return _MISSING if value is None else value

    def _inner(self, _cues: Cues, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        fields = schema.get("properties")
        if not fields or fields in self._within:
            return None  # inside of itself the same text would be read again, without an end
        self._within.append(fields)
        inner = self.object(schema)
        self._within.pop()
        return inner if any(value is not None for value in inner.values()) else None

    def _merged(self, schema: Any) -> dict[str, Any]:
        """Return a schema with what it refers to; its own words go first."""
        merged: dict[str, Any] = {}
        for part in self._references.conjuncts(schema):
            merged = {**part, **merged}
        return merged

    def _string(self, cues: Cues, schema: Mapping[str, Any]) -> str | None:
        form, pattern = schema.get("format"), schema.get("pattern")
        if form == "date":
            return date_in(self._text, cues)
        if form == "email":
            return address_in(self._text)
        if pattern:
            return _matching(self._text, pattern)
        if form:
            return None
        if (said := labelled(self._text, cues) or shaped_in(self._text, cues.name, schema)) or (
            shape(cues.name, schema)
        ):
            return said  # what has a look of its own is nothing else
        return self._told(cues)

    def _told(self, cues: Cues) -> str | None:
        """Return who writes or what is written, where a field is for one of them."""
        name = cues.name.replace("_", " ")
        if _PERSON.search(name):
            return person_in(self._text)
        if _WHOLE.search(name) or _SENTENCE.search(cues.lead):
            return first_sentence(self._text)
        return person_in(self._text) if _PERSON.search(cues.lead) else None

    def _choice(self, cues: Cues, options: list[Any]) -> Any:
        """Return the option that the text names most, by itself or by the words behind it.

        Where it names none, one whose words say that it stands for anything else.
        """
        said = labelled(self._text, cues)
        scores = {}
        rest = []
        behind = {name.strip().lower(): words for name, words in _CUES.findall(cues.description)}
        for option in options:
            if not isinstance(option, str):
                continue
            name = option.replace("_", " ")
            told = behind.get(name.lower(), "")
            if re.search(r"\b(?:anything else|not say|otherwise|by default)\b", told):
                rest.append(option)
                told = ""
            phrases = [name, *(phrase.strip() for phrase in told.split(","))]
            scores[option] = sum(_mentions(said or self._text, phrase) for phrase in phrases)
        best = max(scores.values(), default=0)
        named = [option for option, score in scores.items() if score == best and best]
        if len(named) == 1:
            return named[0]
        return rest[0] if not named and len(rest) == 1 else _MISSING

    def _array(self, cues: Cues, schema: Mapping[str, Any]) -> Any:
        items = self._merged(schema.get("items", {}))
        if "enum" in items:
            return [o for o in items["enum"] if isinstance(o, str) and _mentions(self._text, o)]
        said = labelled(self._text, cues)
        if said and items.get("type") == "string":
            return [part.strip() for part in re.split(r",|;", said) if part.strip()]
        return None


def _matching(text: str, pattern: str) -> str | None:
    """Return the one text that matches a pattern from end to end; None for several."""
    inner = pattern.removeprefix("^").removesuffix("$")
    try:
        found = {m.group() for m in re.finditer(rf"(?<![\w-])(?:{inner})(?![\w-])", text)}
    except re.error:
        return None
    return found.pop() if len(found) == 1 else None


def _mentions(text: str, phrase: str) -> int:
    """Count how often a text has a phrase's words beside each other, in any of their forms."""
    wanted = phrase.replace("_", " ").split()
    if not wanted:
        return 0
    if len(wanted) == 1:
        stem = stems(wanted[0]) or {wanted[0].lower()}
        return len(stem & (stems(text) | set(re.findall(r"\w+", text.lower()))))
    spaced = r"\W+".join(re.escape(word) for word in wanted)
    return int(re.search(rf"\b{spaced}", text, re.IGNORECASE) is not None)
