"""What a server returned, by the one rule for results (`tools.results`).

Blocks of text as they are; images, audio and files as a note of type and size; a link to a resource
with its address; data (`structuredContent`) as JSON where there is no other content; an answer
marked `isError` as an error result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tools.results import render

if TYPE_CHECKING:
    from mcp.types import CallToolResult


def result_of(answer: CallToolResult, clean: Callable[[str], str]) -> Any:
    """Return text, or a `ToolMessage` that says the tool failed.

    Args:
        answer: The server's answer.
        clean: Takes the secrets of the connection out of a text.
    """
    data = answer.structuredContent
    text = clean(render(answer.content or data or None))
    if not answer.isError:
        return text
    from langchain_core.messages import ToolMessage

    return ToolMessage(content=text, tool_call_id="", status="error")
