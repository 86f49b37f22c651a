"""Tools for servers of the tests': what they do is counted in a file, and they wait at a gate."""

import os
import time
from pathlib import Path

PATIENCE = 120.0
"""Seconds until a tool at a gate that nobody opens gives up."""


def _folder() -> Path:
    return Path(os.environ["RUNGS_TEST_FOLDER"])


def note(what: str) -> None:
    """Write down, in one write, what was done and by which process."""
    with (_folder() / "done").open("a", encoding="utf-8") as file:
        file.write(f"{what} {os.getpid()}\n")


def wait_at_the_gate() -> None:
    """Wait until the gate is open."""
    end = time.monotonic() + PATIENCE
    while not (_folder() / "gate").exists() and time.monotonic() < end:
        time.sleep(0.05)


def act(label: str) -> str:
    """Do something that is counted."""
    note(f"act:{label}")
    return f"did {label}"


def look(label: str) -> str:
    """Look at something for as long as the gate is closed."""
    note(f"look:{label}")
    wait_at_the_gate()
    note(f"looked:{label}")
    return f"saw {label}"


def act_slowly(label: str) -> str:
    """Do something that is counted, and be busy with it for as long as the gate is closed."""
    note(f"act:{label}")
    wait_at_the_gate()
    return f"did {label}"
