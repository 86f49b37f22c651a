"""What Postgres can't hold as it is, in texts and JSON: zero bytes, lone surrogates, NaN.

The memory file holds them all. So that nothing is lost, and no run ends over it, such a text is
stored as JSON in ASCII, behind a mark that no other text begins with.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

_MARK = "\ue000rungs:"
_WHOLE = "rungs_json"
_UNFIT = re.compile(r"[\x00\ud800-\udfff]")
_UNFIT_JSON = re.compile(r"\\u0000|\\ud[89a-f][0-9a-f]{2}|NaN|Infinity")


def stored_text(text: str) -> str:
    """Return a text as it may be stored."""
    if _UNFIT.search(text) or text.startswith(_MARK):
        return _MARK + json.dumps(text)
    return text


def read_text(stored: str) -> str:
    """Return the text that `stored_text` was given."""
    return json.loads(stored[len(_MARK) :]) if stored.startswith(_MARK) else stored


def stored_value(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item's value as it may be stored as JSON."""
    text = json.dumps(value)
    if _WHOLE in value or _UNFIT_JSON.search(text):
        return {_WHOLE: text}
    return dict(value)


def read_value(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the value that `stored_value` was given."""
    if stored.keys() == {_WHOLE}:
        value: dict[str, Any] = json.loads(stored[_WHOLE])
        return value
    return stored


def is_fit(value: Any) -> bool:
    """Tell whether a value of the state may lie in a checkpoint's JSON."""
    if isinstance(value, str):
        return _UNFIT.search(value) is None
    if isinstance(value, float):
        return abs(value) < float("inf")
    return True
