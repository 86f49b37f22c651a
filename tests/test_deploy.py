"""What is in `deploy`: the same graphs, and files that name what there is."""

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from graphs import GRAPHS
from tests.composed import compose as filled_in
from tests.composed import image

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
README = (DEPLOY / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def test_the_instances_serve_the_graphs_of_the_server_on_one_machine() -> None:
    here = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
    there = json.loads((DEPLOY / "aegra.json").read_text(encoding="utf-8"))
    assert {name: each["description"] for name, each in there["graphs"].items()} == {
        name: each["description"] for name, each in here["graphs"].items()
    }
    spec = importlib.util.spec_from_file_location("served", DEPLOY / "served.py")
    assert spec is not None
    assert spec.loader is not None
    served = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(served)
    for name, each in there["graphs"].items():
        assert each["path"] == f"./served.py:{name}"
        assert getattr(served, name) is GRAPHS[name].graph


def test_each_step_is_written_before_the_next_one_begins() -> None:
    there = json.loads((DEPLOY / "aegra.json").read_text(encoding="utf-8"))
    assert there["checkpointer"]["durability"] == "sync"


def test_two_equal_instances_wait_for_their_servers_and_are_open_to_this_machine_alone(
    compose: Any,
) -> None:
    services = compose["services"]
    one, two = services["one"], services["two"]
    for name in ("image", "build", "environment", "volumes"):
        assert one[name] == two[name]
    assert set(one["depends_on"]) == {"postgres", "redis"}
    assert set(two["depends_on"]) == {"one"}
    for service in services.values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    same = ("POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD")
    for name in same:
        assert one["environment"][name] == services["postgres"]["environment"][name]
    assert one["environment"]["REDIS_BROKER_ENABLED"] == "true"
    assert (DEPLOY / one["build"]["context"] / one["build"]["dockerfile"]).is_file()
    named = {volume.partition(":")[0] for s in services.values() for volume in s.get("volumes", ())}
    assert named == set(compose["volumes"])


def test_every_server_that_is_waited_for_tells_when_it_is_well(compose: Any) -> None:
    services = compose["services"]
    for service in services.values():
        for name, what in service.get("depends_on", {}).items():
            assert what["condition"] == "service_healthy"
            assert services[name].get("healthcheck") or (
                "build" in services[name] and image().health
            )


def test_one_port_is_listened_on_published_and_asked(compose: Any) -> None:
    made = image()
    assert made.command[made.command.index("--port") + 1] == str(made.port)
    assert made.command[made.command.index("--host") + 1] == "0.0.0.0"  # noqa: S104
    assert made.environment["PORT"] == str(made.port)
    assert f"127.0.0.1:{made.port}/health" in made.health[-1]
    published = [compose["services"][name]["ports"] for name in ("one", "two")]
    assert published == [["127.0.0.1:2026:2026"], ["127.0.0.1:2027:2026"]]
    assert all(str(port) in README for port in (2026, 2027))


def test_the_key_is_in_the_volume_that_all_instances_share(compose: Any) -> None:
    key = Path(image().environment["RUNGS_KEY"])
    for name in ("one", "two"):
        assert f"keys:{key.parent}" in compose["services"][name]["volumes"]
    assert f"chown rungs {key.parent}" in image().steps


def test_a_password_must_be_named() -> None:
    with pytest.raises(KeyError, match="name a password for the database"):
        filled_in({})


def test_no_password_is_written_down(compose: Any) -> None:
    for service in ("postgres", "one", "two"):
        password = compose["services"][service]["environment"]["POSTGRES_PASSWORD"]
        assert password.startswith("${POSTGRES_PASSWORD:?")


def test_what_is_installed_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    for text in (README, dockerfile):
        for group in re.findall(r"--group (\w+)", text):
            assert group in project["dependency-groups"]
    for extras in re.findall(r"EXTRAS=(\w+)", dockerfile):
        assert extras in project["project"]["optional-dependencies"]
    assert "AEGRA_CONFIG=/app/deploy/aegra.json" in dockerfile


def test_what_the_page_shows_in_python_is_python() -> None:
    for code in re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL):
        compile(code, "deploy/README.md", "exec")
