"""The mark that stands for a secret, among arguments: it is no value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.redact import REDACTED

MARKED = (
    f"not executed: {REDACTED} stands for a secret that was taken out of the conversation, and is "
    "no value: leave it out, or ask the user for it"
)

MARKED_EDIT = f"the edit holds {REDACTED}, which stands for a secret and is no value: give one"


def is_marked(arguments: Any) -> bool:
    """Whether a value among arguments is the mark of something taken out."""
    if isinstance(arguments, Mapping):
        return any(map(is_marked, arguments.values()))
    if isinstance(arguments, list):
        return any(map(is_marked, arguments))
    return bool(arguments == REDACTED)


def restored(edited: Any, shown: Any, real: Any) -> Any:
    """Return edited arguments where what was shown redacted, and left alone, is real again."""
    if edited == shown:
        return real
    if isinstance(edited, Mapping) and isinstance(shown, Mapping) and isinstance(real, Mapping):
        return {
            key: restored(value, shown[key], real[key]) if key in shown and key in real else value
            for key, value in edited.items()
        }
    if isinstance(edited, list) and isinstance(shown, list) and len(edited) == len(shown):
        return [restored(*three) for three in zip(edited, shown, real, strict=True)]
    return edited
