"""What a question asks for, part by part, and which calls of the bound tools each part needs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from graphs.models.offline_arithmetic import beyond_calculator, expression_in, is_plain_sum
from graphs.models.offline_compare import comparison_in
from graphs.models.offline_notes import note_in, states_preference
from graphs.models.offline_places import wider_words
from graphs.models.offline_records import RecordTool, is_record_tool
from graphs.models.offline_words import GENERIC, sentences, stems, words
from tools.search_tools import TOOL_CALL, TOOL_SEARCH

_MORE = re.compile(
    r",?\s+and (?:also )?(?=(?:what|how|who|when|where|which|please|can|could|do|does|is|are)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:and |so |hi,? |hello,? )*(?:what|how|who|when|where|which|why|can|could|do|does|did|is"
    r"|are|was|will|would|should|may|tell|show|give|find|search|look|explain|list|describe|i want"
    r"|i need)\b",
    re.IGNORECASE,
)
_READS_DOCUMENTS = re.compile(r"\b(?:articles?|docs|documents?|help|knowledge|pages?|polic\w+)\b")
"""Of many tools that look something up, those that answer a question of any kind."""

_FINISH = ("finish", "final_answer", "submit_answer")

Kind = Literal["note", "sum", "search", "compare", "beyond"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A bound tool that takes one text: its name, the text's parameter, the stems it tells of."""

    name: str
    parameter: str
    about: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Tools:
    """The bound tools by what they are for, as far as their names and descriptions tell."""

    note: Tool | None = None
    sum: Tool | None = None
    search: Tool | None = None
    finish: Tool | None = None
    searches: tuple[Tool, ...] = ()
    """`search` and its like: tools with the same verb and parameter, over other documents."""
    records: tuple[RecordTool, ...] = ()
    """Tools that ask for ids, several things or nothing."""
    finder: bool = False
    """Whether there may be more, which a search finds."""

    @property
    def off(self) -> bool:
        """Whether there are none at all, as at a cap."""
        return not (self.note or self.sum or self.search or self.finish or self.finder)

    def searches_for(self, query: str) -> tuple[Tool, ...]:
        """Return the searches that tell of the query's words: the most telling, all in a tie."""
        asked = stems(query)
        shares = [len(asked & tool.about) for tool in self.searches]
        return tuple(
            tool for tool, share in zip(self.searches, shares, strict=True) if share == max(shares)
        )


@dataclass(frozen=True, slots=True)
class Task:
    """One part of the question. `text` is the fact, the expression or the question itself.

    "beyond" is a sum that the calculator can't do.
    """

    kind: Kind
    text: str
    context: str = ""
    """What was said before a question, which a search may need."""


def sort_tools(schemas: Sequence[Mapping[str, Any]]) -> Tools:
    """Find out what each tool is for; the first of a kind is taken, and of searches its like."""
    found: dict[str, Tool] = {}
    searches: list[Tool] = []
    records: list[RecordTool] = []
    functions = [schema.get("function", schema) for schema in schemas]
    finder = TOOL_SEARCH in [function.get("name") for function in functions]
    for function in functions:
        name, about = str(function.get("name", "")), str(function.get("description", ""))
        parameters = function.get("parameters") or {}
        parameter = _text_parameter(parameters)
        if name in {TOOL_SEARCH, TOOL_CALL}:
            continue
        if is_record_tool(parameters):
            records.append(RecordTool(name, about, parameters))
        if parameter is None or (is_record_tool(parameters) and name not in _FINISH):
            continue
        text = " ".join(words(f"{name} {parameter} {about}".replace("_", " "))).lower()
        if name in _FINISH:
            kind = "finish"
        elif parameter == "expression" or re.search(r"\b(?:arithmetic|calculat\w*)\b", text):
            kind = "sum"
        elif re.search(r"\b(?:notes?|remember|memory)\b", text) and re.search(
            r"\b(?:save|store|add|write|remember|keep)\b", text
        ):
            kind = "note"
        elif re.search(r"\b(?:search|query|find|look|lookup|retrieve|question)\b", text):
            if finder and not _READS_DOCUMENTS.search(text):
                records.append(RecordTool(name, about, parameters))
                continue
            kind = "search"
        else:
            continue
        tool = Tool(name, parameter, frozenset(stems(text)))
        first = found.setdefault(kind, tool)
        if kind == "search" and _verb(tool) == _verb(first) and parameter == first.parameter:
            searches.append(tool)
    return Tools(**found, searches=tuple(searches), records=tuple(records), finder=finder)


def _verb(tool: Tool) -> str:
    return tool.name.partition("_")[0]


def _text_parameter(parameters: dict[str, Any]) -> str | None:
    """Return the one parameter that must be given, if it is text."""
    fields = parameters.get("properties") or {}
    required = parameters.get("required") or list(fields)[: len(fields) == 1]
    if len(required) != 1 or fields.get(required[0], {}).get("type") != "string":
        return None
    return str(required[0])


def split(question: str) -> list[Task]:
    """Split a question into its parts, in order; what asks nothing is context for what follows."""
    tasks: list[Task] = []
    context: list[str] = []
    parts = [part for sentence in sentences(question) for part in _parts(sentence)]
    for part in parts:
        asks = part.endswith("?") or _ASKS.match(part) is not None
        if note := note_in(part):
            tasks.append(Task("note", note))
        elif states_preference(part):
            tasks.append(Task("note", part))
        elif comparison_in(part):
            tasks.append(Task("compare", part, " ".join(context)))
            context = []
        elif (asks or len(parts) == 1 or is_plain_sum(part)) and (found := expression_in(part)):
            tasks.append(Task("sum", found))
        elif (asks or len(parts) == 1) and beyond_calculator(part):
            tasks.append(Task("beyond", part))
        elif asks:
            tasks.append(Task("search", part, " ".join(context)))
            context = []
        elif stems(part):
            context.append(part)
    if context and not any(task.kind == "search" for task in tasks):
        tasks.append(Task("search", " ".join(context)))
    return tasks


def _parts(sentence: str) -> list[str]:
    """Cut a sentence before another question, and before a sum of its own: "... and 2+2"."""
    found: list[str] = []
    for part in _MORE.split(sentence):
        joined = re.split(r",?\s+and\s+", part.strip())
        if len(joined) > 1 and is_plain_sum(joined[-1]):
            found += [" and ".join(joined[:-1]), joined[-1]]
        else:
            found.append(part.strip())
    return [part for part in found if part]


def fewer_words(question: str) -> str:
    """Return the words that carry meaning, and the regions of countries, for a second search."""
    kept = [word for word in words(question) if stems(word) - GENERIC]
    return f"{' '.join(kept)} {wider_words(question)}".strip()
