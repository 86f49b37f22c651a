"""Templates with `{{name}}` placeholders, filled in a single pass.

One syntax and nothing else: a name is a lower-case identifier, single braces, `%` and `$` are plain
text, and a value that itself holds `{{...}}` is not looked at again. What is wrong with a template
is found when it is parsed: when a graph is built, or a run's settings are read; in the middle of a
run only where its file was edited meanwhile.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

_PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_NAME = re.compile(r"[a-z][a-z_]*\Z")


class TemplateError(ValueError):
    """A template, or what fills it, is wrong: one line that names file and placeholder."""


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template.

    Attributes:
        source: Where it came from, for error messages.
        text: The text as written.
        parts: Literal text and placeholder names by turns; literals stand at the even places.
    """

    source: str
    text: str
    parts: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names of the placeholders."""
        return frozenset(self.parts[1::2])

    @property
    def edition(self) -> int:
        """Goes up whenever the same values would be filled into another text."""
        return 0

    def render(self, **values: str) -> str:
        """Fill every placeholder with its value, as it is.

        Raises:
            TemplateError: A placeholder has no value.
        """
        filled = list(self.parts)
        for place in range(1, len(filled), 2):
            name = filled[place]
            if name not in values:
                raise TemplateError(f"{self.source}: no value for {{{{{name}}}}}")
            filled[place] = values[name]
        return "".join(filled)

    def fill(self, **values: str) -> "Template":
        """Fill some placeholders for good; their values become literal text."""
        literals, names = [self.parts[0]], list[str]()
        for name, literal in zip(self.parts[1::2], self.parts[2::2], strict=True):
            if name in values:
                literals[-1] += values[name] + literal
            else:
                names.append(name)
                literals.append(literal)
        mixed = [literals[0]]
        for name, literal in zip(names, literals[1:], strict=True):
            mixed += [name, literal]
        return Template(self.source, self.text, tuple(mixed))


def parse(text: str, *, names: Collection[str], source: str = "template") -> Template:
    """Parse a template that may, and must, use exactly the given names.

    Args:
        text: The template.
        names: The placeholders that will be filled.
        source: What to call it in an error.

    Raises:
        TemplateError: A placeholder is malformed, unknown or missing.
    """
    parts = tuple(_PLACEHOLDER.split(text))
    found = parts[1::2]
    for name in found:
        if not _NAME.match(name):
            raise TemplateError(
                f"{source}: {{{{{name[:40]}}}}} is no placeholder; "
                "a name is lower-case letters and underscores"
            )
        if name not in names:
            raise TemplateError(
                f"{source}: unknown placeholder {{{{{name}}}}}; known are {_listed(names)}"
            )
    if missing := sorted(set(names) - set(found)):
        raise TemplateError(f"{source}: the placeholder {_listed(missing)} is missing")
    if any("{{" in literal or "}}" in literal for literal in parts[::2]):
        raise TemplateError(f"{source}: a '{{{{' or '}}}}' without its partner")
    return Template(source, text, parts)


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"{{{{{name}}}}}" for name in sorted(names)) or "none"
