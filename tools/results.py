"""What a tool returns or raises, as text for the model.

The rule: text as it is; data as compact JSON; bytes, images and the like as a note of type and
size; nothing, and the text `null`, as `(no result)`. In JSON, numbers that JSON has not are the
texts "NaN", "Infinity", "-Infinity"; decimals and fractions are exact text; dates are ISO 8601;
sets are sorted.

Order matters: render, redact, then limit, for half a credential may no longer look like one.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from tools.content_blocks import message_text
from tools.limits import limit
from tools.redact import Found, redact
from tools.rendering import as_text
from tools.text import clean_text, one_line, shorten

__all__ = ["describe_error", "limit", "render"]

NO_RESULT = "(no result)"
EMPTY = "(empty text)"
ERROR_CHARACTERS = 500
_OURS = frozenset({"tools", "graphs", "prompts"})

_PATH = re.compile(
    r"(?:file://|(?<![\w:/.]))/(?:[^\s/:'\"`,;()<>|]+/)+(?P<posix>[^\s/:'\"`,;()<>|]*)"
    r"|\b[A-Za-z]:\\(?:[^\\\s:'\"`,;()<>|]+\\)*(?P<windows>[^\\\s:'\"`,;()<>|]*)"
)


def render(value: Any) -> str:
    """Turn what a tool returned into text, by the rule above; never fails."""
    if isinstance(value, str):
        return _said(value)
    if value is None:
        return NO_RESULT
    if isinstance(value, BaseException):
        return describe_error(value)
    try:
        text = message_text(value)
        return _said(as_text(value) if text is None else text)
    except Exception:  # noqa: BLE001 - foreign objects may fail in any way when they are read
        return f"[{type(value).__name__}, not shown]"


def _said(text: str) -> str:
    cleaned = clean_text(text) or EMPTY
    # What a tool in JavaScript says for nothing; Agent Chat UI takes it for data, and breaks on it.
    return NO_RESULT if cleaned == "null" else cleaned


def describe_error(exc: BaseException, found: Found | None = None) -> str:
    """Say what went wrong on one line of at most 500 characters: type and message.

    A `ValueError` of this project is a sentence already, and needs no type.
    Credentials are redacted, absolute paths cut to their last part, and what Pydantic quotes of
    its input (which may be an injected value) is left out. `found` counts what was redacted.
    """
    kind = type(exc).__name__
    try:
        message = _message(exc)
    except Exception:  # noqa: BLE001 - an exception's own __str__ may be what is broken
        message = ""
    message = _PATH.sub(_last_part, redact(one_line(message), found))
    if message and _is_a_sentence(exc):
        return shorten(message, ERROR_CHARACTERS)
    return shorten(f"{kind}: {message}" if message else kind, ERROR_CHARACTERS)


def _is_a_sentence(exc: BaseException) -> bool:
    owner = type(exc).__module__.partition(".")[0]
    return isinstance(exc, ValueError) and owner in _OURS


def _message(exc: BaseException) -> str:
    pydantic = sys.modules.get("pydantic_core")
    if pydantic is not None and isinstance(exc, pydantic.ValidationError):
        errors = exc.errors(include_url=False, include_context=False, include_input=False)
        told = [f"{'.'.join(map(str, e['loc'])) or 'value'}: {e['msg']}" for e in errors[:5]]
        return "; ".join(told)
    if isinstance(exc, BaseExceptionGroup):
        return "; ".join([exc.message, *(describe_error(inner) for inner in exc.exceptions[:5])])
    if isinstance(exc, KeyError) and len(exc.args) == 1:
        return f"no {exc.args[0]!r}"
    return str(exc)


def _last_part(match: re.Match[str]) -> str:
    return match["posix"] or match["windows"] or "…"
