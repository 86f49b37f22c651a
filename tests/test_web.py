"""The project's own page: what it is told about threads, and who may ask and answer."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from graphs.web import reading
from graphs.web.app import create_app
from tests.cli import REFUND, home, rungs, scripted

__all__ = ["home"]

HEADERS = {"x-rungs": "1"}
PARTS = (
    ("", "html"),
    ("page.css", "css"),
    *((name, "javascript") for name in ("page.js", "text.js", "drawing.js")),
)
DOLLAR = {"order_id": "O-2001", "amount": "1.00", "reason": "late"}


@pytest.fixture
def page(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """The page on a memory file of its own."""
    monkeypatch.setenv("RUNGS_DB", str(home / "memory.sqlite"))
    monkeypatch.setenv("RUNGS_SHOP", str(home / "shop.sqlite"))
    with TestClient(create_app(), base_url="http://127.0.0.1:1234") as client:
        yield client


def ask(home: Path, replies: list[Any], thread: str, *more: str) -> None:
    rungs("ask", "How much?", "--thread", thread, "--model", scripted(home, replies), *more)


def waiting(home: Path, thread: str) -> None:
    """Let a run wait for a yes to a refund of a dollar."""
    call = {"id": "c1", "name": "issue_refund", "args": DOLLAR}
    replies = [{"tool_calls": [call]}, "Done."]
    ask(home, replies, thread, "--graph", "tool_calling")


def told(page: TestClient, thread: str, **query: str) -> dict[str, Any]:
    reply = page.get(f"/rungs/api/threads/{thread}", params=query)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def test_a_run_is_told_step_by_step_with_its_cost_and_its_path(
    page: TestClient, home: Path
) -> None:
    ask(home, REFUND, "t1")
    (run,) = told(page, "t1")["runs"]
    assert run["question"]["text"] == "How much?"
    first, tool, last = run["steps"]
    assert first["calls"] == [
        {"id": "c1", "name": "calculator", "args": {"expression": "240*29/30"}}
    ]
    assert (tool["tool"], tool["result"], tool["status"]) == ("calculator", "232", "success")
    assert last["result"] == "The prorated refund is $232."
    taken = {(e["source"], e["target"]): e["taken"] for e in run["drawing"]["edges"]}
    assert taken["__start__", "call_model"] == 1
    assert taken["run_tools", "call_model"] == 1
    assert taken["call_model", "__end__"] == 1
    assert taken["finalize", "__end__"] == 0


def test_each_run_of_a_thread_has_its_own_path(page: TestClient, home: Path) -> None:
    ask(home, ["Hello."], "t1")
    model = scripted(home, [{"text": "unused"}, *REFUND])
    rungs("ask", "And then?", "--thread", "t1", "--model", model)
    first, second = told(page, "t1")["runs"]
    counted = [
        sum(edge["taken"] for edge in run["drawing"]["edges"] if edge["target"] == "run_tools")
        for run in (first, second)
    ]
    assert counted == [0, 1]


def prompt(page: TestClient, thread: str, step: int, **query: str) -> list[dict[str, Any]]:
    """Return the prompt of a step of the thread's newest run."""
    run = told(page, thread, **query)["runs"][-1]
    asked = {"reply": run["steps"][step]["id"], **query}
    sent: list[dict[str, Any]] = page.get(f"/rungs/api/prompts/{thread}", params=asked).json()
    return sent


def test_a_prompt_is_the_system_prompt_and_the_conversation_before_the_reply(
    page: TestClient, home: Path
) -> None:
    ask(home, REFUND, "t1", "--company", "Fjord")
    sent = prompt(page, "t1", 2)
    assert [message["role"] for message in sent] == ["system", "human", "ai", "tool"]
    assert sent[0]["text"].startswith("You are a support assistant for Fjord.")
    assert sent[3]["text"] == "232"
    assert page.get("/rungs/api/prompts/t1?reply=none").status_code == 404


def test_a_prompt_stays_what_it_was_whatever_a_later_run_is_told(
    page: TestClient, home: Path
) -> None:
    parrot = "system_prompt=You are a parrot. {{company}} {{memory_notes}}"
    ask(home, ["Hello."], "t1", "--set", parrot)
    ask(home, ["Hello."], "t2")
    assert prompt(page, "t1", 0)[0]["text"].startswith("You are a parrot. Globex")
    assert prompt(page, "t2", 0)[0]["text"].startswith("You are a support assistant for Globex.")


def test_a_kept_prompt_holds_no_note_of_the_users(page: TestClient, home: Path) -> None:
    rungs("ask", "Remember that I drink mate.", "--user", "ann", "--thread", "t1")
    ask(home, ["Hello."], "t2", "--user", "ann")
    shown = prompt(page, "t2", 0, user="ann")[0]["text"]
    assert "(the user's notes, as they were then)" in shown
    assert "mate" not in shown


@pytest.mark.parametrize(
    ("graph", "replies", "begins"),
    [
        ("react_transcript", ["Final Answer: yes"], "Answer the question by interleaving"),
        ("fixed_workflow", ["a", "b", "c"], "You are the first step of a fixed workflow"),
        ("ladder", ["Fine."], "You are a support assistant for Globex."),
    ],
)
def test_the_prompt_of_every_kind_of_graph_is_told(
    page: TestClient, home: Path, graph: str, replies: list[Any], begins: str
) -> None:
    ask(home, replies, "t1", "--graph", graph)
    assert prompt(page, "t1", 0)[0]["text"].startswith(begins)


