"""Ends the MCP servers that a killed process left behind: runs as a process of its own beside it.

A process that gets `kill -9` can end nothing itself, and a server need not end with its input. So
the owner tells this one of each server on a pipe, `+PID` when it has started and `-PID` when it has
ended. Once the owner is gone, those that are left have a moment to end by themselves, are told to,
and are killed, each with its process group. Run by path, with nothing imported that takes time.

    python -I -S reaper.py OWNER_PID
"""

import os
import select
import signal
import sys
import time

_PEACE_SECONDS = 2.0
"""How long servers may take to end by themselves, and how long once they are told to."""

_LOOK_SECONDS = 1.0
"""How often to look for the owner: a child of its own may hold the pipe open after its end."""


def main(owner: int) -> None:
    """Listen until the owner has gone, and end what it left."""
    groups: set[int] = set()
    rest = b""
    while True:
        if not select.select([0], [], [], _LOOK_SECONDS)[0]:
            if os.getppid() == owner:
                continue
            break
        piece = os.read(0, 4096)
        if not piece:
            break
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            (groups.add if line[:1] == b"+" else groups.discard)(int(line[1:]))
    _end(groups)


def _end(groups: set[int]) -> None:
    left = _left(groups, _PEACE_SECONDS)
    for how in (signal.SIGTERM, signal.SIGKILL):
        for group in left:
            _signal(group, how)
        left = _left(left, _PEACE_SECONDS)


def _left(groups: set[int], seconds: float) -> set[int]:
    """Return what still runs after some seconds; none: at once."""
    end = time.monotonic() + seconds
    while (left := {group for group in groups if _signal(group, 0)}) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def _signal(group: int, number: int) -> bool:
    """Send a signal to a group; 0 only asks whether anybody is in it."""
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main(int(sys.argv[1]))
