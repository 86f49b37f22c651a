"""Secrets out of text and data, before it is stored, streamed, logged or shown to a model.

Looked for are what looks like a credential by itself (`sk-…`, `ghp_…`, `AKIA…`, JSON web tokens,
private keys, `Bearer …`, a password in a URL), what is called one (`password=…`, `"api_key": "…"`),
card numbers (Luhn-checked), what a tools file names (`tools.redaction_policy`), and, within a run,
the e-mail addresses of others.

Whose addresses may be seen, and which tools file is in force, is known to the run. So a run puts
its filter in force (`in_force`), and whoever redacts in it, tools included, goes by that. Outside
of a run e-mail addresses stay: what was stored is redacted already.

Text without any is told by linear regular expression engines: some 0.2 ms for 20,000 characters.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from tools.redaction_policy import DEFAULT_POLICY
from tools.redaction_rules import REDACTED
from tools.redactor import Found, Own, Redactor, redactor_for
from tools.secret_names import is_secret_name

__all__ = [
    "REDACTED",
    "Filter",
    "Found",
    "current_filter",
    "hides",
    "in_force",
    "is_secret_name",
    "redact",
    "redact_data",
    "redact_result",
]


@dataclass(frozen=True, slots=True)
class Filter:
    """What is taken out in one run.

    Attributes:
        redactor: Goes by the tools file's policy.
        own: Returns the addresses that the run's user may see; None: all of them.
    """

    redactor: Redactor
    own: Own | None = None


_current: ContextVar[Filter | None] = ContextVar("redaction", default=None)


def current_filter() -> Filter:
    """Return the filter in force."""
    return _current.get() or Filter(redactor_for(DEFAULT_POLICY))


@contextlib.contextmanager
def in_force(filter_: Filter) -> Iterator[None]:
    """Put a filter in force, also for the threads and tasks that are started meanwhile."""
    token = _current.set(filter_)
    try:
        yield
    finally:
        _current.reset(token)


def redact(text: str, found: Found | None = None) -> str:
    """Replace every secret in a text by `[redacted]`; what is clean comes back as it is.

    Redact before cutting to length: half a credential may no longer look like one.

    Args:
        text: Any text.
        found: Where what is taken out is counted, by kind.
    """
    filter_ = current_filter()
    return filter_.redactor.text(text, found, filter_.own)


def redact_result(text: str, found: Found | None = None) -> str:
    """Redact the text of a tool's result, also the objects that hidden fields of JSON hold."""
    filter_ = current_filter()
    return filter_.redactor.result(text, found, filter_.own)


def redact_data(value: Any, found: Found | None = None) -> Any:
    """Redact JSON-like data: texts anywhere in it, and whatever a secret name stands for."""
    filter_ = current_filter()
    return filter_.redactor.data(value, found, filter_.own)


def hides(name: str) -> bool:
    """Whether the value of a field of this name is never shown."""
    return current_filter().redactor.hides(name)
