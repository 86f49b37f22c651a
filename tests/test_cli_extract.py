"""`rungs extract`: many texts into records, in parallel, resumable after any stop."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphs.cli.results_file import ResultsFile
from tests.cli import LONGEST, Said, finish, home, rungs, scripted, start
from tests.records import called
from tests.stub_server import Recorded, Reply, StubServer, call, completion, serving

__all__ = ["home"]

pytestmark = pytest.mark.usefixtures("home")

TICKET = '''
from pydantic import BaseModel, Field

class Ticket(BaseModel):
    """Record a ticket."""

    name: str = Field(description="Who writes.")
    price: float | None = Field(default=None, description="The price, a number.")

class Bare(BaseModel):
    name: str

def function(): ...
'''
SCHEMA = "ticket.py:Ticket"


@pytest.fixture(autouse=True)
def _ticket(home: Path) -> Iterator[None]:
    Path("ticket.py").write_text(TICKET, encoding="utf-8")
    yield
    for name in ("ticket", "rungs_schema_ticket"):
        sys.modules.pop(name, None)


def texts(count: int) -> list[str]:
    """Write so many files with a text each; return their names."""
    names = [f"t{number:02d}.txt" for number in range(count)]
    for name in names:
        Path(name).write_text(f"A ticket from {name}", encoding="utf-8")
    return names


def lines(said: Said | Path) -> list[dict[str, Any]]:
    """Read JSON Lines."""
    text = said.out if isinstance(said, Said) else said.read_text(encoding="utf-8")
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


class Server:
    """A model server that names the text it was asked about, and counts how often it was."""

    def __init__(self, fails: str = "") -> None:
        self.asked: Counter[str] = Counter()
        self.most = self.now = 0
        self.wait = threading.Event()
        self.wait.set()
        self.held = ""
        self.fails = fails
        self._lock = threading.Lock()

    def __call__(self, request: Recorded) -> Any:
        text = request.json["messages"][-1]["content"].split()[-1]
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        if text >= self.held > "":
            self.wait.wait(30)
        time.sleep(0.01)
        with self._lock:
            self.now -= 1
            self.asked[text] += 1
        if text == self.fails:
            return Reply({"error": {"message": "no"}}, status=400)
        arguments = json.dumps({"name": text})
        return completion(tool_calls=[call("record_request", arguments)])


def environment(server: StubServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.base_url, "RUNGS_MODEL": "openai:stub"}


def use(monkeypatch: pytest.MonkeyPatch, server: StubServer) -> None:
    for name, value in environment(server).items():
        monkeypatch.setenv(name, value)


def test_records_and_rejections_are_json_lines_on_stdout_each_with_its_source() -> None:
    names = texts(2)
    replies = [called({"name": "A", "price": 3}), called({"name": "B", "price": "$3"})]
    model = scripted(Path.cwd(), replies)
    said = rungs("extract", SCHEMA, *names, "--model", model, "--jobs", "1")
    good, bad = lines(said)
    assert (good["source"], good["status"], good["record"]) == (
        "t00.txt",
        "record",
        {"name": "A", "price": 3},
    )
    assert (bad["source"], bad["status"]) == ("t01.txt", "rejected")
    assert "price" in bad["rejection"]["errors"][0]
    assert bad["rejection"]["raw_arguments"] == {"name": "B", "price": "$3"}
    assert said.code == 1
    assert "2 inputs: 1 record, 1 rejected, 0 failed" in said.err


def test_texts_are_asked_about_side_by_side_and_never_more_than_jobs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server()
    names = texts(12)
    with serving(server) as running:
        use(monkeypatch, running)
        said = rungs("extract", SCHEMA, *names, "--jobs", "3")
    assert said.code == 0, said.err
    assert [line["record"]["name"] for line in lines(said)] == names
    assert 1 < server.most <= 3


def test_what_is_finished_is_not_asked_again_and_again_asks_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server(fails="t01.txt")
    names = texts(3)
    with serving(server) as running:
        use(monkeypatch, running)
        first = rungs("extract", SCHEMA, *names)
        assert [line["source"] for line in lines(first)] == ["t00.txt", "t02.txt"]
        assert first.code == 1
        assert "t01.txt: the model failed" in first.err
        assert "the same command goes on with the 1 left" in first.err
        server.fails = ""
        second = rungs("extract", SCHEMA, *names)
        assert [line["source"] for line in lines(second)] == names
        assert second.code == 0
        assert server.asked == {"t00.txt": 1, "t01.txt": 2, "t02.txt": 1}
        rungs("extract", SCHEMA, *names, "--again")
        assert server.asked == {"t00.txt": 2, "t01.txt": 3, "t02.txt": 2}
        rungs("extract", SCHEMA, *names, "--user", "ann")
        assert server.asked["t00.txt"] == 3


def test_a_model_that_keeps_failing_is_not_asked_about_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failing = Reply({"error": {"message": "broken"}}, status=400)
    names = texts(60)
    with serving([failing]) as running:
        use(monkeypatch, running)
        said = rungs("extract", SCHEMA, *names, "--jobs", "2")
        assert len(running.requests) < 40
    assert said.code == 1
    assert said.out == ""
    assert "the same command goes on with the 60 left" in said.err


def test_out_takes_the_lines_and_json_prints_the_summary_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server, out = Server(), Path("r.jsonl")
    names = texts(3)
    with serving(server) as running:
        use(monkeypatch, running)
        said = rungs("extract", SCHEMA, *names, "--out", "r.jsonl", "--json")
        more = rungs("extract", SCHEMA, *names[1:], "--out", "r.jsonl", "--json")
    assert said.json | {"seconds": 0} == {
        "inputs": 3,
        "records": 3,
        "rejected": 0,
        "failed": 0,
        "left": 0,
        "model_calls": 3,
        "input_tokens": None,
        "output_tokens": None,
        "seconds": 0,
        "out": "r.jsonl",
    }
    assert (more.json["model_calls"], more.json["records"]) == (0, 2)
    assert [line["source"] for line in lines(out)] == names
    assert "--out" in rungs("extract", SCHEMA, *names, "--json").error


def test_a_changed_text_replaces_its_line_a_half_line_goes_and_other_lines_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server, out = Server(), Path("r.jsonl")
    names = texts(3)
    with serving(server) as running:
        use(monkeypatch, running)
        rungs("extract", SCHEMA, *names, "--out", "r.jsonl")
        Path("t01.txt").write_text("A ticket from changed", encoding="utf-8")
        with out.open("ab") as file:
            file.write(b'{"source": "t09')
        said = rungs("extract", SCHEMA, "t01.txt", "--out", "r.jsonl")
    assert said.code == 0
    assert "1 older line of the same sources was replaced" in said.err
    assert [(line["source"], line["record"]["name"]) for line in lines(out)] == [
        ("t00.txt", "t00.txt"),
        ("t02.txt", "t02.txt"),
        ("t01.txt", "changed"),
    ]
    assert not list(Path.cwd().glob(".r.jsonl*"))


def test_an_older_line_stays_until_its_new_one_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    server, out = Server(), Path("r.jsonl")
    names = texts(3)
    with serving(server) as running:
        use(monkeypatch, running)
        rungs("extract", SCHEMA, *names, "--out", "r.jsonl")
        before = out.read_bytes()
        server.fails = "t00.txt"
        failed = rungs("extract", SCHEMA, names[0], "--out", "r.jsonl", "--again")
        assert failed.code == 1
        assert out.read_bytes() == before
        server.fails = ""
        rungs("extract", SCHEMA, *names, "--out", "r.jsonl")
        assert server.asked["t00.txt"] == 2, "what has a line is not asked about"
        anew = rungs("extract", SCHEMA, *names, "--out", "r.jsonl", "--again")
    assert "3 older lines of the same sources were replaced" in anew.err
    assert [line["source"] for line in lines(out)] == names


def test_a_file_that_a_kill_left_with_older_and_newer_lines_has_the_newer_ones_next() -> None:
    def line(source: str, thread: str) -> dict[str, str]:
        return {"source": source, "status": "record", "thread": thread}

    with ResultsFile("r.jsonl", {}) as file:
        for source, thread in (("a", "t1"), ("b", "t2"), ("-", "t3"), ("-", "t4")):
            file.add(line(source, thread))
    killed = ResultsFile("r.jsonl", {"a": "t5"})
    killed.add(line("a", "t5"))
    os.close(killed._file)  # as the end of its process would
    assert [each["thread"] for each in lines(Path("r.jsonl"))] == ["t1", "t2", "t3", "t4", "t5"]
    with ResultsFile("r.jsonl", {"a": "t5", "b": "t6"}) as file:
        assert file.done == {"a": "record"}
    assert [each["thread"] for each in lines(Path("r.jsonl"))] == ["t2", "t3", "t4", "t5"]


def test_texts_that_came_by_stdin_each_keep_their_line() -> None:
    for name in ("Bob", "Eve", "Bob"):
        rungs(*("extract", SCHEMA, "-", "--out", "r.jsonl"), stdin=f"My name is {name}.".encode())
    found = [line["record"]["name"] for line in lines(Path("r.jsonl"))]
    assert found == ["Bob", "Eve"]


def test_what_a_schemas_module_prints_is_none_of_the_lines_and_out_may_be_stdout() -> None:
    Path("ticket.py").write_text(f'print("hello")\n{TICKET}', encoding="utf-8")
    said = rungs("extract", SCHEMA, "-", "--out", "-", stdin=b"My name is Ann.")
    assert [line["record"]["name"] for line in lines(said)] == ["Ann"]
    assert "hello" in said.err
    assert not Path("-").exists()


def test_the_same_text_from_two_sources_is_asked_once_and_has_two_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("in.jsonl").write_text(
        '{"body": "from x"}\n\n"from y"\n{"body": "from x"}\n', encoding="utf-8"
    )
    server = Server()
    with serving(server) as running:
        use(monkeypatch, running)
        said = rungs("extract", SCHEMA, "in.jsonl", "in.jsonl", "--field", "body")
    assert [(line["source"], line["record"]["name"]) for line in lines(said)] == [
        ("in.jsonl:1", "x"),
        ("in.jsonl:4", "x"),
        ("in.jsonl:3", "y"),
    ]
    assert server.asked == {"x": 1, "y": 1}


def test_stdin_is_one_text_or_with_jsonl_a_text_a_line() -> None:
    said = rungs("extract", SCHEMA, "-", stdin=b"\xef\xbb\xbfMy name is Ann.\n\nPrice: $3\n")
    (line,) = lines(said)
    assert (line["source"], line["record"]["name"]) == ("-", "Ann")
    said = rungs("extract", SCHEMA, "-", "--jsonl", stdin=b'"I am Ann."\n"I am Bo."\n')
    assert [(line["source"], line["record"]["name"]) for line in lines(said)] == [
        ("-:1", "Ann"),
        ("-:2", "Bo"),
    ]


def test_odd_names_and_line_separators_are_no_matter() -> None:
    odd = os.fsdecode(b"caf\xe9.txt")
    Path(odd).write_text("I am Ann.", encoding="utf-8")
    Path("s.jsonl").write_bytes('{"text": "I am Bo.\u2028And more."}\r\n'.encode())
    said = rungs("extract", SCHEMA, odd, "s.jsonl", "--out", "r.jsonl")
    assert said.code == 0, said.err
    first, second = lines(Path("r.jsonl"))
    assert (first["source"], first["record"]["name"]) == ("caf\\udce9.txt", "Ann")
    assert (second["source"], second["record"]["name"]) == ("s.jsonl:1", "Bo")


def test_refused_credentials_end_it_at_once_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Reply({"error": {"message": "no such key"}}, status=401)
    with serving([refused]) as running:
        use(monkeypatch, running)
        said = rungs("extract", SCHEMA, *texts(20), "--out", "r.jsonl", "--jobs", "2")
        assert len(running.requests) < 20
    assert said.code == 2
    assert "OPENAI_API_KEY" in said.error
    assert lines(Path("r.jsonl")) == []


def test_a_file_that_another_run_writes_is_refused() -> None:
    with ResultsFile("r.jsonl", {}):
        said = rungs("extract", SCHEMA, *texts(1), "--out", "r.jsonl")
    assert said.code == 2
    assert "being written by another run" in said.error


def test_a_schema_is_named_by_module_by_file_or_is_a_json_schema() -> None:
    schema = {"properties": {"name": {"type": "string", "description": "Who writes."}}}
    Path("ticket.json").write_text(json.dumps(schema), encoding="utf-8")
    Path("a.txt").write_text("I am Ann.", encoding="utf-8")
    for spec in (SCHEMA, "ticket:Ticket", "ticket.json", "graphs.support_request:SupportRequest"):
        (line,) = lines(rungs("extract", spec, "a.txt"))
        assert "Ann" in json.dumps(line)


DOORS = [
    (["nowhere:Model", "a.txt"], "no module 'nowhere'"),
    (["ticket", "a.txt"], "names no schema: write module:Model"),
    (["ticket:", "a.txt"], "names no schema"),
    (["no such/x.py:Ticket", "a.txt"], "does not exist"),
    (["ticket.py:Tiket", "a.txt"], "no model 'Tiket'; did you mean Ticket?"),
    (["ticket.py:function", "a.txt"], "is a function, no Pydantic model; it has: Ticket, Bare"),
    (["ticket.py:Bare", "a.txt"], "ticket.py:Bare: its field 'name' has no description"),
    (["broken.py:Model", "a.txt"], "broken.py failed: ZeroDivisionError"),
    (["none.json", "a.txt"], "none.json can't be read"),
    (["list.json", "a.txt"], "must be a JSON object"),
    ([SCHEMA, "none.txt"], "none.txt can't be read: No such file"),
    ([SCHEMA, "."], ". is a folder"),
    ([SCHEMA, "latin.txt"], "latin.txt is not UTF-8 text"),
    ([SCHEMA, "binary.txt"], "binary.txt is binary"),
    ([SCHEMA, "empty.txt"], "empty.txt is empty"),
    ([SCHEMA, "a.txt", "empty.txt", "none.txt"], "(and 1 more can't be used); nothing was asked"),
    ([SCHEMA, "long.txt"], "long.txt has more than 100,000 characters"),
    ([SCHEMA, "bad.jsonl"], "bad.jsonl:2 is not complete JSON"),
    ([SCHEMA, "field.jsonl"], "field.jsonl:1 has no text in 'text'"),
    ([SCHEMA, "a.txt", "--out", "a.txt"], "a.txt is one of the inputs"),
    ([SCHEMA, "a.txt", "--out", "broken.py"], "holds other things than results"),
    ([SCHEMA, "a.txt", "--out", "no/such/r.jsonl"], "can't be written"),
    ([SCHEMA, "a.txt", "--out", "."], "no regular file"),
    ([SCHEMA, "a.txt", "--model", "opnai:x"], "unknown provider"),
    ([SCHEMA, "a.txt", "--jobs", "0"], "--jobs"),
    ([SCHEMA], "FILE"),
]


@pytest.mark.parametrize(("arguments", "why"), DOORS)
def test_what_can_t_be_used_is_told_in_one_line_before_anything_is_asked(
    arguments: list[str], why: str
) -> None:
    Path("a.txt").write_text("I am Ann.", encoding="utf-8")
    Path("latin.txt").write_bytes(b"caf\xe9")
    Path("binary.txt").write_bytes(b"a\0b")
    Path("empty.txt").write_text(" \n", encoding="utf-8")
    Path("long.txt").write_text("x" * 100_001, encoding="utf-8")
    Path("bad.jsonl").write_text('"good"\n{"text": "a\n', encoding="utf-8")
    Path("field.jsonl").write_text('{"body": "a"}\n', encoding="utf-8")
    Path("list.json").write_text("[]", encoding="utf-8")
    Path("broken.py").write_text("1 / 0\n", encoding="utf-8")
    before = {path.name: path.read_bytes() for path in Path.cwd().iterdir() if path.is_file()}
    said = rungs("extract", *arguments)
    assert said.code == 2, said
    assert why in said.error
    for name, data in before.items():
        assert Path(name).read_bytes() == data


def wait_for(path: Path, count: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a file has so many whole lines."""
    end = time.monotonic() + LONGEST
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert process.poll() is None, finish(process)
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.crash
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_stopped_or_killed_the_same_command_goes_on_asks_nothing_twice_and_repeats_no_line(
    ending: signal.Signals, home: Path
) -> None:
    server = Server()
    server.held = "t05.txt"
    server.wait.clear()
    names = [str(Path(name).absolute()) for name in texts(9)]
    here = Path.cwd()
    schema, out, db = f"{here}/ticket.py:Ticket", here / "r.jsonl", str(here / "m.sqlite")
    with serving(server) as running:
        command = ["extract", schema, *names, "--out", str(out), "--db", db, "--jobs", "2"]
        process = start(*command, env=environment(running))
        wait_for(out, 5, process)
        os.kill(process.pid, ending)
        said = finish(process)
        assert said.code == (130 if ending == signal.SIGINT else -9)
        if ending == signal.SIGINT:
            assert "stopped: 9 inputs: 5 records" in said.err
            assert "the same command goes on with the 4 left" in said.err
            assert said.err.count("\n") == 1
        assert [line["source"] for line in lines(out)] == names[:5]
        server.wait.set()
        server.held = ""
        again = finish(start(*command, env=environment(running)))
    assert again.code == 0, again.err
    assert [line["source"] for line in lines(out)] == names
    assert all(server.asked[f"t{number:02d}.txt"] == 1 for number in range(5))


