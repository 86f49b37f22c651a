"""The ReAct prompts: their files, their places, and the line at which the prompt is cut."""

from collections.abc import Sequence

from prompts import Template, TemplateError, action_lines
from tools import Contract

REACT = "react"
NOTES = "earlier_notes"
SUMMARIZER = "summarize_progress"
PROGRESS = "progress_to_summarize"
"""The files in `prompts/`."""

PLACES = frozenset({"tool_descriptions", "question"})
PROGRESS_PLACES = frozenset({"question", "progress", "transcript"})


def cut(template: Template, tools: Sequence[Contract] = ()) -> tuple[str, Template]:
    """Cut the prompt at its line with the question.

    Returns:
        What is above that line, with the tools in it; and the line, with what follows it.

    Raises:
        TemplateError: Nothing is above it, or the actions are not.
    """
    filled = template.fill(tool_descriptions=action_lines(tools))
    above, line, below = filled.parts[0].rpartition("\n")
    if not above.strip():
        raise TemplateError(f"{template.source}: {{{{question}}}} must stand below the rules")
    opening = Template(template.source, template.text, (below, *filled.parts[1:]))
    return above.rstrip() + line.rstrip(), opening
