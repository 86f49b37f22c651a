"""Questions about one order, customer or invoice: the tool that they ask for, and its arguments.

A tool is chosen by the words of its name and description, and by whether the question gives what it
needs: an id that looks like the example in a parameter's description, an amount, a named option.
What the question does not give may stand in an earlier result, or in that of the tool which a
parameter's description names. One that changes something is called only where the question has its
verb.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graphs.models.offline_examples import (
    named_in,
    shape,
    takes_a_name,
    values_in,
    without_values,
)
from graphs.models.offline_record import fill_record
from graphs.models.offline_words import stem, stems, words

_LOOKS = frozenset(
    map(stem, ("check", "find", "list", "look", "read", "search", "show", "tell", "track", "work"))
)
"""The verbs with which the description of a tool begins that changes nothing."""

_MONEY = re.compile(r"[$]\s?(\d[\d,]*(?:\.\d+)?)")
_PRICED = re.compile(r"\b(?:dollars?|amount|price|money)\b", re.IGNORECASE)
_GIVEN_BY = re.compile(r"\b(\w+_\w+)(?:\([^)]*\))? gives?\b")
_ENOUGH = 2.5


@dataclass(frozen=True, slots=True)
class RecordTool:
    """A tool that asks for more than words: its name, its description, its parameters."""

    name: str
    about: str
    parameters: Mapping[str, Any]

    @property
    def fields(self) -> Mapping[str, Any]:
        """Its parameters by name."""
        found: Mapping[str, Any] = self.parameters.get("properties") or {}
        return found

    @property
    def required(self) -> list[str]:
        """The parameters that must be given."""
        return list(self.parameters.get("required") or ())

    @property
    def name_stems(self) -> set[str]:
        """The words of its name."""
        return stems(self.name.replace("_", " "))

    @property
    def acts(self) -> bool:
        """Whether it does more than look, by the verb that its description begins with."""
        return self._begins not in _LOOKS

    @property
    def _begins(self) -> str:
        return stem(next(iter(words(self.about)), ""))

    def is_told_to(self, text: str) -> bool:
        """Tell whether a text has its verb, or begins with a word of its name, as orders do."""
        said = [stem(word) for word in words(text) if word.lower() != "please"]
        verbs = {self._begins, stem(self.name.partition("_")[0])}
        return bool(verbs & set(said)) or bool(self.name_stems & set(said[:1]))


@dataclass(frozen=True, slots=True)
class Choice:
    """The tool that a question asks for, and what is known of its arguments."""

    tool: RecordTool
    arguments: dict[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    score: float = 0.0

    def given_by(self) -> list[str]:
        """Name the tools that give what is missing, as the parameters' descriptions say."""
        described = [str(self.tool.fields[name].get("description", "")) for name in self.missing]
        return [name for text in described for name in _GIVEN_BY.findall(text)]


def is_record_tool(parameters: Mapping[str, Any]) -> bool:
    """Tell a tool that asks for an id, a name, several things or nothing from one for a text."""
    fields = parameters.get("properties") or {}
    required = parameters.get("required") or []
    if len(required) != 1:
        return True
    field = fields.get(required[0], {})
    return shape(required[0], field) is not None or takes_a_name(required[0], field)


def choose(text: str, tools: Sequence[RecordTool], results: Iterable[str]) -> Choice | None:
    """Return the tool that a text asks for; None where none is clearly meant."""
    known = _known(results)
    asked = stems(without_values(text))
    possible = [tool for tool in tools if not tool.acts or tool.is_told_to(text)]
    choices = [_choice(text, asked, tool, known) for tool in possible]
    # A question that names nothing of a tool's but a word of its description does not mean it.
    values = set(values_in(text))
    telling = [c for c in choices if c.score >= _ENOUGH and _is_meant(c, asked, values)]
    return max(telling, key=lambda choice: choice.score, default=None)


def arguments_of(
    text: str, tool: RecordTool, known: Mapping[str, set[str]]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the arguments that are known for a tool, and the names of those that are missing."""
    filled = fill_record(text, tool.parameters)
    found = {name: value for name, value in filled.items() if value is not None}
    for name, schema in tool.fields.items():
        if name in found:
            continue
        amounts = {amount.replace(",", "") for amount in _MONEY.findall(text)}
        if _PRICED.search(f"{name} {schema.get('description', '')}") and len(amounts) == 1:
            found[name] = amounts.pop()
        elif name in tool.required and len(known.get(name, ())) == 1:
            found[name] = next(iter(known[name]))
        elif [name] == tool.required and takes_a_name(name, schema) and (said := named_in(text)):
            found[name] = said
    return found, tuple(name for name in tool.required if name not in found)


def _choice(text: str, asked: set[str], tool: RecordTool, known: Mapping[str, set[str]]) -> Choice:
    arguments, missing = arguments_of(text, tool, known)
    named = tool.name_stems
    score = 3.0 * len(named & asked) + len(stems(tool.about) & asked - named)
    score += 2.0 * bool(_head(text, asked) & named)
    score += 2.0 * sum(shape(name, tool.fields[name]) is not None for name in arguments)
    score -= 0.5 * len(named - asked - _LOOKS)
    choice = Choice(tool, arguments, missing)
    if missing:  # less bad where another tool gives it
        score -= 0.5 if choice.given_by() else 1.5
    else:
        score -= 2.0 * len(set(values_in(text)) - set(map(str, arguments.values())))
    score += 2.0 * (tool.acts and not text.rstrip().endswith("?"))
    return replace(choice, score=score)


def _head(text: str, asked: set[str]) -> set[str]:
    """Return the first telling word: what is asked for, or what is to be done."""
    return next((found for word in words(text) if (found := stems(word) & asked)), set())


def _is_meant(choice: Choice, asked: set[str], values: set[str]) -> bool:
    """Ask for an id in the question, or for most of its words where a tool needs none."""
    tool = choice.tool
    if any(shape(name, tool.fields[name]) for name in choice.arguments):
        return True
    if choice.missing:
        return bool(values) or asked <= tool.name_stems
    held = asked & (tool.name_stems | stems(tool.about))
    return asked <= tool.name_stems or (len(held) > 1 and 2 * len(held) >= len(asked))


def _known(results: Iterable[str]) -> dict[str, set[str]]:
    """Collect the texts of earlier results by the names they stand under."""
    known: dict[str, set[str]] = {}
    for result in results:
        try:
            value = json.loads(result)
        except ValueError:
            continue
        for name, text in _texts(value):
            known.setdefault(name, set()).add(text)
    return known


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if isinstance(item, str):
                yield name, item
            else:
                yield from _texts(item)
