"""The prompts, one Markdown file each, and their one template syntax."""

from prompts.action_list import action_lines, form_of
from prompts.template import Template, TemplateError, load, parse
from prompts.tool_list import LateList, with_tools

__all__ = [
    "LateList",
    "Template",
    "TemplateError",
    "action_lines",
    "form_of",
    "load",
    "parse",
    "with_tools",
]