def test_a_defect_is_one_line_of_json_without_secrets_and_its_trace_is_logged(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise KeyError("sk-live-0123456789abcdefghij\nand more")

    monkeypatch.setattr(reading, "threads_of", broken)
    with TestClient(
        create_app(str(home / "m.sqlite")), "http://127.0.0.1:1", raise_server_exceptions=False
    ) as page:
        reply = page.get("/rungs/api/threads")
    assert reply.status_code == 500
    problem = reply.json()["problem"]
    assert problem.startswith("a defect of the page: KeyError: ")
    assert "\n" not in problem
    assert "0123456789" not in problem
    (logged,) = [record for record in caplog.records if record.name == "rungs.web"]
    assert logged.levelname == "ERROR"
    first, *trace = logged.getMessage().splitlines()
    assert first == "the page could not answer /rungs/api/threads"
    assert trace[0].startswith("Traceback")
    assert any(line.endswith("in broken") for line in trace)
    assert "0123456789" not in logged.getMessage()
    assert not logged.exc_info


def test_what_waits_is_shown_and_a_yes_runs_it_once(page: TestClient, home: Path) -> None:
    waiting(home, "t1")
    (call,) = told(page, "t1")["waiting"]
    assert (call["tool"], call["arguments"]) == ("issue_refund", DOLLAR)
    yes = {"decisions": [{"type": "approve", "call_id": call["call_id"]}]}
    ended = page.post("/rungs/api/threads/t1/answer", json=yes, headers=HEADERS)
    assert ended.status_code == 200, ended.text
    assert ended.json()["outcome"]["answer"] == "Done."
    assert ended.json()["waiting"] == []
    again = page.post("/rungs/api/threads/t1/answer", json=yes, headers=HEADERS)
    assert again.status_code == 409
    assert "nothing in thread t1 waits" in again.json()["problem"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"decisions": []}', "one decision is needed"),
        ('{"decisions": [{"type": "maybe", "call_id": "c1"}]}', "a decision's type is one of"),
        ('{"decisions": [{"type": "approve"}]}', "call_id"),
        ('{"decisions": [{"type": "approve", "call_id": "c0"}]}', "name other calls"),
        ("[]", "an answer is"),
        ("{", "no JSON"),
    ],
)
def test_an_answer_that_decides_nothing_leaves_the_call_waiting(
    page: TestClient, home: Path, body: str, said: str
) -> None:
    waiting(home, "t1")
    reply = page.post("/rungs/api/threads/t1/answer", content=body, headers=HEADERS)
    assert reply.status_code in {400, 409}
    assert said in reply.json()["problem"]
    assert told(page, "t1")["thread"]["status"] == "waiting"


def test_a_users_threads_are_told_to_that_user_alone(page: TestClient, home: Path) -> None:
    ask(home, ["Hello."], "t1", "--user", "ann")
    listed = page.get("/rungs/api/threads", params={"user": "ann"}).json()
    assert [thread["thread_id"] for thread in listed] == ["t1"]
    assert page.get("/rungs/api/threads").json() == []
    for query in ({}, {"user": "bob"}):
        refused = page.get("/rungs/api/threads/t1", params=query)
        assert refused.status_code == 409
        assert "another user" in refused.json()["problem"]
        assert "Hello" not in refused.text


@pytest.mark.parametrize("thread", ["team/7", "a/answer", "a/prompts/b", "50% Ü#b?c&d=e/"])
def test_a_thread_of_any_name_is_read_and_answered(
    page: TestClient, home: Path, thread: str
) -> None:
    waiting(home, thread)
    named = quote(thread, safe="")
    found = told(page, named)
    assert found["thread"]["thread_id"] == thread
    assert prompt(page, named, 0)[-1]["text"] == "How much?"
    yes = {"decisions": [{"type": "approve", "call_id": found["waiting"][0]["call_id"]}]}
    ended = page.post(f"/rungs/api/threads/{named}/answer", json=yes, headers=HEADERS)
    assert ended.status_code == 200, ended.text
    assert ended.json()["thread"]["thread_id"] == thread
    assert ended.json()["outcome"]["answer"] == "Done."


def test_a_page_from_elsewhere_can_neither_read_nor_answer(page: TestClient, home: Path) -> None:
    waiting(home, "t1")
    elsewhere = page.get("/rungs/api/threads/t1", headers={"host": "evil.example"})
    assert elsewhere.status_code == 403
    yes = {"decisions": [{"type": "approve"}]}
    assert page.post("/rungs/api/threads/t1/answer", json=yes).status_code == 403
    assert told(page, "t1")["thread"]["status"] == "waiting"


def test_a_secret_in_a_thread_is_not_shown(page: TestClient, home: Path) -> None:
    key = "sk-live-0123456789abcdefghij"
    call = {"id": "c1", "name": "calculator", "args": {"expression": key}}
    ask(home, [{"tool_calls": [call]}, f"The key is {key}."], "t1")
    assert key not in json.dumps(told(page, "t1"))


def test_the_page_and_its_parts_load_nothing_from_elsewhere(page: TestClient) -> None:
    for name, kind in PARTS:
        reply = page.get(f"/rungs/{name}")
        assert kind in reply.headers["content-type"]
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        assert "https://" not in reply.text
    assert page.get("/rungs/../pyproject.toml").status_code == 404
    assert page.get("/rungs", follow_redirects=False).headers["location"] == "/rungs/"


def test_without_a_memory_file_there_are_no_threads_and_none_is_made(
    page: TestClient, home: Path
) -> None:
    assert page.get("/rungs/api/threads").json() == []
    assert not (home / "memory.sqlite").exists()


def test_rungs_view_says_what_is_wrong_before_it_serves(home: Path) -> None:
    db = str(home / "memory.sqlite")
    assert "no memory file" in rungs("view", "--db", db).error
    ask(home, ["Hello."], "t1", "--db", db)
    assert "no thread t9" in rungs("view", "t9", "--db", db).error
