"""The prompts, one Markdown file each, and their one template syntax."""

from prompts.action_list import action_lines, form_of
from prompts.file import PromptFile, load, prompt_file
from prompts.template import Template, TemplateError, parse
from prompts.tool_list import LateList, with_tools

__all__ = [
    "LateList",
    "PromptFile",
    "Template",
    "TemplateError",
    "action_lines",
    "form_of",
    "load",
    "parse",
    "prompt_file",
    "with_tools",
]
