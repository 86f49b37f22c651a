"""What the files in `deploy` say of each service, read as an engine for containers reads them."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[1]
COMPOSE = ROOT / "deploy" / "compose.yaml"
GIVEN = {"POSTGRES_PASSWORD": "p@ss/w:rd?&%+"}
"""What whoever starts it has in the environment."""

_VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


def compose(given: Mapping[str, str] = GIVEN) -> Any:
    """Read the compose file, its variables filled in.

    Raises:
        KeyError: A variable that must be given is not.
    """

    def value(found: re.Match[str]) -> str:
        name, kind, default = found.groups()
        if given.get(name):
            return given[name]
        if kind == "-":
            return str(default)
        raise KeyError(f"{name}: {default}")

    def filled(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: filled(each) for name, each in part.items()}
        if isinstance(part, list):
            return [filled(each) for each in part]
        return _VARIABLE.sub(value, part) if isinstance(part, str) else part

    return filled(yaml.safe_load(COMPOSE.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Image:
    """What the Dockerfile says.

    Attributes:
        environment: Variables that a container has.
        steps: Shell commands that make the image, in order, arguments filled in.
        command: What a container runs.
        health: What tells whether it is well.
        folder: Where the project is.
        port: What it says that it listens on.
    """

    environment: dict[str, str]
    steps: list[str]
    command: list[str]
    health: list[str]
    folder: str
    port: int


def image() -> Image:
    """Read the Dockerfile."""
    text = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    whole = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    said: dict[str, list[str]] = {}
    for line in filter(str.strip, whole.splitlines()):
        word, _, rest = line.partition(" ")
        said.setdefault(word, []).append(rest.strip())
    arguments = _pairs(said["ARG"])
    run = re.sub(r"\$\{?(\w+)\}?", lambda found: arguments[found[1]], " && ".join(said["RUN"]))
    return Image(
        environment=_pairs(said["ENV"]),
        steps=[step.strip() for step in run.split("&&")],
        command=json.loads(said["CMD"][-1]),
        health=json.loads(said["HEALTHCHECK"][-1].partition("CMD")[2]),
        folder=said["WORKDIR"][-1],
        port=int(said["EXPOSE"][-1]),
    )


def _pairs(lines: list[str]) -> dict[str, str]:
    words = [word for line in lines for word in shlex.split(line)]
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def environment(service: str) -> dict[str, str]:
    """Return the variables that an instance has in its container."""
    told = compose()["services"][service]["environment"]
    return image().environment | {name: str(value) for name, value in told.items()}
