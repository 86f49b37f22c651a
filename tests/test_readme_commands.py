"""Each command of the README but those of make, typed into a shell by somebody new to it."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli import ROOT
from tests.stub_server import StubServer, completion
from tests.test_readme import blocks, commands

pytestmark = [pytest.mark.processes, pytest.mark.enable_socket]

COMMANDS = [command for command in commands() if command.startswith(("rungs ", "python "))]
ANN = 'rungs ask --user ann --thread t1 "I prefer e-mail."'
REFUND = next(command for command in COMMANDS if "--thread t2" in command)
WAITING = 4
"""The exit code of a run that waits for approval."""
TWO_REFUNDS = [
    {
        "id": name,
        "name": "issue_refund",
        "args": {"order_id": "O-2001", "amount": amount, "reason": "late"},
    }
    for name, amount in (("c1", "1.00"), ("c2", "2.00"))
]
TICKETS = '''
from pydantic import BaseModel, Field


class Ticket(BaseModel):
    """Record who writes."""

    name: str | None = Field(default=None, description="The customer's name.")
'''
NAMED = {
    name: text
    for text in blocks("python") + blocks("toml")
    if (name := text.split("\n")[0].removeprefix("# ")).endswith((".py", ".toml"))
}
"""The files that the README shows, by the name in their first line."""
QUESTIONS = next(block for block in blocks("json") if '"expected"' in block)


def code_of(command: str) -> int:
    """Return the exit code that a command should have."""
    waits = "tool_calling" in command or command == "rungs resume t2"
    return WAITING if waits else 0


@pytest.fixture
def model() -> Iterator[StubServer]:
    """A model server that always answers the same."""
    with StubServer([completion("Yes. It is $45, and the 2-year warranty of Globex.")]) as server:
        yield server


@pytest.fixture
def shell(tmp_path: Path, model: StubServer) -> dict[str, Any]:
    """A home and a folder with what the commands name, and the arguments of `subprocess`."""
    docs, here = tmp_path / "my" / "docs", tmp_path / "here"
    (here / "mails").mkdir(parents=True)
    docs.mkdir(parents=True)
    (docs / "warranty.md").write_text("# Warranty\n\nGlobex gives a 2-year warranty.\n", "utf-8")
    (here / "mails" / "ann.txt").write_text("My name is Ann. I want my money back.", "utf-8")
    (here / "mail.txt").write_text("My name is Bo.", "utf-8")
    (here / "tickets.py").write_text(TICKETS, "utf-8")
    (here / "tickets.jsonl").write_text(json.dumps({"body": "My name is Cy."}) + "\n", "utf-8")
    two = [{"tool_calls": TWO_REFUNDS}, {"text": "Done."}]
    (here / "two.json").write_text(json.dumps(two), "utf-8")
    (here / "my.jsonl").write_text(QUESTIONS, "utf-8")
    for name, text in NAMED.items():
        (here / name).write_text(text, "utf-8")
    shipped = ROOT / "graphs" / "compare" / "prices.toml"
    (here / "my-prices.toml").write_text(shipped.read_text("utf-8"), "utf-8")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RUNGS_", "OPENAI_", "XDG_"))}
    env = kept | {
        "HOME": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OPENAI_API_KEY": "sk-none",
        "OPENAI_BASE_URL": model.base_url,
    }
    return {"cwd": here, "env": env, "shell": True, "text": True}


def typed(command: str, shell: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """Run a command with a question waiting on stdin, which is no terminal."""
    return subprocess.run(
        command,
        input="How long is the warranty?",
        capture_output=True,
        timeout=100,
        check=False,
        **shell,
    )


def before(command: str) -> str | None:
    """Return what must have been done for a command to have something to do."""
    words = shlex.split(command)
    if "c1=approve" in words:  # a real model names its calls itself
        return "rungs ask --graph tool_calling --thread t2 --model scripted:two.json 'Refund both.'"
    if words[1:3] == ["resume", "t2"]:
        return REFUND
    return ANN if words[1] in {"resume", "threads", "audit", "notes"} else None


@pytest.mark.parametrize("command", [c for c in COMMANDS if not c.startswith("rungs view")])
def test_each_command_of_the_readme_does_what_it_says(command: str, shell: dict[str, Any]) -> None:
    if earlier := before(command):
        assert typed(earlier, shell).returncode == code_of(earlier)
    said = typed(command, shell)
    assert said.returncode == code_of(command), said.stdout + said.stderr
    assert "Traceback" not in said.stderr
    if "18%" in command:
        assert "= 45" in said.stdout
    if "my_tools" in command or "Berlin open" in command:
        assert "9:00 to 18:00" in said.stdout
    if "--json" in shlex.split(command):
        json.loads(said.stdout)


def test_the_page_of_the_readme_is_served_until_ctrl_c(shell: dict[str, Any]) -> None:
    (command,) = (c for c in COMMANDS if c.startswith("rungs view"))
    assert typed(ANN, shell).returncode == 0
    process = subprocess.Popen(
        f"exec {command}", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **shell
    )
    try:
        assert process.stdout is not None
        address = next(
            found[0] for line in process.stdout if (found := re.search(r"http://\S+", line))
        )
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert answer.status == 200
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=30)
    assert "Traceback" not in rest
