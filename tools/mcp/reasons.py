"""Why a server can't be reached or understood, in a few words."""

from __future__ import annotations

import httpx
from pydantic import ValidationError

from tools.text import one_line, shorten

UNREADABLE = "it sent a message that can't be read"
_LENGTH = 200


def reason_of(error: BaseException) -> str:
    """Say what an exception means, or the first one of a group that means something."""
    match error:
        case BaseExceptionGroup():
            told = reason_of(error.exceptions[0])
        case httpx.HTTPStatusError():
            told = f"it answers with HTTP {error.response.status_code}"
        case httpx.ConnectError() | httpx.ConnectTimeout():
            told = "nobody answers at its address"
        case FileNotFoundError():
            told = f"there is no {error.filename!r}"
        case PermissionError():
            told = f"{error.filename!r} may not be run"
        case TimeoutError():
            told = "it gave no answer in time"
        case ValidationError():
            told = _unread(error)
        case _:
            told = one_line(f"{type(error).__name__}: {error}").rstrip(": ")
    return shorten(told, _LENGTH)


def is_unreachable(error: BaseException | None) -> bool:
    """Tell whether nobody took the request: then it took no effect."""
    if isinstance(error, BaseExceptionGroup):
        return is_unreachable(error.exceptions[0])
    return isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)


def ended_with(code: int, last_words: str) -> str:
    """Say how a process ended.

    Args:
        code: Its exit code; negative for a signal.
        last_words: The last line it wrote to stderr, which says why where it ended by itself.
    """
    if code < 0:
        return f"its process was ended by signal {-code}"
    said = f" ({shorten(one_line(last_words), _LENGTH)})" if code and last_words else ""
    return f"its process ended with exit code {code}{said}"


def _unread(error: ValidationError) -> str:
    """Tell a message of the protocol that can't be read from what was never meant to be one."""
    first = error.errors(include_url=False, include_context=False)[0]
    given = first["input"]
    if isinstance(given, dict | str) and ("jsonrpc" in given):
        return f"{UNREADABLE}: {shorten(one_line(first['msg']), _LENGTH)}"
    written = shorten(one_line(str(given)), 80)
    return f"it writes to its standard output what is no message: {written}"
