"""Prompts among a run's settings: Studio shows each on its node, to be edited for one run."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field
from pydantic.fields import FieldInfo

from prompts import Template, parse, prompt_file

LONGEST = 100_000
"""Characters of a prompt that a run may give."""

PLACES = frozenset({"company", "memory_notes"})
"""The places that a system prompt must have."""


@dataclass(frozen=True)
class PromptSetting:
    """What makes a field of the settings a prompt, told in its JSON schema.

    The field is empty, which stands for the text of the file as it is when the run needs it; the
    schema shows that text. So no text is copied into what is stored of a run.

    Attributes:
        file: The prompt's name in `prompts/`.
        nodes: The nodes that send it.
        names: The places that it must have.
        check: Looks at a text that is otherwise sound, and raises a `TemplateError`.
    """

    file: str
    nodes: tuple[str, ...]
    names: frozenset[str]
    check: Callable[[Template], object] | None = None

    def __call__(self, schema: dict[str, Any]) -> None:
        """Complete the field's JSON schema."""
        schema["default"] = prompt_file(self.file).look_soon()
        schema["langgraph_nodes"] = list(self.nodes)
        schema["langgraph_type"] = "prompt"

    def parse(self, text: str, source: str) -> Template:
        """Parse a text that a run gives in place of the file's.

        Raises:
            TemplateError: A place is unknown or missing, or the text is otherwise wrong.
        """
        template = parse(text, names=self.names, source=source)
        if self.check is not None:
            self.check(template)
        return template


def prompt_setting(
    file: str,
    about: str,
    *,
    nodes: Collection[str],
    names: Collection[str] = PLACES,
    check: Callable[[Template], object] | None = None,
) -> Any:
    """Make a field of the settings a prompt.

    Args:
        file: The prompt's name in `prompts/`.
        about: What it does, a sentence.
        nodes: The nodes that send it.
        names: The places that it must have.
        check: What else it must be.
    """
    places = ", ".join(f"{{{{{name}}}}}" for name in sorted(names))
    must = f" It must have {places}." if places else ""
    setting = PromptSetting(file, tuple(nodes), frozenset(names), check)
    return Field(
        default="",
        max_length=LONGEST,
        description=f"{about}{must} Empty: as prompts/{file}.md is when it is sent.",
        json_schema_extra=setting,
    )


def prompts_among(fields: Mapping[str, FieldInfo]) -> dict[str, PromptSetting]:
    """Return which fields are prompts."""
    extras = {name: field.json_schema_extra for name, field in fields.items()}
    return {name: extra for name, extra in extras.items() if isinstance(extra, PromptSetting)}
