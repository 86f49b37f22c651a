"""What a server calls its tools, and what a model may be shown instead."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]+")
_MOST = 64
_MARK = 6


def exposed(name: str) -> str:
    """Return the name under which a tool is offered.

    A name that every provider takes (1 to 64 letters, digits, `_` and `-`) stays as it is. Any
    other is spelled with these, and ends in six digits of its own hash: so the name depends on
    nothing else that is offered, means the same tool in every process and every old thread, and is
    never the name of another.
    """
    if len(name) <= _MOST and name and not _NOT_IN_A_NAME.search(name):
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    spelled = _NOT_IN_A_NAME.sub("_", plain).strip("_") or "tool"
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
    return f"{spelled[: _MOST - _MARK - 1]}_{mark}"
