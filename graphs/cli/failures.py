"""How a command ends that does not answer: its exit code, and a line that says what to do."""

import errno
import os
import sys
import traceback

from graphs.cli import CANCELLED

FAILED = 1
USAGE = 2
PIPE_CLOSED = 141

_FULL = {errno.ENOSPC, errno.EDQUOT}

EXIT_CODES = {
    "answered": 0,
    "record": 0,
    "rejected": FAILED,
    "no_answer": FAILED,
    "refused": FAILED,
    "tool_limit": 3,
    "turn_limit": 3,
    "stuck": 3,
    "context_exhausted": 3,
    "stopped_early": 3,
    "waiting": 4,
    "cancelled": CANCELLED,
}
"""What the shell is told for each status of a run."""


class PipeClosedError(Exception):
    """Whoever read our output has gone; there is nobody left to tell."""


def report(error: BaseException, *, debug: bool) -> int:
    """Tell on stderr, in one line, what went wrong, and return the exit code."""
    if debug and not isinstance(error, KeyboardInterrupt):
        traceback.print_exception(error)
    code, text = explain(error)
    complain(text)
    return code


def complain(text: str) -> None:
    """Say something on stderr, in one line; a reader who has gone is no reason to fail."""
    from graphs.cli.screen import one_line

    try:
        sys.stderr.write(f"rungs: {one_line(text)}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass


def explain(error: BaseException) -> tuple[int, str]:
    """Return the exit code for an exception, and the line that explains it.

    A `ValueError` of our own packages, and what Typer says of the options, is the caller's mistake
    (2); anything else is a failure (1).
    """
    from graphs.cli.screen import one_line

    if _is_interrupt(error):
        return CANCELLED, "cancelled"
    from typer.exceptions import Abort, TyperException

    if isinstance(error, Abort):
        return CANCELLED, "cancelled"
    if isinstance(error, TyperException):
        command = getattr(getattr(error, "ctx", None), "command_path", "rungs")
        return USAGE, f"{one_line(error.format_message()).rstrip('.')} (see {command} --help)"
    if isinstance(error, ValueError) and _is_ours(type(error)):
        return USAGE, one_line(str(error))
    if isinstance(error, OSError) and error.errno in _FULL:
        place = f" for {error.filename}" if error.filename else ""
        return FAILED, f"no space is left{place}: free some, or write elsewhere, and try again"
    from tools.results import describe_error

    return FAILED, f"{one_line(describe_error(error))} (--debug shows where)"


def _is_interrupt(error: BaseException) -> bool:
    """Tell whether it is a Ctrl-C, or what an import that one hit made of it.

    Pydantic tells in the text of its `SchemaError` alone that it was one.
    """
    cause = error.__cause__
    is_one = isinstance(error, KeyboardInterrupt) or KeyboardInterrupt.__name__ in str(error)
    return is_one or (cause is not None and _is_interrupt(cause))


def _is_ours(kind: type[BaseException]) -> bool:
    return kind.__module__.partition(".")[0] in {"graphs", "tools", "prompts"}


def abandon_stdout() -> None:
    """Point stdout nowhere, so that Python's flush at exit does not complain of the pipe."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass


def is_closed_pipe(error: OSError) -> bool:
    """Tell whether writing failed because the reader has gone (Windows says EINVAL)."""
    return isinstance(error, BrokenPipeError) or error.errno in {errno.EPIPE, errno.ESHUTDOWN}
