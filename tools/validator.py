"""Validators of JSON schemas, made once a tool; nothing is ever fetched."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, time
from typing import Any, NoReturn, cast

import jsonschema_rs
from jsonschema_rs import Validator

from tools.errors import ContractError
from tools.text import one_line, shorten

__all__ = ["STRICT_TIMES", "Formats", "Validator", "compiled"]

Formats = Mapping[str, Callable[[str], bool]]


def compiled(tool: str, schema: Mapping[str, Any], formats: Formats | None = None) -> Validator:
    """Make the validator of a schema; formats are checked, dates and times as ISO 8601.

    Args:
        tool: What to call it in an error.
        schema: The schema.
        formats: Other rules for some formats.

    Raises:
        ContractError: The schema breaks the rules of JSON schema or can't be resolved.
    """
    try:
        return jsonschema_rs.validator_for(
            cast("dict[str, Any]", schema),
            validate_formats=True,
            formats={**_FORMATS, **(formats or {})},
            retriever=_never_fetch,
        )
    except jsonschema_rs.ValidationError as exc:
        where = "".join(f"[{part!r}]" for part in exc.instance_path)
        reason = shorten(one_line(exc.message), 300)
        raise ContractError(tool, f"its schema{where} is not valid: {reason}") from None
    except (ValueError, TypeError) as exc:
        reason = shorten(one_line(str(exc)), 300)
        raise ContractError(tool, f"its schema is not usable: {reason}") from None


def _never_fetch(uri: str) -> NoReturn:
    raise ValueError(f"schemas are never fetched; put what {uri!r} refers to under $defs")


def _iso(read: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return True

    return check


_TIME = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})?"


def _written(pattern: str, check: Callable[[str], bool]) -> Callable[[str], bool]:
    form = re.compile(pattern)
    return lambda text: form.fullmatch(text) is not None and check(text)


_FORMATS = {"date-time": _iso(datetime.fromisoformat), "time": _iso(time.fromisoformat)}
"""Without an offset too: RFC 3339 demands one, Python and the models that write dates do not."""

STRICT_TIMES: Formats = {
    "date-time": _written(f"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[Tt ]{_TIME}", _FORMATS["date-time"]),
    "time": _written(_TIME, _FORMATS["time"]),
}
"""As RFC 3339 writes them, an offset or none: no weeks, no compact forms, no hour alone."""
