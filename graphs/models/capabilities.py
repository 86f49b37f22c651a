"""Which optional parameters a server takes: one table, by host and model name."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlsplit

from graphs.models.errors import ModelError
from graphs.models.failures import status_code

SETTING = "RUNGS_OPENAI_SENDS"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What may be sent beyond `model`, `messages`, `tools` and what the caller configured.

    A false field is dropped from every request. `RUNGS_OPENAI_SENDS` names the fields a server
    takes (`stream_options,strict`; `all`; `none`), for one that the table does not know.
    """

    stream_options: bool = False
    """Ask for usage in streams; without it a streamed reply's usage is unknown."""
    parallel_tool_calls: bool = False
    strict: bool = False
    """`strict` in a tool's function: arguments that follow the schema by construction."""
    stop: bool = True
    """Stop sequences; the o-series and gpt-5 refuse them."""


ALL = Capabilities(stream_options=True, parallel_tool_calls=True, strict=True)

_HOSTS = {
    "api.openai.com": ALL,
    "openrouter.ai": ALL,
    "api.groq.com": replace(ALL, strict=False),
    "api.together.xyz": replace(ALL, strict=False),
    "api.deepseek.com": replace(ALL, parallel_tool_calls=False, strict=False),
    "generativelanguage.googleapis.com": replace(ALL, parallel_tool_calls=False, strict=False),
}
_STOP = re.compile(r"\bstop(?:_sequences?)?\b(?!_)", re.IGNORECASE)
_STREAM = re.compile(r"\bstream(?:ing|ed)?\b(?!_)", re.IGNORECASE)
_REFUSES_STOP = re.compile(r"^(?:o\d|gpt-[5-9])(?!.*chat)", re.IGNORECASE)


def look_up(model: str, base_url: str | None) -> Capabilities:
    """Look a server up; one that the table does not know takes `stop` and nothing else.

    Raises:
        ModelError: `RUNGS_OPENAI_SENDS` names something that is no field.
    """
    host = urlsplit(base_url).hostname if base_url else "api.openai.com"
    found = _HOSTS.get(host or "", Capabilities())
    if (text := os.environ.get(SETTING, "").strip()) and text != "all":
        named = {word.strip() for word in text.split(",")} - {"", "none"}
        known = [field.name for field in fields(Capabilities)]
        if unknown := sorted(named.difference(known)):
            choices = ", ".join(known)
            raise ModelError(f"{SETTING}: unknown {unknown[0]!r}; use all, none or {choices}")
        return Capabilities(**{name: name in named for name in known})
    if text == "all":
        return ALL
    name = model.rsplit("/", 1)[-1]
    return replace(found, stop=False) if _REFUSES_STOP.match(name) else found


def permitted(
    can: Capabilities, stop: list[str] | None, kwargs: dict[str, Any]
) -> list[str] | None:
    """Drop from `kwargs` what the server does not take; return `stop`, or None if it must go."""
    if not can.parallel_tool_calls:
        kwargs.pop("parallel_tool_calls", None)
    if not can.strict and (tools := kwargs.get("tools")):
        kwargs["tools"] = [without_strict(tool) for tool in tools]
    if not can.stop:
        kwargs.pop("stop", None)
        return None
    return stop


def refuses_stop(error: BaseException) -> bool:
    """Say whether a server refused a request for its stop sequence, in any server's words."""
    return _refuses(error, _STOP)


def refuses_stream(error: BaseException) -> bool:
    """Say whether a server refused to stream: some do for who is not verified with them."""
    return _refuses(error, _STREAM)


def _refuses(error: BaseException, parameter: re.Pattern[str]) -> bool:
    told = " ".join(str(getattr(error, name, None)) for name in ("param", "body", "message"))
    return status_code(error) in {400, 422} and parameter.search(f"{error} {told}") is not None


def without_strict(tool: Any) -> Any:
    """Return a tool's schema without the word that its arguments follow it by construction."""
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict) or "strict" not in function:
        return tool
    return {**tool, "function": {k: v for k, v in function.items() if k != "strict"}}
