"""A Postgres server to measure on: the one that is named, or one of its own while it is needed."""

import importlib.util
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

PACKAGES = ("psycopg", "psycopg_pool", "langgraph.checkpoint.postgres")


@contextmanager
def postgres(url: str | None) -> Iterator[tuple[str | None, str]]:
    """Yield the URL of a server, or None and why there is none.

    Args:
        url: The server that is named; None starts one, in a folder that is removed afterwards.
    """
    lacking = [name for name in PACKAGES if not _is_there(name)]
    programs = {name: _program(name) for name in ("initdb", "pg_ctl")}
    if lacking:
        yield None, f"{lacking[0]} is not installed"
    elif url is not None:
        yield url, ""
    elif None in programs.values():
        yield None, "this machine has no Postgres; name a server by its URL"
    else:
        with TemporaryDirectory() as folder:
            yield from _started(Path(folder), **{name: str(p) for name, p in programs.items()})


def _started(folder: Path, initdb: str, pg_ctl: str) -> Iterator[tuple[str, str]]:
    """Start a server that listens on this machine alone."""
    data, log = folder / "data", folder / "log"
    # Postgres does not run as root.
    as_user: list[str] = []
    if os.geteuid() == 0:
        as_user = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = f"-h 127.0.0.1 -p {port} -k {folder}"
    make = [*as_user, initdb, "-D", str(data), "-U", "postgres", "-A", "trust"]
    start = [*as_user, pg_ctl, "-D", str(data), "-l", str(log), "-w", "-o", options, "start"]
    stop = [*as_user, pg_ctl, "-D", str(data), "-m", "fast", "-w", "stop"]
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL, cwd=folder)
    subprocess.run(start, check=True, stdout=subprocess.DEVNULL, cwd=folder)
    try:
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres", ""
    finally:
        subprocess.run(stop, check=True, stdout=subprocess.DEVNULL, cwd=folder)


def _is_there(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _program(name: str) -> str | None:
    """Find a program of Postgres, which Debian keeps out of the PATH."""
    found = shutil.which(name)
    others = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return found or (str(others[-1]) if others else None)
