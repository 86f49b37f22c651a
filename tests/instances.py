"""Servers of the tests' own for more than one machine: Redis, and instances of Aegra."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.cli import ROOT
from tests.composed import compose, image
from tests.composed import environment as variables
from tests.serving import free_port

AEGRA = os.environ.get("RUNGS_AEGRA", "")
"""A Python that has Aegra; `make test-cluster` makes one and names it."""

SOON = {
    "LEASE_DURATION_SECONDS": "5",
    "HEARTBEAT_INTERVAL_SECONDS": "2",
    "REAPER_INTERVAL_SECONDS": "1",
    "BLPOP_TIMEOUT_SECONDS": "1",
}
"""A lost instance is noticed after five seconds rather than thirty."""


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """Run a Redis server for a while, and lend its URL."""
    program, port = shutil.which("redis-server"), free_port()
    if program is None:
        raise FileNotFoundError("Redis is not installed: apt-get install redis-server")
    options = [*("--bind", "127.0.0.1"), *("--save", ""), *("--appendonly", "no")]
    server = subprocess.Popen(
        [program, "--port", str(port), "--dir", str(folder), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait(timeout=30)


@dataclass(frozen=True)
class Instance:
    """One instance.

    Attributes:
        url: Its address.
        process: The process that serves and runs.
        log: What it wrote.
    """

    url: str
    process: "subprocess.Popen[bytes]"
    log: Path

    def is_well(self) -> bool:
        """Ask as the image's health check does."""
        port = str(urlsplit(self.url).port)
        check = [part.replace(str(image().port), port) for part in image().health]
        return subprocess.run([AEGRA, *check[1:]], capture_output=True, check=False).returncode == 0

    def wait_until_ready(self) -> None:
        """Wait until it is well."""
        end = time.monotonic() + 120
        while not self.is_well():
            said = self.log.read_text(encoding="utf-8", errors="replace")
            assert self.process.poll() is None, said[-5000:]
            assert time.monotonic() < end, said[-5000:]
            time.sleep(0.2)

    def stop(self) -> None:
        """Ask it to stop, and kill it where it has not by the time that the compose file gives."""
        seconds = float(compose()["services"]["one"]["stop_grace_period"].removesuffix("s"))
        self.process.terminate()
        try:
            self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def kill(self) -> None:
        """Kill it without a word, and wait until it is gone."""
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=30)


@contextmanager
def instance(
    name: str,
    folder: Path,
    database: str,
    redis_url: str,
    environment: Mapping[str, str],
    *,
    root: Path = ROOT,
) -> Iterator[Instance]:
    """Run what the compose file runs, on this machine; it may not answer yet.

    The command is the image's and the variables are the service's, but for where things are: files,
    servers and ports. At the end it is asked to stop, as an engine asks it.
    """
    port, given = free_port(), image()
    where = urlsplit(database)
    log = folder / f"{name}.log"
    elsewhere = {
        "POSTGRES_HOST": where.hostname or "",
        "POSTGRES_PORT": str(where.port),
        "POSTGRES_USER": unquote(where.username or ""),
        "POSTGRES_PASSWORD": unquote(where.password or ""),
        "POSTGRES_DB": where.path[1:],
        "REDIS_URL": redis_url,
        "RUNGS_KEY": str(folder / "key"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PORT": str(port),
    }
    told = {k: v.replace(given.folder, str(root), 1) for k, v in variables("one").items()}
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "TMPDIR")}
    here = {"0.0.0.0": "127.0.0.1", str(given.port): str(port)}  # noqa: S104 - in a container
    with log.open("wb") as out:
        process = subprocess.Popen(
            [AEGRA, *(here.get(part, part) for part in given.command[1:])],
            cwd=folder,
            env={**kept, **told, **SOON, **elsewhere, **environment},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    started = Instance(f"http://127.0.0.1:{port}", process, log)
    try:
        yield started
    finally:
        started.stop()
