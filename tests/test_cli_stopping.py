"""Ctrl-C, `kill -9` and a closed pipe: what ran is told and kept, and the thread goes on."""

import http.server
import json
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli import LONGEST, REFUND, Said, finish, home, rungs, scripted, start

__all__ = ["home"]

pytestmark = pytest.mark.processes

TOOLS = """
[read_only.calculator]
use = "tools.calculator:calculator"

[state_changing.write_slowly]
use = "tests.test_cli_stopping:write_slowly"
requires_confirmation = false
timeout = 50
"""


def write_slowly(path: str, wait: str) -> str:
    """Write a line when asked for it: begins one file, waits for another, then ends the first.

    Args:
        path: The file that is written.
        wait: The file that is waited for.
    """
    target, gate = Path(path), Path(wait)
    with target.open("a", encoding="utf-8") as file:
        file.write("begun\n")
    while not gate.exists():
        time.sleep(0.01)
    with target.open("a", encoding="utf-8") as file:
        file.write("ended\n")
    return "written"


class Slow:
    """A run that is inside a tool and stays there until `release`."""

    def __init__(self, home: Path, *options: str) -> None:
        self.home, self.db = home, str(home / "m.sqlite")
        self.written, self.gate = home / "written", home / "gate"
        tools = home / "tools.toml"
        tools.write_text(TOOLS, encoding="utf-8")
        arguments = {"path": str(self.written), "wait": str(self.gate)}
        call = {"id": "s1", "name": "write_slowly", "args": arguments}
        self.model = scripted(home, [{"tool_calls": [call]}, {"text": "Written."}])
        self.process = start(
            *("ask", "Write it.", "--thread", "t", "--tools", str(tools), "--model", self.model),
            *("--db", self.db, *options),
        )
        until(self.written.exists, self.process)

    def release(self) -> None:
        self.gate.touch()

    def resume(self) -> Said:
        """Go on in this process."""
        return rungs("resume", "t", "--db", self.db, "--json")


def until(holds: Any, process: subprocess.Popen[bytes]) -> None:
    """Wait until something holds; a process that ends before fails the test."""
    end = time.monotonic() + LONGEST
    while not holds():
        assert process.poll() is None, finish(process)
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def hanging_server() -> Iterator[tuple[str, threading.Event]]:
    """A model server that takes requests and never answers."""
    asked, over = threading.Event(), threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.set()
            over.wait(60)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", asked
    over.set()
    server.shutdown()
    server.server_close()


def test_ctrl_c_while_the_model_is_waited_for_stops_at_once_and_the_thread_stays_usable(
    home: Path, hanging_server: tuple[str, threading.Event]
) -> None:
    url, asked = hanging_server
    db = str(home / "m.sqlite")
    env = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
    process = start("ask", "q", "-t", "t", "--model", "openai:m", "--db", db, "--json", env=env)
    until(asked.is_set, process)
    process.send_signal(signal.SIGINT)
    said = finish(process)
    assert said.code == 130
    assert said.err == ""
    assert said.json["status"] == "cancelled"
    assert "no tool had run" in said.json["stop_reason"]
    again = rungs("ask", "What is 6 * 7?", "-t", "t", "--model", "offline", "--db", db, "--json")
    assert again.code == 0
    assert "42" in again.json["answer"]


def test_ctrl_c_while_a_tool_runs_waits_for_it_and_starts_nothing_more(home: Path) -> None:
    slow = Slow(home)
    slow.process.send_signal(signal.SIGINT)
    assert slow.process.stderr is not None
    assert b"stopping when write_slowly has ended" in slow.process.stderr.readline()
    slow.release()
    said = finish(slow.process)
    assert said.code == 130
    assert "cancelled" in said.out
    assert "write_slowly had run" in said.out
    assert "rungs resume t" in said.out
    assert slow.written.read_text(encoding="utf-8") == "begun\nended\n"
    resumed = slow.resume()
    assert resumed.code == 0
    assert resumed.json["answer"] == "Written."
    assert slow.written.read_text(encoding="utf-8") == "begun\nended\n", "the tool ran again"


def test_a_new_question_after_a_cancel_keeps_what_the_tool_did(home: Path) -> None:
    slow = Slow(home)
    slow.process.send_signal(signal.SIGINT)
    assert slow.process.stderr is not None
    slow.process.stderr.readline()
    slow.release()
    finish(slow.process)
    said = rungs("ask", "And?", "-t", "t", "--db", slow.db, "--json")
    assert said.json["answer"] == "Written."
    events = [
        json.loads(row) for row in rungs("audit", "t", "--db", slow.db, "--json").out.splitlines()
    ]
    assert [event.get("result") for event in events if event["kind"] == "tool_call"] == ["written"]


def test_a_second_ctrl_c_quits_at_once(home: Path) -> None:
    slow = Slow(home)
    slow.process.send_signal(signal.SIGINT)
    assert slow.process.stderr is not None
    slow.process.stderr.readline()
    slow.process.send_signal(signal.SIGINT)
    quit_at_once = finish(slow.process)
    assert quit_at_once.code == 130
    assert "quit while write_slowly" in quit_at_once.err
    assert "whether it took effect is unknown" in quit_at_once.err
    assert f"resume t --db {slow.db}" in quit_at_once.err
    assert slow.written.read_text(encoding="utf-8") == "begun\n"


def test_a_killed_run_is_listed_as_unfinished_and_resumes_to_the_same_answer(home: Path) -> None:
    slow = Slow(home)
    slow.process.kill()
    finish(slow.process)
    assert "unfinished" in rungs("threads", "--db", slow.db).out
    slow.release()
    resumed = slow.resume()
    assert resumed.code == 0
    assert resumed.json["answer"] == "Written."


def test_a_reader_who_has_gone_is_no_error(home: Path) -> None:
    process = start("ask", "q", "--model", scripted(home, REFUND), "--db", str(home / "m.sqlite"))
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    process.wait(timeout=LONGEST)
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_told_in_one_line(home: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        said = finish(start("ask", "What is 1+1?", "--db", str(home / "m.sqlite"), stdout=full))
    assert said.code == 1
    assert "no space is left" in said.error


def test_ctrl_c_inside_a_rung_waits_for_its_tool_and_starts_nothing_more(home: Path) -> None:
    slow = Slow(home, "--graph", "ladder")
    slow.process.send_signal(signal.SIGINT)
    slow.release()
    said = finish(slow.process)
    assert said.code == 130, said.err
    assert "write_slowly had run" in said.out
    assert slow.written.read_text(encoding="utf-8") == "begun\nended\n"
    resumed = rungs("resume", "t", "--db", slow.db)
    assert resumed.code == 0, resumed.err
    assert "Written." in resumed.out
    assert slow.written.read_text(encoding="utf-8") == "begun\nended\n"
