"""The prompts, one Markdown file each, and their one template syntax."""

from prompts.template import Template, TemplateError, load, parse
from prompts.tool_list import with_tools

__all__ = ["Template", "TemplateError", "load", "parse", "with_tools"]
