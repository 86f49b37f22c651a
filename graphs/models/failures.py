"""Model errors in one line: what failed, where, and what the user can do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from graphs.models.errors import ModelError, ModelReplyError
from tools.redact import redact

MAX_LINE = 400
"""Characters of a described error."""

_OPENAI_ADVICE = {
    401: "check OPENAI_API_KEY",
    403: "check what OPENAI_API_KEY may use",
    404: "check the model's name (--model or RUNGS_MODEL) and OPENAI_BASE_URL",
}
_ADVICE = {
    401: "check the provider's key",
    403: "check what the provider's key may use",
    404: "check the model's name (--model or RUNGS_MODEL)",
}
_ERRNO = re.compile(r"^\[Errno -?\d+\] ")


def status_code(error: BaseException) -> int | None:
    """Return the HTTP status that an error of any provider's client carries."""
    for source in (error, getattr(error, "response", None)):
        if isinstance(code := getattr(source, "status_code", None), int):
            return code
    return None


def describe(error: BaseException) -> str:
    """Say in one redacted line what failed and what to do, with the number of attempts."""
    status = status_code(error)
    if status is not None:
        text, advice = _answered(error, status)
    elif {"APIConnectionError", "APITimeoutError"} & _kinds(error):
        text, advice = _unreached(error)
    elif type(error).__name__ == "APIError":  # no status: told in a reply that began well
        text, advice = f"the model server sent an error: {_said(error)}", ""
    elif isinstance(error, ModelError | ModelReplyError):
        text, advice = _said(error), ""
    else:
        said, cause = _said(error), _root(error)
        text = f"{type(error).__name__}: {said}" if said else type(error).__name__
        text += f" ({cause})" if cause is not error and str(cause) else ""
        advice = ""
    ending = f"; {advice}" if advice else ""
    line = " ".join(redact(text).split())
    if len(line) + len(ending) > MAX_LINE:
        line = f"{line[: MAX_LINE - len(ending) - 1]}…"
    notes = [note for note in getattr(error, "__notes__", ()) if note.endswith("attempts")]
    return f"{line}{ending} ({notes[-1]})" if notes else f"{line}{ending}"


def _said(error: BaseException) -> str:
    body = getattr(error, "body", None)
    said = body.get("message") if isinstance(body, Mapping) else None
    said = body if isinstance(body, str) else said
    return str(said or getattr(error, "message", None) or error or "")


def _answered(error: BaseException, status: int) -> tuple[str, str]:
    text = f"the model server answered {status}: {_said(error) or 'nothing more'}"
    return text, (_OPENAI_ADVICE if _is_openai(error) else _ADVICE).get(status, "")


def _unreached(error: BaseException) -> tuple[str, str]:
    """Tell a server that is not there, one that hangs, one that hangs up, and a bad header."""
    root, openai = _root(error), _is_openai(error)
    server, seconds = _server(error)
    names = _kinds(root)
    if "LocalProtocolError" in names:  # its text quotes the header, and so the key
        key = "OPENAI_API_KEY" if openai else "the provider's key"
        return f"the request to {server} has a header that can't be sent", f"check {key}"
    why = _ERRNO.sub("", "" if root is error else str(root))
    if "APITimeoutError" in _kinds(error):
        within = f" within {seconds:g} s" if isinstance(seconds, int | float) else " in time"
        more = ", or allow more with RUNGS_MODEL_TIMEOUT" if openai else ""
        return f"{server} gave no answer{within}", f"try again later{more}"
    reason = f" ({why})" if why else ""
    if "ConnectError" in names:
        where = "set OPENAI_BASE_URL to where it is" if openai else "check the network"
        return f"Connection to {server} failed{reason}", f"start it, or {where}"
    return f"Connection to {server} broke{reason}", "try again later"


def _server(error: BaseException) -> tuple[str, Any]:
    """Name the server by address, no credentials or paths, and say how long it was waited for."""
    request = getattr(error, "request", None)
    url = getattr(request, "url", None)
    waited = (getattr(request, "extensions", None) or {}).get("timeout") or {}
    host = getattr(url, "host", None)
    if url is None or not host:
        return "the model server", waited.get("read")
    port = f":{url.port}" if url.port else ""
    host = f"[{host}]" if ":" in host else host
    return f"the model server at {url.scheme}://{host}{port}", waited.get("read")


def _root(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _kinds(error: BaseException) -> set[str]:
    """Name an error's classes; the clients that have them are optional, and not imported here."""
    return {kind.__name__ for kind in type(error).__mro__}


def _is_openai(error: BaseException) -> bool:
    return any(kind.__module__.partition(".")[0] == "openai" for kind in type(error).__mro__)
