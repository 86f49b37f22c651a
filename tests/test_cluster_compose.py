"""What the compose file starts, as far as it can be started without an engine for containers."""

import fnmatch
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.composed import COMPOSE, GIVEN, compose, environment, image
from tests.instances import AEGRA, redis
from tests.postgres import postgres, programs
from tests.serving import free_port

ROOT = COMPOSE.parents[1]
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(
        not AEGRA or (programs() is None and not os.environ.get("RUNGS_CLUSTER")),
        reason="needs Python 3.12, Postgres and Redis: make test-cluster",
    ),
]
OURS = ("RUNGS_", "OPENAI_", "LANGSMITH_", "PYTHON", "PIP_")
"""What names begin with that are not the server's own."""


def ended_well(command: list[str], **variables: str) -> bool:
    """Run a command, and tell whether it ended well."""
    there = {**os.environ, **variables}
    return subprocess.run(command, env=there, capture_output=True, check=False).returncode == 0


def test_compose_takes_the_file() -> None:
    config = ["docker", "compose", "-f", str(COMPOSE), "config", "--format", "json"]
    if shutil.which("docker") is None or not ended_well(["docker", "compose", "version"]):
        pytest.skip("docker compose is not installed")
    told = subprocess.run(
        config, env={**os.environ, **GIVEN}, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    services = json.loads(told.stdout)["services"]
    assert services.keys() == compose()["services"].keys()
    for name, service in services.items():
        here = compose()["services"][name]["environment"] if name != "redis" else {}
        assert service.get("environment", {}) == {k: str(v) for k, v in here.items()}
    nameless = {k: v for k, v in os.environ.items() if k not in GIVEN}
    refused = subprocess.run(config, env=nameless, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "name a password for the database" in refused.stderr


def test_the_server_knows_every_variable_that_it_is_given() -> None:
    code = (
        "import json, inspect, aegra_api.settings as s\n"
        "from pydantic_settings import BaseSettings as B\n"
        "kinds = [k for k in vars(s).values() if inspect.isclass(k) and issubclass(k, B)]\n"
        "print(json.dumps({n: f.default for k in kinds for n, f in k.model_fields.items()},"
        " default=str))"
    )
    told = subprocess.run([AEGRA, "-c", code], capture_output=True, text=True, check=True)
    known = json.loads(told.stdout.splitlines()[-1])
    given = {name for name in environment("one") if not name.startswith(OURS)}
    assert given <= known.keys()
    # It ends what it runs within that time when it is asked to stop.
    grace = float(compose()["services"]["one"]["stop_grace_period"].removesuffix("s"))
    assert grace > float(known["WORKER_DRAIN_TIMEOUT"])


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    with postgres() as database, redis(tmp_path_factory.mktemp("redis")) as broker:
        yield database, broker


def test_the_checks_of_both_servers_tell_one_that_runs_from_one_that_does_not(
    servers: tuple[str, str],
) -> None:
    database, broker = (urlsplit(url) for url in servers)
    checks = {n: compose()["services"][n]["healthcheck"]["test"] for n in ("postgres", "redis")}
    assert {check[0] for check in checks.values()} == {"CMD"}
    where = programs()
    assert where is not None
    for port, well in ((database.port, True), (free_port(), False)):
        ready = [str(where / checks["postgres"][1]), *checks["postgres"][2:]]
        assert ended_well(ready, PGHOST="127.0.0.1", PGPORT=str(port)) is well
    for port, well in ((broker.port, True), (free_port(), False)):
        ping = [checks["redis"][1], "-p", str(port), *checks["redis"][2:]]
        assert ended_well(ping) is well


def test_the_database_that_instances_look_for_is_the_one_that_its_server_makes(
    servers: tuple[str, str],
) -> None:
    services, there = compose()["services"], urlsplit(servers[0])
    made, looked_for = services["postgres"]["environment"], environment("one")
    assert {name: looked_for[name] for name in made} == made
    assert looked_for["POSTGRES_HOST"] in services
    assert urlsplit(looked_for["REDIS_URL"]).hostname in services
    # As the image of Postgres makes them: a superuser, and a database of its own.
    import psycopg

    user, password = made["POSTGRES_USER"], made["POSTGRES_PASSWORD"]
    assert user == there.username
    with psycopg.connect(
        host="127.0.0.1", port=there.port, user=user, password=unquote(there.password or ""),
        dbname="postgres", autocommit=True,
    ) as connection:  # fmt: skip
        connection.execute(f"ALTER ROLE {user} PASSWORD '{password}'".encode())
        connection.execute(f"CREATE DATABASE {made['POSTGRES_DB']}".encode())
    code = "from aegra_api.settings import settings as s; print(s.db.database_url_sync)"
    variables = {**looked_for, "POSTGRES_HOST": "127.0.0.1", "POSTGRES_PORT": str(there.port)}
    told = subprocess.run(
        [AEGRA, "-c", code],
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    with psycopg.connect(told.stdout.splitlines()[-1]) as connection:
        assert connection.info.dbname == made["POSTGRES_DB"]


def test_the_steps_of_the_image_install_the_server_and_the_graphs_that_it_serves(
    tmp_path: Path,
) -> None:
    """The project's files as an engine copies them, and the pip lines in a fresh Python."""
    app, python = tmp_path / "app", tmp_path / "venv" / "bin" / "python"
    copied_to(app)
    base = [AEGRA, "-c", "import sys; print(sys._base_executable)"]
    found = subprocess.run(base, capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run([found, "-m", "venv", str(tmp_path / "venv")], check=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RUNGS_", "VIRTUAL_ENV"))}
    # What was fetched before may be used again, unlike in an image.
    given = {k: v for k, v in image().environment.items() if k != "PIP_NO_CACHE_DIR"}
    steps = [step for step in image().steps if step.startswith("pip ")]
    assert len(steps) == 2
    for step in steps:
        done = subprocess.run(
            [str(python), "-m", *shlex.split(step)],
            cwd=app,
            env={**kept, **given},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    code = (
        "import sys; sys.path.insert(0, 'deploy'); import aegra_api.main, psycopg, graphs, served\n"
        "print(graphs.__file__, len(served.__all__))"
    )
    told = subprocess.run(
        [str(python), "-c", code],
        cwd=app,
        env={**kept, "AEGRA_CONFIG": str(app / "deploy" / "aegra.json")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr[-3000:]
    assert told.stdout.splitlines()[-1].startswith(str(app))


def copied_to(app: Path) -> None:
    """Copy what is under version control, but for what the image leaves out."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    patterns = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text().split()
    for name in filter(None, listed.stdout.decode().split("\0")):
        parts = [name, *map(str, Path(name).parents)]
        left_out = any(
            fnmatch.fnmatch(part, pattern.removeprefix("**/"))
            for part in parts
            for pattern in patterns
        )
        if not left_out and (ROOT / name).is_file():
            (app / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, app / name)
