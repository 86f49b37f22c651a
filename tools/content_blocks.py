"""Messages and content blocks, as LangChain and MCP tools return them: their text, joined."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from tools.rendering import dumped

_TEXT_BLOCKS = {"text", "text-plain", "output_text", "input_text"}
_OTHER_BLOCKS = {
    *("image", "image_url", "input_image", "audio", "input_audio", "video", "file", "input_file"),
    *("document", "resource", "resource_link"),
}
_PLACES = {"resource", "resource_link"}
"""Blocks whose address says more than their content: a tool may be able to read it."""


def message_text(value: Any) -> str | None:
    """Return the text of a message or of content blocks, None for any other value."""
    messages = sys.modules.get("langchain_core.messages")
    message = messages is not None and isinstance(value, messages.BaseMessage)
    if message or (type(value).__module__.startswith("mcp.") and hasattr(value, "content")):
        value = value.content
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and value:
        blocks = [dumped(item) for item in value]
        if all(_is_block(block) for block in blocks):
            return "\n".join(_block(block) for block in blocks)
    return None


def _is_block(block: Any) -> bool:
    if not isinstance(block, Mapping):
        return False
    kind = block.get("type")
    if kind in _TEXT_BLOCKS:
        return isinstance(block.get("text"), str)
    return kind in _OTHER_BLOCKS


def _block(block: Mapping[str, Any]) -> str:
    kind = block["type"]
    if kind in _TEXT_BLOCKS:
        return str(block["text"])
    if isinstance(block.get("resource"), Mapping):
        block = {**block["resource"], "type": kind}
    if kind == "resource" and isinstance(block.get("text"), str):
        return str(block["text"])
    keys = ("data", "base64", "blob")
    data = next((block[k] for k in keys if isinstance(block.get(k), str | bytes)), "")
    place = str(block["uri"]) if kind in _PLACES and block.get("uri") else ""
    mime = next((str(block[k]) for k in ("mime_type", "mimeType") if block.get(k)), "")
    size = f"{len(data) * 3 // 4 if isinstance(data, str) else len(data):,} bytes" if data else ""
    told = ", ".join(
        part
        for part in (kind.removeprefix("input_").removesuffix("_url"), place, mime, size)
        if part
    )
    return f"[{told}, not shown]"
