"""Servers of the tests' own for more than one machine: Redis, and instances of Aegra."""

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.cli import ROOT
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

    def wait_until_ready(self) -> None:
        """Wait until it answers."""
        end = time.monotonic() + 120
        while True:
            said = self.log.read_text(encoding="utf-8", errors="replace")
            assert self.process.poll() is None, said[-5000:]
            assert time.monotonic() < end, said[-5000:]
            with suppress(OSError), urllib.request.urlopen(f"{self.url}/health", timeout=10) as ok:
                assert json.load(ok)["status"] == "healthy"
                return
            time.sleep(0.2)

    def kill(self) -> None:
        """Kill it without a word, and wait until it is gone."""
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=30)


@contextmanager
def instance(
    name: str, folder: Path, database: str, redis_url: str, environment: Mapping[str, str]
) -> Iterator[Instance]:
    """Run an instance on the configuration in `deploy`; it may not answer yet."""
    port = free_port()
    log = folder / f"{name}.log"
    command = [AEGRA, "-m", "uvicorn", "aegra_api.main:app", "--host", "127.0.0.1"]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RUNGS_", "LANGSMITH_"))}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "--port", str(port)],
            cwd=folder,
            env={
                **kept,
                **SOON,
                "AEGRA_CONFIG": str(ROOT / "deploy" / "aegra.json"),
                "DATABASE_URL": database,
                "REDIS_BROKER_ENABLED": "true",
                "REDIS_URL": redis_url,
                "LANGSMITH_TRACING": "false",
                "PORT": str(port),
                "RUNGS_KEY": str(folder / "key"),
                "XDG_CACHE_HOME": str(folder / "cache"),
                **environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    started = Instance(f"http://127.0.0.1:{port}", process, log)
    try:
        yield started
    finally:
        started.kill()
