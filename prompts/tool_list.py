"""The list of tools in a system prompt, kept true to the tools that a graph really has."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from prompts.template import Template, parse

_LINE = re.compile(r"- (?P<name>[\w-]+)\(")


class Described(Protocol):
    """What a prompt tells of a tool."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def description(self) -> str:
        """When to use it, in one line."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Its JSON schema."""


def with_tools(template: Template, tools: Sequence[Described]) -> Template:
    """Return the template with its list of tools true to `tools`.

    A list that names exactly these tools stays as it is written. Another one gives way to a line a
    tool, in the same form: its name, its parameters, and when to use it.

    Args:
        template: A system prompt; the list is its lines of the form `- name(parameters):
            description`.
        tools: The graph's tools.
    """
    lines = template.text.split("\n")
    listed = {m["name"]: place for place, line in enumerate(lines) if (m := _LINE.match(line))}
    if not listed or set(listed) == {tool.name for tool in tools}:
        return template
    first, last = min(listed.values()), max(listed.values())
    text = "\n".join([*lines[:first], "{{tool_list}}", *lines[last + 1 :]])
    names = {name for name in template.names if f"{{{{{name}}}}}" in text} | {"tool_list"}
    own = "\n".join(_line(tool) for tool in tools) or "- (no tools)"
    return parse(text, names=names, source=template.source).fill(tool_list=own)


class Late(Protocol):
    """Tools that are known when they have been listed, and may be listed anew."""

    @property
    def edition(self) -> int:
        """Goes up whenever they are."""

    def __iter__(self) -> Iterator[Described]:
        """Give the tools."""


@dataclass(frozen=True, slots=True)
class LateList(Template):
    """A template whose list of tools is made when the template is filled.

    Attributes:
        tools: What it lists; they are not looked at before.
    """

    tools: Late

    @classmethod
    def of(cls, template: Template, tools: Late) -> "LateList":
        """Have a template list these tools."""
        return cls(template.source, template.text, template.parts, tools)

    @property
    def edition(self) -> int:
        """The edition of the tools."""
        return self.tools.edition

    def render(self, **values: str) -> str:
        """Fill every placeholder of the template with the list as it is now."""
        plain = Template(self.source, self.text, self.parts)
        return with_tools(plain, list(self.tools)).render(**values)


def _line(tool: Described) -> str:
    parameters = ", ".join(tool.parameters.get("properties", {}))
    return f"- {tool.name}({parameters}): {tool.description}"
