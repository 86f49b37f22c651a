"""A Postgres server of the tests' own: in a folder of its own, on a port that is free."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.serving import free_port

PASSWORD = "s3cret of the tests"
USER = "rungs"
ROOM = 2**30
"""Bytes that must be free where a database in memory is."""


def programs() -> Path | None:
    """Return where initdb and pg_ctl are: beside each other, newest version first."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    beside = shutil.which("initdb")
    return next((each.parent for each in [*found, *([Path(beside)] if beside else [])]), None)


@contextmanager
def postgres(encoding: str = "UTF8") -> Iterator[str]:
    """Run a server for a while, and lend the URL of an empty database on it, without a database.

    The server refuses to run as root: then the user `postgres` runs it.
    """
    where = programs()
    if where is None:
        raise FileNotFoundError("Postgres is not installed: apt-get install postgresql")
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own in it, where there is room
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > ROOM
    folder = Path(tempfile.mkdtemp(prefix="rungs-postgres-", dir=memory if roomy else None))
    as_user: list[str] = []
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        as_user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    secret, data, port = folder / "password", folder / "data", free_port()
    secret.write_text(PASSWORD)
    secret.chmod(0o644)

    def do(program: str, *arguments: str) -> None:
        done = subprocess.run(
            [*as_user, str(where / program), *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"

    settings = (
        f"-c listen_addresses=127.0.0.1 -p {port} -c unix_socket_directories= "
        "-c fsync=off -c full_page_writes=off -c max_connections=200"
    )
    try:
        do(
            "initdb",
            *("--pgdata", str(data), "--username", USER, "--pwfile", str(secret)),
            *("--auth", "scram-sha-256", "--encoding", encoding, "--locale", "C", "--no-sync"),
        )
        log = str(folder / "log")
        do("pg_ctl", "start", "--wait", "-D", str(data), "-l", log, "-o", settings)
        try:
            yield f"postgresql://{USER}:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}"
        finally:
            do("pg_ctl", "stop", "--wait", "--mode", "immediate", "-D", str(data))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_database(server: str, name: str, *, template: str = "template1") -> str:
    """Create a database, and return its URL."""
    import psycopg

    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE {template}')
    return f"{server}/{name}"
