"""What a question asks for, part by part, and which calls of the bound tools each part needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from graphs.models.offline_arithmetic import expression_in
from graphs.models.offline_words import proper_names, sentences, stems, words

_NOTE = re.compile(
    r"^(?:please |also |and |can you |could you |hi,? |hello,? )*"
    r"(?:(?:remember|note|keep in mind|don'?t forget|do not forget)(?: that|:|,)? |"
    r"(?:(?:make|save|take|store) (?:a|this) note|(?:save|store))(?: of| that|:| that:)+ )(.+)$",
    re.IGNORECASE,
)
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
_CLAUSE = re.compile(
    r"\b(?:the |an? )?(?:same )?(\w+) (?:that|which|who) ([^?.!,;]+)", re.IGNORECASE
)
_FINISH = ("finish", "final_answer", "submit_answer")

Kind = Literal["note", "sum", "search"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A bound tool that takes one text: its name, and the text's parameter."""

    name: str
    parameter: str


@dataclass(frozen=True, slots=True)
class Tools:
    """The bound tools by what they are for, as far as their names and descriptions tell."""

    note: Tool | None = None
    sum: Tool | None = None
    search: Tool | None = None
    finish: Tool | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """One part of the question. `text` is the fact, the expression or the question itself."""

    kind: Kind
    text: str
    context: str = ""
    """What was said before a question, which a search may need."""


def sort_tools(schemas: Sequence[dict[str, Any]]) -> Tools:
    """Find out what each tool is for; the first of a kind is taken."""
    found: dict[str, Tool] = {}
    for schema in schemas:
        function = schema.get("function", schema)
        name, about = str(function.get("name", "")), str(function.get("description", ""))
        parameter = _text_parameter(function.get("parameters") or {})
        if parameter is None or name == "tool_search":
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
            kind = "search"
        else:
            continue
        found.setdefault(kind, Tool(name, parameter))
    return Tools(**found)


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
    for sentence in sentences(question):
        for raw in _MORE.split(sentence):
            part = raw.strip()
            if note := _NOTE.match(part.replace("\u2019", "'")):
                tasks.append(Task("note", note.group(1).strip()))
            elif expression := expression_in(part):
                tasks.append(Task("sum", expression))
            elif part.endswith("?") or _ASKS.match(part):
                tasks.append(Task("search", part, " ".join(context)))
                context = []
            elif stems(part):
                context.append(part)
    if context and not any(task.kind == "search" for task in tasks):
        tasks.append(Task("search", " ".join(context)))
    return tasks


@dataclass(frozen=True, slots=True)
class Hop:
    """A question about something that another search must name first.

    "the earbuds made by [the company that acquired Acme]": `first` asks who, `clause` is the
    bracket, `relation` is "acquired Acme".
    """

    first: str
    clause: str
    relation: str

    def resolved(self, question: str, name: str) -> str:
        """Return the question with the name in the clause's place."""
        return question.replace(self.clause, name)


def hop_in(question: str) -> Hop | None:
    """Find a clause that stands for a name: it holds a name, and is not all that is asked."""
    for found in _CLAUSE.finditer(question):
        relation = found.group(2).strip()
        rest = question.replace(found.group(), " ")
        if proper_names(f"x {relation}") and stems(rest) - stems(found.group()):
            return Hop(f"who {relation}", found.group(), relation)
    return None


def fewer_words(question: str) -> str:
    """Return the words that carry meaning, for a second search."""
    kept = [word for word in words(question) if stems(word)]
    return " ".join(kept)
