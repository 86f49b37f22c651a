"""Which model errors are worth another try, and how long to wait for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn

import tenacity
from langchain_core.exceptions import ContextOverflowError
from langchain_core.exceptions import ModelError as ProviderError

from graphs.models.errors import ModelError, ModelReplyError
from graphs.models.failures import MAX_LINE, describe, status_code

__all__ = [
    "ATTEMPTS",
    "MAX_LINE",
    "MAX_RETRY_AFTER",
    "async_retrying",
    "describe",
    "is_configuration",
    "is_content_filter",
    "is_context_overflow",
    "is_transient",
    "retry_after",
    "retrying",
    "status_code",
]

ATTEMPTS = 3
MAX_RETRY_AFTER = 30.0
"""Seconds; a server that asks for more is asked again after this long all the same."""

_TRANSIENT_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_OVERFLOW_WORDS = ("context_length_exceeded", "exceed_context_size", "context length", "n_ctx")
_BACKOFF = tenacity.wait_exponential(multiplier=0.5, max=8.0) + tenacity.wait_random(0, 0.5)


def is_transient(error: BaseException) -> bool:
    """Say whether the same request may succeed later: rate limits, 5xx, connections, bad replies.

    An error told in a reply that began well (an `APIError` without a status) is a bad reply. A
    used-up quota is a 429 that no waiting cures.
    """
    if isinstance(error, ModelReplyError):
        return True
    if getattr(error, "code", None) == "insufficient_quota":
        return False
    if (status := status_code(error)) is not None:
        return status in _TRANSIENT_STATUS
    if isinstance(error, ProviderError):
        return bool(getattr(error, "is_retryable", False))
    # The class itself: other providers' clients derive their 4xx from one of this name.
    if isinstance(error, ConnectionError | TimeoutError) or type(error).__name__ == "APIError":
        return True
    # httpx, httpx2 and the clients on them are optional: known by their classes' names.
    names = {cls.__name__ for cls in type(error).__mro__}
    return not names.isdisjoint({"TransportError", "APIConnectionError", "APITimeoutError"})


def is_configuration(error: BaseException) -> bool:
    """Say whether the user must change something: key, permission, model name, package."""
    return isinstance(error, ModelError) or status_code(error) in {401, 403, 404}


def is_context_overflow(error: BaseException) -> bool:
    """Say whether the request was longer than the model's context, in any server's words."""
    if isinstance(error, ContextOverflowError):
        return True
    told = (error, *(getattr(error, name, None) for name in ("body", "code", "type")))
    text = " ".join(map(str, told)).lower()
    return status_code(error) in {400, 413} and any(word in text for word in _OVERFLOW_WORDS)


def is_content_filter(error: BaseException) -> bool:
    """Say whether the server's content filter refused the request, as Azure tells it: a 400."""
    body = getattr(error, "body", None)
    inner = body.get("innererror") if isinstance(body, Mapping) else None
    codes = {
        getattr(error, "code", None),
        body.get("code") if isinstance(body, Mapping) else None,
        inner.get("code") if isinstance(inner, Mapping) else None,
    }
    named = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
    return status_code(error) in {400, 403} and not codes.isdisjoint(named)


def retry_after(error: BaseException | None, now: Callable[[], float] = time.time) -> float | None:
    """Return the seconds that the server asked to wait, at most `MAX_RETRY_AFTER`; None if none."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    if not isinstance(headers, Mapping):
        return None
    seconds: float | None = None
    try:
        if (text := headers.get("retry-after-ms")) is not None:
            seconds = float(text) / 1000
        elif (text := headers.get("retry-after")) is not None:
            seconds = float(text) if _is_number(text) else _until(text, now())
    except (TypeError, ValueError):
        return None
    return None if seconds is None else min(max(seconds, 0.0), MAX_RETRY_AFTER)


def _is_number(text: str) -> bool:
    return text.strip().replace(".", "", 1).isdecimal()


def _until(text: str, now: float) -> float:
    date = parsedate_to_datetime(text)
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return (date - datetime.fromtimestamp(now, UTC)).total_seconds()


def _wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = retry_after(error)
    return _BACKOFF(state) if asked is None else asked


def _give_up(state: tenacity.RetryCallState) -> NoReturn:
    error = state.outcome.exception() if state.outcome else None
    assert error is not None  # noqa: S101 - only a failed attempt is given up
    error.add_note(f"{state.attempt_number} attempts")
    raise error


def retrying(
    attempts: int = ATTEMPTS,
    *,
    sleep: Callable[[float], None] = time.sleep,
    before_sleep: Callable[[tenacity.RetryCallState], None] | None = None,
) -> tenacity.Retrying:
    """Make the loop around one model call; the last error is raised as it came.

    `before_sleep` is told of each failed attempt (`state.attempt_number`, `state.outcome`).
    """
    return tenacity.Retrying(sleep=sleep, **_policy(attempts, before_sleep))


def async_retrying(
    attempts: int = ATTEMPTS,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    before_sleep: Callable[[tenacity.RetryCallState], None] | None = None,
) -> tenacity.AsyncRetrying:
    """Make the same loop for an async call."""
    return tenacity.AsyncRetrying(sleep=sleep, **_policy(attempts, before_sleep))


def _policy(attempts: int, before_sleep: Any) -> dict[str, Any]:
    return {
        "stop": tenacity.stop_after_attempt(attempts),
        "wait": _wait,
        "retry": tenacity.retry_if_exception(is_transient),
        "before_sleep": before_sleep,
        "retry_error_callback": _give_up,
    }
