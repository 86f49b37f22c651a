"""The command line `rungs`: ask a question, go on with a thread, look at what was recorded."""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

CANCELLED = 130


def main() -> None:
    """Run `rungs` with the process's arguments and exit with its code."""
    try:
        code = run(sys.argv[1:])
        # All is done and told: a Ctrl-C from here on ends the process, and not by a signal.
        signal.signal(signal.SIGINT, lambda *_: leave(CANCELLED))
    except KeyboardInterrupt:
        code = CANCELLED
    if code == CANCELLED:
        # Ctrl-C may have hit the start of a thread that nobody knows of now: don't wait for it.
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
            sys.stderr.flush()
        leave(code)
    sys.exit(code)


def leave(code: int) -> NoReturn:
    """End this process as it is, and the MCP servers that it started."""
    if loop := sys.modules.get("tools.mcp.loop"):
        loop.kill_servers()
    os._exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    Args:
        arguments: What follows `rungs` on the command line.

    Returns:
        The exit code: 0 answered, 1 failed, 2 wrong usage, 3 capped or stuck, 4 waiting for
        approval, 130 cancelled.
    """
    _prefer_our_packages()
    from graphs.cli.failures import PIPE_CLOSED, PipeClosedError, abandon_stdout, report
    from graphs.cli.screen import prepare_streams

    arguments, debug = _take_debug(arguments)
    arguments = _without_reason(arguments)
    prepare_streams(debug=debug)
    try:
        code = _invoke(arguments or ["--help"])
        sys.stdout.flush()
    except (PipeClosedError, BrokenPipeError):
        abandon_stdout()
        return PIPE_CLOSED
    except KeyboardInterrupt as error:
        return report(error, debug=debug)
    except Exception as error:  # noqa: BLE001 - whatever went wrong ends in one line, not in a traceback
        return report(error, debug=debug)
    return code


def _invoke(arguments: list[str]) -> int:
    """Run the command; Typer's own entry point would swallow a Ctrl-C and a closed pipe."""
    from typer import Exit
    from typer.main import get_command

    from graphs.cli.app import app

    command = get_command(app)
    try:
        with command.make_context("rungs", arguments) as context:
            return int(command.invoke(context) or 0)
    except Exit as finished:
        return finished.exit_code


def _prefer_our_packages() -> None:
    """Let no stray `tools` or `prompts` in site-packages win over those beside this package."""
    home = str(Path(__file__).resolve().parents[2])
    if home in sys.path:
        sys.path.remove(home)
    sys.path.insert(0, home)


def _take_debug(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """Take `--debug` out, wherever it stands; what follows `--` are words of the user's."""
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    options = [word for word in words[:end] if word != "--debug"]
    return [*options, *words[end:]], len(options) < end


def _without_reason(words: list[str]) -> list[str]:
    """Give `rungs resume --reject` without a reason an empty one: Typer's options need a value."""
    if words[:1] != ["resume"]:
        return words
    end = words.index("--") if "--" in words else len(words)
    following = [*words[1:], "-"]
    return [
        "--reject=" if word == "--reject" and place < end and after.startswith("-") else word
        for place, (word, after) in enumerate(zip(words, following, strict=True))
    ]
