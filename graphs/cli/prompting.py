"""Ask the person at the terminal about the calls that wait."""

import sys
from collections.abc import Callable
from contextlib import suppress

from graphs.cli.answers import Decisions, check_text, decide
from graphs.cli.pauses import Pause, WaitingCall, as_text
from graphs.cli.screen import Screen, one_line
from graphs.errors import UsageError

CHOICES = "[a]pprove, [r]eject, [e]dit, re[s]pond or [l]eave it waiting"
LEAVE = "leave"
_WORDS = {
    **dict.fromkeys(("a", "approve", "y", "yes"), "approve"),
    **dict.fromkeys(("r", "reject", "n", "no"), "reject"),
    **dict.fromkeys(("e", "edit"), "edit"),
    **dict.fromkeys(("s", "respond"), "respond"),
    **dict.fromkeys(("l", "leave", "q", "quit"), LEAVE),
}
_ASKED = {
    "reject": "reason, or nothing: ",
    "edit": "arguments as one line of JSON, or nothing to go back: ",
    "respond": "text that the model is given as the result, or nothing to go back: ",
}


def can_ask(screen: Screen) -> bool:
    """Tell whether somebody is there to be asked."""
    terminals = (sys.stdin, sys.stdout)
    return not screen.silent and all(stream is not None and stream.isatty() for stream in terminals)


def _forget_typed() -> None:
    """Drop what was typed before the question was shown: it is no answer to it."""
    try:
        import termios
    except ImportError:
        return
    with suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def read_line(prompt: str) -> str:
    """Read a line, with the prompt on stdout: without readline, Python has it on stderr."""
    try:
        import readline  # noqa: F401 - `input` edits lines with it once it is there
    except ImportError:
        sys.stdout.write(prompt)
        sys.stdout.flush()
        prompt = ""
    return input(prompt)


def ask_person(
    pause: Pause, screen: Screen, read: Callable[[str], str] = read_line
) -> Decisions | None:
    """Ask about each call in turn; nothing runs before all of them are decided.

    Args:
        pause: What waits.
        screen: Where it is shown.
        read: Reads a line, given what to show before it.

    Returns:
        The decisions; None leaves all of it waiting.

    Raises:
        KeyboardInterrupt: Ctrl-C; all of it waits on.
    """
    decisions = []
    _forget_typed()
    if pause.problem:
        screen.text()
        screen.text(f"that decided nothing: {one_line(pause.problem)}", "yellow")
    for place, call in enumerate(pause.calls, start=1):
        _show(call, f" ({place} of {len(pause.calls)})" if len(pause.calls) > 1 else "", screen)
        decision = None
        while decision is None:
            try:
                decision = _ask(call, screen, read)
            except EOFError:
                screen.text()
                return None
            except UnicodeDecodeError:
                screen.text("that is not UTF-8 text", "yellow")
            except UsageError as error:
                screen.text(str(error), "yellow")
        if decision["type"] == LEAVE:
            return None
        decisions.append(decision)
    return decisions


def _show(call: WaitingCall, place: str, screen: Screen) -> None:
    """Show a call, its arguments whole."""
    screen.text()
    screen.text(f"{one_line(call.tool)} waits for your yes{place}", "bold")
    # Above the arguments: no line that they wrap into can pass for it.
    screen.text(f"  effect: {one_line(call.description)}")
    for name, value in call.arguments.items():
        screen.text(f"  {one_line(name)}: {as_text(value)}")
    if not call.arguments:
        screen.text("  no arguments")


def _ask(call: WaitingCall, screen: Screen, read: Callable[[str], str]) -> dict[str, object] | None:
    """Ask once about a call; None asks again."""
    word = read(f"{CHOICES}? ").strip().lower()
    kind = _WORDS.get(word)
    if kind is None:
        if word:
            screen.text("type one of the words, or its letter", "yellow")
        return None
    if kind == LEAVE:
        return {"type": LEAVE}
    if kind == "edit":
        _offer(as_text(call.arguments))
    text = read(_ASKED[kind]).strip() if kind in _ASKED else ""
    if not text and kind in {"edit", "respond"}:
        return None
    check_text(text)
    return decide(call, kind, text)


def _offer(text: str) -> None:
    """Let the arrow up bring a text to edit, where Python was built with readline."""
    with suppress(ImportError):
        import readline

        readline.add_history(text)
