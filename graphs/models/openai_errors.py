"""The stock client's errors, with credentials removed from what they show."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import openai
from langchain_openai.chat_models.base import (
    _handle_openai_api_error,
    _handle_openai_bad_request,
)

from graphs.models.errors import ModelReplyError
from tools.redact import redact, redact_data


@contextmanager
def stock_errors(key: Any) -> Iterator[None]:
    """Raise what the stock class raises, without `key` and other credentials in its text."""
    try:
        yield
    except ModelReplyError as error:
        error.args = (_hidden(str(error), _secret(key)),)
        raise
    except openai.APIError as error:
        secret = _secret(key)
        for shown in (error, error.__cause__):
            if isinstance(shown, openai.APIError):
                _conceal(shown, secret)
        _conceal_header(error)
        if type(error).__module__.startswith("langchain_openai"):
            raise
        if isinstance(error, openai.BadRequestError):
            _handle_openai_bad_request(error)
        _handle_openai_api_error(error)
    except json.JSONDecodeError as error:
        raise ModelReplyError(f"the model server sent broken JSON: {error}") from error


MIN_SECRET = 8
"""Characters from which on a key is looked for in texts; real ones have dozens."""


def _secret(key: Any) -> str:
    return str(key.get_secret_value()) if hasattr(key, "get_secret_value") else ""


def _hidden(text: str, secret: str) -> str:
    # Redacted first, and a placeholder of a few letters left alone: a key that is short, or part of
    # another credential, must not cut that one in two.
    clean = str(redact(text))
    return clean.replace(secret, "[redacted]") if len(secret) >= MIN_SECRET else clean


def _conceal(error: openai.APIError, secret: str) -> None:
    """Remove credentials in place: some servers echo the key in a 401."""

    def hide(text: str) -> str:
        return _hidden(text, secret)

    error.message = hide(error.message)
    error.args = tuple(hide(arg) if isinstance(arg, str) else arg for arg in error.args)
    error.body = json.loads(hide(json.dumps(error.body))) if _is_data(error.body) else error.body
    error.body = redact_data(error.body)


def _conceal_header(error: BaseException | None) -> None:
    """Remove what the HTTP client quotes of a header that can't be sent, which may be the key."""
    while error is not None:
        if type(error).__name__ == "LocalProtocolError":
            error.args = ("a header that can't be sent",)
        error = error.__cause__ or error.__context__


def _is_data(body: object) -> bool:
    return isinstance(body, dict | list | str)
