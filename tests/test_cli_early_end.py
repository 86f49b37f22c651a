"""A run that is ended before its first step is recorded: what was told can be gone on with."""

import json
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from pydantic_core import SchemaError

from graphs import open_graph, thread_graph
from tests.cli import ROOT, Said, home, rungs, scripted

__all__ = ["home"]

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("home")]

QUESTION = "Is this kept whole? " + "word " * 400 + "the end"

ENDED_IN = """
import json, os, signal, sys
from unittest.mock import patch

def end(*_, **__):
    os.kill(os.getpid(), signal.{signal})

from graphs.cli import main
sys.argv[1:] = json.loads(sys.argv[1])
with patch("{place}", end):
    main()
"""
FIRST_CHECKPOINT = "graphs.memory.saver.Saver.put"
ENTERING = "graphs.thread_graph.enter_thread"


def ended_in(place: str, *arguments: str, signal: str = "SIGKILL") -> Said:
    """Run a command in a process that gets a signal when it comes to a place in the code."""
    code = ENDED_IN.format(place=place, signal=signal)
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("begun", [False, True], ids=["new thread", "thread with an answer"])
def test_a_run_killed_before_its_first_checkpoint_is_resumed_with_its_whole_question(
    home: Path, begun: bool
) -> None:
    db = str(home / "m.sqlite")
    replies = ["The first answer.", "The second answer."][not begun :]
    place = ("-t", "t", "--db", db, "--model", scripted(home, replies), "-u", "ann")
    if begun:
        assert rungs("ask", "Before?", *place).code == 0
    assert ended_in(FIRST_CHECKPOINT, "ask", QUESTION, *place).code == -9
    (listed,) = rungs("threads", "--db", db, "-u", "ann", "--json").out.splitlines()
    assert json.loads(listed)["status"] == "unfinished"
    assert json.loads(listed)["question"] == QUESTION[:500]
    said = rungs("resume", "t", "--db", db, "-u", "ann", "--json")
    assert said.code == 0, said
    assert said.json["answer"] == "The second answer."
    with open_graph("tools_in_context", db=db) as graph:
        messages = graph.get_state({"configurable": {"thread_id": "t"}}).values["messages"]
    assert [m.text for m in messages if m.type == "human"] == ["Before?"] * begun + [QUESTION]


def test_the_thread_is_told_only_when_it_is_recorded(home: Path) -> None:
    db = str(home / "m.sqlite")
    said = ended_in(ENTERING, "ask", "q", "-t", "t", "--db", db)
    assert said.code == -9
    assert said.out == ""
    assert "no threads" in rungs("threads", "--db", db).out


def test_ctrl_c_before_the_thread_is_recorded_promises_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    assert rungs("ask", "What is 1+1?", "-t", "t").code == 0
    monkeypatch.setattr(thread_graph, "enter_thread", interrupted)
    for thread in ("t", "new"):
        said = rungs("ask", "What is 2+2?", "-t", thread)
        assert said.code == 130
        assert said.error == "rungs: cancelled"


def test_ctrl_c_before_the_first_checkpoint_can_be_resumed(home: Path) -> None:
    db = str(home / "m.sqlite")
    model = scripted(home, ["Done."])
    said = ended_in(
        FIRST_CHECKPOINT, "ask", "q", "-t", "t", "--db", db, "--model", model, signal="SIGINT"
    )
    assert said.code == 130
    assert "rungs resume t" in said.out.replace("'", "")
    assert rungs("resume", "t", "--db", db, "--json").json["answer"] == "Done."


AT_THE_END = """
import atexit, os, signal, sys
sys.argv = ["rungs", "--version"]
from graphs.cli import main
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
main()
"""


def test_ctrl_c_at_the_very_end_is_130_and_no_death_by_signal() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_END], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 130
    assert done.stderr == ""


def test_ctrl_c_that_hits_an_import_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries make errors of their own of it, with it as the cause or in the words alone."""
    told = SchemaError('Error building "model" validator: KeyboardInterrupt: ')
    caused = ImportError("no such name")
    caused.__cause__ = KeyboardInterrupt()
    for error in (told, caused):
        monkeypatch.setattr(thread_graph, "enter_thread", Mock(side_effect=error))
        said = rungs("ask", "What is 2+2?", "-t", "t")
        assert said.code == 130
        assert said.error == "rungs: cancelled"
