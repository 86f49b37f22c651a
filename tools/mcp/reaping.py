"""Has the servers of this process ended also where it is killed, and can end nothing itself."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

_PROGRAM = Path(__file__).with_name("reaper.py")
_END_SECONDS = 1.0


class Reaper:
    """The process beside this one that outlives it; started when it is first told of a server.

    Not on Windows, where the SDK puts servers into a job that ends with its owner.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._servers: set[int] = set()

    def began(self, pid: int) -> None:
        """Tell it of a server, which leads a process group."""
        if sys.platform == "win32" or not sys.executable:
            return
        with self._lock:
            self._servers.add(pid)
            if self._process is None or self._process.poll() is not None:
                self._process = _started()
                for server in self._servers:
                    self._tell(f"+{server}")
            else:
                self._tell(f"+{pid}")

    def ended(self, pid: int) -> None:
        """Tell it that a server has ended: its number may be another's from now on."""
        with self._lock:
            if pid in self._servers:
                self._servers.discard(pid)
                self._tell(f"-{pid}")

    def close(self) -> None:
        """Let it end: this process is about to, and has ended its servers."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                process.stdin.close()
                process.wait(_END_SECONDS)

    def _tell(self, line: str) -> None:
        pipe = self._process.stdin if self._process is not None else None
        if pipe is not None:
            with contextlib.suppress(OSError):  # it was killed: the next server starts another
                pipe.write(line.encode() + b"\n")


def _started() -> subprocess.Popen[bytes] | None:
    """Start it away from the terminal, whose Ctrl-C is for its owner; None: there is no room."""
    try:
        return subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-I", "-S", str(_PROGRAM), str(os.getpid())],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
    except OSError:
        return None


reaper = Reaper()