def test_a_thread_of_an_extraction_is_resumed_and_audited_with_its_own_schema() -> None:
    Path("a.txt").write_text("I am Ann.", encoding="utf-8")
    (line,) = lines(rungs("extract", SCHEMA, "a.txt"))
    told = rungs("audit", line["thread"], "--json")
    assert [json.loads(event)["kind"] for event in told.out.splitlines()] == [
        "model_call",
        "tool_call",
    ]
    said = rungs("ask", "I am Bo.", "--thread", line["thread"], "--json")
    assert said.json["record"] == {"name": "Bo"}


def test_ask_shows_the_record_and_a_rejection_fails() -> None:
    said = rungs("ask", "--graph", "forced_output", "--schema", SCHEMA, "I am Ann. Price: $3", "-q")
    assert json.loads(said.out) == {"name": "Ann", "price": 3}
    said = rungs("ask", "--graph", "forced_output", "--schema", SCHEMA, "Hello?", "--json")
    assert said.code == 1
    assert said.json["rejection"]["raw_arguments"] == {"price": None}
    wrong = rungs("ask", "--schema", SCHEMA, "Hello?")
    assert wrong.code == 2
    assert "--graph forced_output" in wrong.error


def test_a_progress_bar_is_on_stderr_and_breaks_no_line_on_a_terminal() -> None:
    names = texts(2)
    said = rungs("extract", SCHEMA, *names, terminal=True)
    assert "extracting" not in said.err
    assert len(lines(said)) == 2
    said = rungs("extract", SCHEMA, *names, "--out", "r.jsonl", "--json", terminal=True)
    assert "extracting" in said.err
    assert said.json["inputs"] == 2
    assert len(lines(Path("r.jsonl"))) == 2
