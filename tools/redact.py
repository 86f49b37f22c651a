"""Credentials out of text and data, before it is stored, streamed, logged or shown to a model.

Two things are looked for: what looks like a credential by itself (`sk-…`, `ghp_…`, `AKIA…`, JSON
web tokens, private keys, `Bearer …`, a password in a URL), here, and what is called one
(`password=…`, `"api_key": "…"`, `?token=…`), in `tools.named_secrets`.

Text without either is told by the regular expression engine that jsonschema-rs brings along: some
50 µs for 20,000 characters, where Python's own needs milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tools.finder import finder
from tools.named_secrets import MAY_BE_NAMED, REDACTED, without_named
from tools.secret_names import is_secret_name

__all__ = ["REDACTED", "is_secret_name", "redact", "redact_data"]

_FORMATS = (
    r"(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]*[0-9]|[A-Za-z0-9_-]{20})[A-Za-z0-9_-]{4,}",
    r"(?<![A-Za-z0-9])[srp]k_(?:live|test)_[A-Za-z0-9]{4,}",
    r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{12,}",
    r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{16,}",
    r"github_pat_[A-Za-z0-9_]{16,}",
    r"(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{16,}",
    r"(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{8,}",
    r"(?<![A-Za-z0-9])xapp-[A-Za-z0-9-]{8,}",
    r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}",
    r"(?<![A-Za-z0-9])ya29\.[A-Za-z0-9_-]{16,}",
    r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{20,}",
    r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,}",
    r"(?<![A-Za-z0-9])pypi-[A-Za-z0-9_-]{40,}",
    r"(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"(?<![A-Za-z0-9])whsec_[A-Za-z0-9]{16,}",
    # only at the beginning of a run, or runs without a dot would be read again and again
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)",
)


def _cookie(match: re.Match[str]) -> str:
    value = match[2].strip()
    return match[1] + REDACTED if "=" in value and value != REDACTED else match[0]


_RULES: tuple[tuple[Callable[[str], bool], re.Pattern[str], str | Callable[..., str]], ...] = (
    (
        finder(
            r"sk-[A-Za-z0-9_-]{4}|[srp]k_(live|test)_|(AKIA|ASIA)[A-Z0-9]{12}"
            r"|gh[pousr]_[A-Za-z0-9]{16}|github_pat_|glpat-[A-Za-z0-9_-]{16}|xox[a-z]-|xapp-"
            r"|AIza[A-Za-z0-9_-]{30}|ya29\.[A-Za-z0-9_-]{16}|hf_[A-Za-z0-9]{20}"
            r"|npm_[A-Za-z0-9]{30}|pypi-[A-Za-z0-9_-]{40}|SG\.[A-Za-z0-9_-]{16}"
            r"|whsec_[A-Za-z0-9]{16}|eyJ[A-Za-z0-9_-]{8}|-----BEGIN [A-Z0-9 ]*PRIVATE"
        ),
        re.compile("|".join(_FORMATS)),
        REDACTED,
    ),
    (
        finder(r"://[^\s/:@\"'<>?#]*:[^\s/@\"'<>]+@"),
        re.compile(r"(://[^\s/:@\"'<>?#]*:)[^\s/@\"'<>]+(?=@)"),
        rf"\1{REDACTED}",
    ),
    (
        finder(r"(?i:bearer|basic)\s+[^\s\"',;]*[0-9=]"),
        re.compile(
            r"\b((?:Bearer\s+(?=[A-Za-z0-9._~+/=-]{4})|(?:bearer|BEARER|[Bb]asic|BASIC)\s+"
            r"(?=[A-Za-z0-9._~+/=-]{8})))(?=[^\s\"',;]*[0-9=])[A-Za-z0-9._~+/=-]+"
        ),
        rf"\1{REDACTED}",
    ),
    (
        finder(r"(?i:cookie)\s{0,3}:"),
        re.compile(r"\b((?:Set-)?Cookie\s{0,3}:[ \t]*)([^\r\n\"']+)", re.IGNORECASE),
        _cookie,
    ),
)


def redact(text: str) -> str:
    """Replace every credential in a text by `[redacted]`; what is clean comes back as it is.

    Redact before cutting to length: half a credential may no longer look like one.
    """
    for may_be, pattern, replacement in _RULES:
        if may_be(text):
            text = pattern.sub(replacement, text)
    return without_named(text) if MAY_BE_NAMED(text) else text


def redact_data(value: Any) -> Any:
    """Redact JSON-like data: texts anywhere in it, and whatever a secret name stands for."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _field(key, item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact_data(item) for item in value]
    return value


def _field(key: Any, value: Any) -> Any:
    if isinstance(key, str) and is_secret_name(key):
        if isinstance(value, str):
            return REDACTED if value else value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return REDACTED
        if isinstance(value, list | tuple):
            return [REDACTED if isinstance(item, str) else redact_data(item) for item in value]
    return redact_data(value)
