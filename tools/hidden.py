"""The secrets that a tool was called with, taken out of what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tools.redact import REDACTED, redact

_SHORTEST = 4
"""Characters of a value that is looked for in what its tool says; a shorter one is in any text."""


def without(text: str, hidden: Mapping[str, str]) -> str:
    """Take out of what a tool said the secret values that it was called with.

    Args:
        text: What it returned, or how it failed.
        hidden: From `secrets_of`.
    """
    for secret, shown in hidden.items():
        text = text.replace(secret, shown)
    return text


def secrets_of(real: Any, shown: Any) -> dict[str, str]:
    """Map each text that redaction changed to what it became, the longest first."""
    pairs = sorted(_changed(real, shown), key=lambda pair: -len(pair[0]))
    return {secret: became for secret, became in pairs if len(secret) >= _SHORTEST}


def _changed(real: Any, shown: Any) -> Iterator[tuple[str, str]]:
    if real == shown:
        return
    if isinstance(real, Mapping):
        for key, value in real.items():
            if isinstance(shown, Mapping) and key not in shown and isinstance(key, str):
                yield key, redact(key)
            became = shown.get(key) if isinstance(shown, Mapping) else REDACTED
            yield from _changed(value, became)
    elif isinstance(real, list):
        others = shown if isinstance(shown, list) else [REDACTED] * len(real)
        for value, became in zip(real, others, strict=True):
            yield from _changed(value, became)
    elif isinstance(real, str | int | float) and not isinstance(real, bool):
        yield str(real), str(shown)
        if isinstance(real, str) and (written := json.dumps(real)[1:-1]) != real:
            yield written, str(shown)
