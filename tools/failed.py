"""How a call that a toolkit makes says that it gave no result."""

from __future__ import annotations

from tools.redact import redact
from tools.wrapper import Code, Failure


class FailedError(Exception):
    """A call gave no result; `failure` says why, without secrets."""

    def __init__(self, code: Code, message: str, *, retryable: bool = False) -> None:
        super().__init__(message := redact(message))
        self.failure = Failure(code, message, retryable)
