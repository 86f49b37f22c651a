"""Approvals on the command line: what waits is told, an answer decides once, nothing is guessed."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli import ROOT, Said, finish, home, rungs, scripted, start

__all__ = ["home"]

TOOLS = """
[state_changing.pay]
use = "tests.test_cli_approvals:pay"

[state_changing.log_in]
use = "tests.test_cli_approvals:log_in"
"""


def pay(n: int, file: str) -> str:
    """Pay an amount.

    Args:
        n: The amount.
        file: Where the payment is written down.
    """
    with Path(file).open("a", encoding="utf-8") as paid:
        paid.write(f"{n}\n")
    return f"paid {n}"


logged_in: list[str] = []


def log_in(key: str) -> str:
    """Log in with a key."""
    logged_in.append(key)
    return "in"


class Desk:
    """A run that pays when somebody says yes, on a memory file."""

    def __init__(self, home: Path) -> None:
        self.home, self.file, self.db = home, home / "paid", str(home / "m.sqlite")
        self.tools = home / "tools.toml"
        self.tools.write_text(TOOLS, encoding="utf-8")

    def arguments(self, n: Any) -> dict[str, Any]:
        return {"n": n, "file": str(self.file)}

    def edit(self, n: Any) -> str:
        return json.dumps(self.arguments(n))

    def call(self, call_id: str, n: int) -> dict[str, Any]:
        return {"id": call_id, "name": "pay", "args": self.arguments(n)}

    def command(self, *calls: dict[str, Any], options: tuple[str, ...] = ()) -> list[str]:
        """Return the command whose model makes the calls and then answers."""
        model = scripted(self.home, [{"tool_calls": list(calls)}, {"text": "Done."}])
        return [
            *("ask", "Pay.", "--graph", "tool_calling", "--thread", "t", "--db", self.db),
            *("--model", model, "--tools", str(self.tools), *options),
        ]

    def ask(self, *calls: dict[str, Any], options: tuple[str, ...] = ()) -> Said:
        return rungs(*self.command(*(calls or (self.call("c1", 5),)), options=options))

    def resume(self, *answer: str) -> Said:
        return rungs("resume", "t", *answer, "--db", self.db)

    def results(self) -> list[str]:
        said = rungs("audit", "t", "--db", self.db, "--json")
        told = [json.loads(line) for line in said.out.splitlines()]
        return [event["result"] for event in told if event["kind"] == "tool_call"]

    @property
    def paid(self) -> list[str]:
        return self.file.read_text(encoding="utf-8").split() if self.file.exists() else []

    @property
    def status(self) -> str:
        (line,) = rungs("threads", "--db", self.db, "--json").out.splitlines()
        status: str = json.loads(line)["status"]
        return status


@pytest.fixture
def desk(home: Path) -> Desk:
    return Desk(home)


def test_a_run_that_waits_ends_with_4_and_tells_what_waits_and_how_to_answer(desk: Desk) -> None:
    said = desk.ask()
    assert said.code == 4
    assert said.err == ""
    assert "waiting: pay needs a person's approval (1 model call" in said.out
    assert f'  pay(n=5, file="{desk.file}"), call c1: pay changes state. Pay an amount.' in said.out
    for answer in ("--approve", '--reject "REASON"', "--edit", '--respond "TEXT"'):
        assert re.search(rf"resume t --db \S+ {answer}.* --call c1$", said.out, re.MULTILINE)
    assert desk.paid == []
    assert desk.status == "waiting"
    assert "waiting" in rungs("threads", "--db", desk.db).out


def test_json_carries_what_waits(desk: Desk) -> None:
    said = desk.ask(options=("--json",))
    assert said.code == 4
    assert said.json["status"] == "waiting"
    assert said.json["waiting"] == [
        {
            "call_id": "c1",
            "tool": "pay",
            "arguments": desk.arguments(5),
            "description": "pay changes state. Pay an amount.",
        }
    ]
    assert "--approve --call c1" in said.err
    again = desk.resume("--approve", "--json")
    assert again.json["waiting"] == []
    assert again.err == ""


def test_quiet_tells_it_on_stderr_in_one_line(desk: Desk) -> None:
    said = desk.ask(options=("-q",))
    assert said.code == 4
    assert "pay(n=5" in said.error
    assert "--approve --call c1" in said.error


@pytest.mark.processes
def test_a_yes_in_another_process_pays_once_and_a_second_one_finds_nothing(desk: Desk) -> None:
    finish(start(*desk.command(desk.call("c1", 5))))
    said = finish(start("resume", "t", "--approve", "--db", desk.db))
    assert said.code == 0, said.err
    assert "paid 5" in said.out
    assert "Done." in said.out
    assert desk.paid == ["5"]
    second = desk.resume("--approve")
    assert second.code == 2
    assert "nothing in thread t waits" in second.error
    assert desk.paid == ["5"]
    assert desk.status == "answered"


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (["--reject", "too much"], "too much"),
        (["--reject"], "it was not approved"),
        (["--reject", "--quiet"], "it was not approved"),
        (["--reject=-5 is too little"], "-5 is too little"),
        (["--respond", "paid in cash"], "paid in cash"),
    ],
)
def test_a_no_and_a_text_pay_nothing_and_are_told_to_the_model(
    desk: Desk, answer: list[str], result: str
) -> None:
    desk.ask()
    said = desk.resume(*answer)
    assert said.code == 0, said.err
    assert "Done." in said.out
    assert desk.paid == []
    (told,) = desk.results()
    assert result in told


def test_an_edit_runs_with_its_arguments_and_a_wrong_one_leaves_the_pause_open(desk: Desk) -> None:
    desk.ask()
    wrong = desk.resume("--edit", desk.edit("lots"))
    assert wrong.code == 2
    assert "'n'" in wrong.error
    assert desk.paid == []
    assert desk.status == "waiting"
    right = desk.resume("--edit", desk.edit(4))
    assert right.code == 0, right.err
    assert desk.paid == ["4"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (["--edit", '{"n": 4'], "can't be read"),
        (["--edit", '{"n": 4} {"n": 5}'], "can't be read"),
        (["--edit", "[4]"], "one JSON object"),
        (["--edit", " "], "one JSON object"),
        (["--respond", " "], "needs a text"),
        (["--call", "c2", "--approve"], "no call 'c2' waits"),
        (["--call", "c1"], "no decision for c1"),
        (["--call", "c1=maybe"], "'maybe' is no decision"),
        (["--call", "c1=approve:now"], "takes no text"),
        (["--call", "c1=approve", "--call", "c1=reject"], "twice"),
        (["--approve", "--reject", "no"], "contradict"),
        (["--reject", "\udcff"], "not UTF-8"),
    ],
)
def test_an_answer_that_decides_nothing_is_one_line_and_the_pause_stays_open(
    desk: Desk, answer: list[str], why: str
) -> None:
    desk.ask()
    said = desk.resume(*answer)
    assert said.code == 2
    assert why in said.error
    assert desk.paid == []
    assert desk.status == "waiting"
    assert desk.resume("--approve").code == 0
    assert desk.paid == ["5"]


def test_resuming_without_an_answer_tells_again_what_waits(desk: Desk) -> None:
    desk.ask()
    said = desk.resume()
    assert said.code == 4
    assert "pay(n=5" in said.out
    assert "--approve --call c1" in said.out
    assert desk.status == "waiting"


def test_a_thread_where_nothing_waits_can_t_be_answered(desk: Desk) -> None:
    assert rungs("ask", "What is 1+1?", "--thread", "t", "--db", desk.db).code == 0
    said = desk.resume("--approve")
    assert said.code == 2
    assert "nothing in thread t waits" in said.error
    assert desk.status == "answered"


@pytest.mark.parametrize(
    ("answer", "paid"),
    [
        (["--approve"], ["1", "2"]),
        (["--reject"], []),
        (["--approve", "--call", "a", "--call", "b"], ["1", "2"]),
        (["--call", "a=reject:too little", "--call", "b=approve"], ["2"]),
        (["--call", "a=respond:paid in cash", "--approve"], ["2"]),
        (["--call", "b=approve", "--call", "a", "--reject"], ["2"]),
    ],
)
def test_an_answer_decides_about_all_calls_or_about_each(
    desk: Desk, answer: list[str], paid: list[str]
) -> None:
    said = desk.ask(desk.call("a", 1), desk.call("b", 2))
    assert "--call a=approve --call b=reject:REASON" in said.out
    assert desk.resume(*answer).code == 0
    assert sorted(desk.paid) == paid
    assert len(desk.results()) == 2


def test_an_edit_of_several_calls_is_an_object_by_call_id(desk: Desk) -> None:
    desk.ask(desk.call("a", 1), desk.call("b", 2))
    for wrong in (desk.edit(3), json.dumps({"a": desk.arguments(3)}), '{"a": 1, "b": 2}'):
        said = desk.resume("--edit", wrong)
        assert said.code == 2
        assert said.error
    both = {"a": desk.arguments(3), "b": desk.arguments(4)}
    assert desk.resume("--edit", json.dumps(both)).code == 0
    assert sorted(desk.paid) == ["3", "4"]


def test_an_answer_for_one_call_leaves_no_other_undecided(desk: Desk) -> None:
    desk.ask(desk.call("a", 1), desk.call("b", 2))
    said = desk.resume("--approve", "--call", "a")
    assert said.code == 2
    assert "no decision for b" in said.error
    assert desk.paid == []


@pytest.mark.parametrize("user", [[], ["--user", "bob"]])
def test_another_user_can_t_answer(desk: Desk, user: list[str]) -> None:
    desk.ask(options=("--user", "ann"))
    said = desk.resume("--approve", *user)
    assert said.code == 2
    assert "another user" in said.error
    assert desk.paid == []
    assert desk.resume("--approve", "--user", "ann").code == 0
    assert desk.paid == ["5"]


def test_a_secret_is_not_shown_and_its_stand_in_left_alone_stands_for_it(desk: Desk) -> None:
    secret = {"id": "c1", "name": "log_in", "args": {"key": "sk-live-123456789012"}}
    for said in (desk.ask(secret), desk.resume(), desk.resume("--json")):
        assert said.code == 4
        assert "sk-live" not in said.out + said.err
        assert "[redacted]" in said.out
    logged_in.clear()
    said = desk.resume("--edit", '{"key": "[redacted]"}')
    assert said.code == 0, said.err
    assert "sk-live" not in said.out + said.err
    assert logged_in == ["sk-live-123456789012"]


def test_arguments_are_shown_whole_and_can_t_pretend_to_be_other_lines(desk: Desk) -> None:
    evil = "x\nanswer with: \x1b[2J\u202e[bold]" + "y" * 3000
    call = {"id": "c\n1", "name": "pay", "args": {"n": 1, "file": evil}}
    said = desk.ask(call)
    assert "y" * 3000 in said.out
    assert "[bold]" in said.out
    assert not {"\x1b", "\u202e"} & set(said.out)
    assert not any(line.startswith("answer with: ") for line in said.out.splitlines())


class Terminal:
    """A command on a terminal of its own, typed at."""

    def __init__(self, *arguments: str, columns: int = 200) -> None:
        self._end, other = pty.openpty()
        self.shown = ""
        self._read_from = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "graphs.cli", *arguments],
            cwd=ROOT,
            env={**os.environ, "TERM": "dumb", "COLUMNS": str(columns), "NO_COLOR": "1"},
            stdin=other,
            stdout=other,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        os.close(other)

    def expect(self, text: str) -> None:
        """Read until a text is shown after what was expected before."""
        end = time.monotonic() + 60
        while text not in self.shown[self._read_from :]:
            assert time.monotonic() < end, self.shown
            assert self._read(), self.shown
        self._read_from = self.shown.index(text, self._read_from) + len(text)

    def type(self, line: str) -> None:
        os.write(self._end, f"{line}\n".encode())

    def answer(self, line: str) -> None:
        self.expect("[l]eave it waiting? ")
        self.type(line)

    def interrupt(self) -> None:
        """Press Ctrl-C; again if it came just before the prompt began to listen."""
        self.process.send_signal(signal.SIGINT)
        while not select.select([self._end], [], [], 5)[0]:
            assert self.process.poll() is None
            self.process.send_signal(signal.SIGINT)

    def close(self) -> int:
        """Read to the end and return the exit code."""
        while self._read():
            pass
        os.close(self._end)
        _, err = self.process.communicate(timeout=60)
        assert b"Traceback" not in err, err
        return self.process.returncode

    def _read(self) -> bool:
        if not select.select([self._end], [], [], 30)[0]:
            return False
        try:
            piece = os.read(self._end, 65536)
        except OSError:  # the other end is closed
            return False
        self.shown += piece.decode("utf-8", "replace")
        return bool(piece)


@pytest.fixture
def at(desk: Desk) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def open_terminal(*arguments: str, columns: int = 200) -> Terminal:
        opened.append(Terminal(*arguments, columns=columns))
        return opened[-1]

    yield open_terminal
    for terminal in opened:
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.process.communicate()


@pytest.mark.processes
def test_at_a_terminal_a_person_is_asked_and_the_run_goes_on(
    desk: Desk, at: Callable[..., Terminal]
) -> None:
    terminal = at(*desk.command(desk.call("c1", 5)))
    for shown in ("pay waits for your yes", "  effect: pay changes state.", "  n: 5", "  file: "):
        terminal.expect(shown)
    assert desk.paid == []
    terminal.answer("")
    terminal.answer("perhaps")
    terminal.expect("type one of the words")
    terminal.answer("approve")
    terminal.expect("paid 5")
    terminal.expect("Done.")
    assert terminal.close() == 0
    assert desk.paid == ["5"]


@pytest.mark.processes
def test_at_a_terminal_a_wrong_edit_is_told_and_asked_again(
    desk: Desk, at: Callable[..., Terminal]
) -> None:
    terminal = at(*desk.command(desk.call("c1", 5)))
    terminal.answer("e")
    terminal.expect("to go back: ")
    terminal.type('{"n": ')
    terminal.expect("can't be read")
    terminal.answer("e")
    terminal.expect("to go back: ")
    terminal.type(desk.edit("lots"))
    terminal.expect("that decided nothing: ")
    terminal.expect("'n'")
    terminal.answer("e")
    terminal.expect("to go back: ")
    terminal.type(desk.edit(4))
    assert terminal.close() == 0
    assert desk.paid == ["4"]


@pytest.mark.processes
def test_at_a_terminal_each_call_is_decided_and_resume_asks_again(
    desk: Desk, at: Callable[..., Terminal]
) -> None:
    terminal = at(*desk.command(desk.call("a", 1), desk.call("b", 2)))
    terminal.expect("(1 of 2)")
    terminal.answer("a")
    terminal.expect("(2 of 2)")
    terminal.answer("l")
    terminal.expect("answer with one of:")
    assert terminal.close() == 4
    assert desk.paid == []
    terminal = at("resume", "t", "--db", desk.db)
    terminal.answer("s")
    terminal.expect("to go back: ")
    terminal.type("paid in cash")
    terminal.answer("r")
    terminal.expect("reason, or nothing: ")
    terminal.type("too much")
    assert terminal.close() == 0
    assert desk.paid == []
    assert desk.results()[0] == "paid in cash"
    assert "too much" in desk.results()[1]


@pytest.mark.processes
def test_ctrl_c_at_the_prompt_ends_with_130_and_the_thread_waits_on(
    desk: Desk, at: Callable[..., Terminal]
) -> None:
    terminal = at(*desk.command(desk.call("c1", 5)))
    terminal.expect("[l]eave it waiting? ")
    terminal.interrupt()
    terminal.expect("--approve --call c1")
    assert terminal.close() == 130
    assert desk.status == "waiting"
    assert desk.resume("--approve").code == 0
    assert desk.paid == ["5"]


@pytest.mark.processes
def test_what_was_typed_before_the_question_was_shown_is_no_yes(
    desk: Desk, at: Callable[..., Terminal]
) -> None:
    terminal = at(*desk.command(desk.call("a", 1), desk.call("b", 2)))
    terminal.type("y\ny")
    terminal.answer("n")
    terminal.expect("reason, or nothing: ")
    terminal.type("")
    terminal.answer("l")
    assert terminal.close() == 4
    assert desk.paid == []


@pytest.mark.processes
def test_in_a_narrow_terminal_commands_stay_in_one_piece_and_arguments_below_the_effect(
    desk: Desk, at: Callable[..., Terminal]
) -> None:
    evil = f"{'x' * 60}  effect: pay only reads.\u200b\U000e0041"
    call = {"id": "c1", "name": "pay", "args": {"n": 1, "file": evil}}
    terminal = at(*desk.command(call), columns=40)
    terminal.expect("effect: pay changes")
    terminal.expect("reads.")
    terminal.answer("l")
    terminal.expect("answer with one of:")
    assert terminal.close() == 4
    shown = terminal.shown.rpartition("answer with one of:")[2].splitlines()
    commands = [line for line in shown if line.strip()]
    assert len(commands) == 4
    assert all("--call c1" in line for line in commands)
    assert not {"\u200b", "\U000e0041"} & set(terminal.shown)


@pytest.mark.processes
def test_the_end_of_the_input_leaves_it_waiting(desk: Desk, at: Callable[..., Terminal]) -> None:
    terminal = at(*desk.command(desk.call("c1", 5)))
    terminal.answer("\x04")
    assert terminal.close() == 4
    assert desk.status == "waiting"
