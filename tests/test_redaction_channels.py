"""A planted secret, in each channel that is redacted: it is in no file, stream, log or request."""

import asyncio
import json
import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command, interrupt
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.config import get_stream_writer
from pydantic import BaseModel, Field

from graphs import open_graph
from graphs.forced_output import TOOL
from graphs.models import ScriptedModel
from graphs.vault import VAULT, SealedError
from tests.cli import home, rungs, scripted
from tests.support import ALL_MODES, Mode, result_for, run
from tools import contract

__all__ = ["home"]

TOKEN = "sk-live-9f8e7d6c5b4a3"
PASSWORD = "tr0ub4dor-and-three"
OTHER = "eve.adams@mail.example"
CARD = "4111 1111 1111 1111"
PLANTED = (TOKEN, PASSWORD, OTHER, CARD, CARD.replace(" ", ""))

EVERY_STREAM: Any = ["messages", "values", "updates", "custom", "debug", "checkpoints", "tasks"]


class Listener(BaseCallbackHandler):
    """Writes down whatever callbacks are told, as a tracer would."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_"):
            return lambda *args, **kwargs: self.heard.append(f"{name} {args!r} {kwargs!r}")
        return super().__getattribute__(name)


class Place:
    """A memory file, a log and a listener, in which no secret may be."""

    def __init__(self, path: Path, caplog: pytest.LogCaptureFixture) -> None:
        self.db = path / "rungs.sqlite"
        self.listener = Listener()
        self.streamed: list[str] = []
        self.requests: list[str] = []
        self._log = caplog
        caplog.set_level(logging.DEBUG)

    def ask(
        self,
        replies: list[Any],
        tools: list[Any] | None,
        question: Any = "Do it, please.",
        *,
        mode: Mode = "stream",
        name: str = "tool_calling",
        context: Any = None,
    ) -> dict[str, Any]:
        model = ScriptedModel(replies=replies)
        config: Any = {"configurable": {"thread_id": "t"}, "callbacks": [self.listener]}
        given = {"messages": [("user", question)]} if isinstance(question, str) else question
        with open_graph(name, db=self.db, model=model, tools=tools) as graph:
            if mode in ("stream", "astream"):
                stream: Any = {"config": config, "context": context, "stream_mode": EVERY_STREAM}
                parts = (
                    list(graph.stream(given, **stream))
                    if mode == "stream"
                    else asyncio.run(_all(graph.astream(given, **stream)))
                )
                self.streamed += [repr(part) for part in parts]
                result: Any = [part for kind, part in parts if kind == "values"][-1]
            else:
                result = run(mode, graph, given, config=config, context=context)
            state = graph.get_state(config)
            history = [repr(saved) for saved in graph.get_state_history(config)]
            self.streamed += [repr(state), *history]
        self.requests += [repr(request) for request in model.requests]
        return dict(result)

    def clean(self, *planted: str) -> None:
        """Assert that a secret was left nowhere."""
        files = [file for file in self.db.parent.iterdir() if file.name.startswith(self.db.name)]
        assert self.db in files
        for secret in planted:
            for file in files:
                assert secret.encode() not in file.read_bytes(), (secret, file.name)
            # what a caller passes in, its own callbacks are told by LangGraph as it came
            given = ("on_chain_start (None, Command(", "on_chain_start (None, {'messages'")
            heard = [said for said in self.listener.heard if not said.startswith(given)]
            for said in (*heard, *self.streamed, *self.requests):
                assert secret not in said, said
            for record in self._log.records:
                assert secret not in record.getMessage()


async def _all(parts: Any) -> list[Any]:
    return [part async for part in parts]


@pytest.fixture
def place(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Place:
    return Place(tmp_path, caplog)


def calling(name: str, args: dict[str, Any], text: str = "") -> dict[str, Any]:
    return {"text": text, "tool_calls": [{"id": "c1", "name": name, "args": args}]}


class Door:
    """Tools that write down what they were really called with."""

    def __init__(self) -> None:
        self.came: list[Any] = []

    def log_in(self, user: str, password: str, note: str = "") -> str:
        """Log a user in."""
        self.came.append((user, password, note))
        return f"{user} came in with {password}, {json.dumps(password)}; {note}"

    def fail(self, password: str) -> str:
        """Try a password."""
        self.came.append(password)
        raise RuntimeError(f"{password} was refused")


ARGUMENTS = {"user": "ann", "password": PASSWORD, "note": f"use {TOKEN}"}


@pytest.mark.parametrize("mode", ALL_MODES)
def test_secrets_in_arguments_reach_the_tool_and_nothing_else(place: Place, mode: Mode) -> None:
    door = Door()
    tool = contract(door.log_in, effect="read_only")
    ended = place.ask([calling("log_in", ARGUMENTS), "done"], [tool], mode=mode)
    assert door.came == [("ann", PASSWORD, f"use {TOKEN}")]
    (reply,) = [m for m in ended["messages"] if isinstance(m, AIMessage) and m.tool_calls]
    assert reply.tool_calls[0]["args"] == {
        "user": "ann",
        "password": "[redacted]",
        "note": "use [redacted]",
    }
    shown = 'ann came in with [redacted], "[redacted]"; use [redacted]'
    assert result_for(ended["messages"], "c1").text == shown
    assert ended["usage"]["redacted"] == {"credential": 2}
    place.clean(*PLANTED)


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_call_approved_in_another_process_runs_with_its_real_arguments(
    place: Place, mode: Mode
) -> None:
    door = Door()
    tool = contract(door.log_in, effect="state_changing")
    place.ask([calling("log_in", ARGUMENTS)], [tool], mode=mode)
    assert door.came == []
    assert any("'args': {'user': 'ann', 'password': '[redacted]'" in s for s in place.streamed)
    VAULT._ciphers.clear()  # as another process begins
    answer: Any = Command(resume={"decisions": [{"type": "approve"}]})
    ended = place.ask(["done"], [tool], answer, mode=mode)
    assert ended["status"] == "answered"
    assert door.came == [("ann", PASSWORD, f"use {TOKEN}")]
    place.clean(*PLANTED)


def test_an_edit_keeps_what_it_was_shown_redacted_and_its_own_secrets_are_stored_nowhere(
    place: Place,
) -> None:
    door = Door()
    tool = contract(door.log_in, effect="state_changing")
    place.ask([calling("log_in", ARGUMENTS)], [tool])
    edited = {"user": "bob", "password": "[redacted]", "note": f"pay {CARD}"}
    decision = {"type": "edit", "edited_action": {"name": "log_in", "args": edited}}
    place.ask(["done"], [tool], Command(resume={"decisions": [decision]}))
    assert door.came == [("bob", PASSWORD, f"pay {CARD}")]
    place.clean(*PLANTED)


def test_an_edit_that_holds_a_mark_of_its_own_is_asked_for_again(place: Place) -> None:
    door = Door()
    tool = contract(door.log_in, effect="state_changing")
    place.ask([calling("log_in", {"user": "ann", "password": ""})], [tool])
    edited = {"user": "ann", "password": "[redacted]"}
    decision = {"type": "edit", "edited_action": {"name": "log_in", "args": edited}}
    ended = place.ask([], [tool], Command(resume={"decisions": [decision]}))
    assert "which stands for a secret" in ended["__interrupt__"][0].value["problem"]
    assert door.came == []


@pytest.mark.parametrize("kind", ["respond", "reject"])
def test_what_a_person_says_to_a_pause_is_redacted(place: Place, kind: str) -> None:
    tool = contract(Door().log_in, effect="state_changing")
    place.ask([calling("log_in", {"user": "ann", "password": "x"})], [tool])
    decision = {"type": kind, "message": f"the key is {TOKEN}"}
    ended = place.ask(["done"], [tool], Command(resume={"decisions": [decision]}))
    assert result_for(ended["messages"], "c1").text.endswith("the key is [redacted]")
    place.clean(TOKEN)


@pytest.mark.parametrize("mode", ALL_MODES)
def test_secrets_in_results_errors_notes_and_progress_are_nowhere(place: Place, mode: Mode) -> None:
    def read_file(name: str) -> dict[str, str]:
        """Read a file."""
        get_stream_writer()({"progress": f"found {TOKEN}"})
        return {"token": PASSWORD, "text": f"{TOKEN} {OTHER} {CARD}"}

    door = Door()
    from tools.notes import save_note

    calls = [
        {"id": "c1", "name": "read_file", "args": {"name": "a"}},
        {"id": "c2", "name": "fail", "args": {"password": PASSWORD}},
        {"id": "c3", "name": "save_note", "args": {"text": f"Ann's key is {TOKEN}"}},
        {"id": "c4", "name": "no_such_tool", "args": {"password": PASSWORD}},
        {"id": "c5", "name": "fail", "args": {"password": [PASSWORD]}},
        {"id": "c6", "name": "fail", "args_raw": f'{{"password": "{PASSWORD}", "n": }}'},
    ]
    tools = [contract(tool, effect="read_only") for tool in (read_file, door.fail)]
    tools.append(contract(save_note, effect="state_changing", requires_confirmation=False))
    ended = place.ask(
        [{"text": f"My token is {TOKEN}.", "tool_calls": calls}, f"It is {TOKEN}, or {OTHER}."],
        tools,
        mode=mode,
        context={"user_id": "ann"},
    )
    assert ended["answer"] == "It is [redacted], or [redacted]."
    assert door.came == [PASSWORD]
    assert result_for(ended["messages"], "c2").text.endswith("[redacted] was refused")
    assert result_for(ended["messages"], "c3").text == "Noted."
    with open_graph("tool_calling", db=place.db, model=ScriptedModel(), tools=tools) as graph:
        (note,) = graph.memory.store.search(("notes",))
        assert note.value["text"] == "Ann's key is [redacted]"
    place.clean(*PLANTED)


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_langchain_tool_and_a_model_inside_a_tool_are_told_to_nobody_unredacted(
    place: Place, mode: Mode
) -> None:
    def ask_a_model(secret: str) -> str:
        """Ask another model."""
        inner = ScriptedModel(replies=[f"it is {TOKEN}", f"it is {PASSWORD}"])
        return f"{inner.invoke(secret).text} {len(''.join(c.text for c in inner.stream('go on')))}"

    tool = contract(StructuredTool.from_function(ask_a_model), effect="read_only")
    ended = place.ask([calling("ask_a_model", {"secret": PASSWORD}), "done"], [tool], mode=mode)
    assert result_for(ended["messages"], "c1").text == f"it is [redacted] {len(PASSWORD) + 6}"
    place.clean(*PLANTED)
    heard = [said for said in place.listener.heard if said.startswith("on_tool_")]
    assert [said.split()[0] for said in heard] == ["on_tool_start", "on_tool_end"]


def test_a_tool_that_asks_a_person_itself_shows_them_no_secret(place: Place) -> None:
    def ask_back(topic: str) -> str:
        """Ask the user."""
        return f"told {len(str(interrupt({'question': f'Is {TOKEN} right?'})))}"

    tool = contract(ask_back, effect="read_only")
    ended = place.ask([calling("ask_back", {"topic": "x"})], [tool])
    assert ended["__interrupt__"][0].value == {"question": "Is [redacted] right?"}
    ended = place.ask(["done"], [tool], Command(resume=f"no, {CARD}"))
    assert result_for(ended["messages"], "c1").text == f"told {len(CARD) + 4}"
    place.clean(*PLANTED)


@pytest.mark.parametrize("mode", ALL_MODES)
def test_an_error_of_the_model_tells_no_secret(place: Place, mode: Mode) -> None:
    ended = place.ask([ValueError(f"bad request: {TOKEN}")], [Door().log_in], mode=mode)
    assert ended["status"] == "no_answer"
    assert "[redacted]" in ended["stop_reason"]
    place.clean(TOKEN)


def test_a_react_action_runs_with_its_real_input(place: Place) -> None:
    door = Door()

    def unlock(password: str) -> str:
        """Unlock the door."""
        door.came.append(password)
        return f"{password} fits"

    replies = [f"Thought: try\nAction: unlock[{TOKEN}]", "Final Answer: it is open"]
    ended = place.ask(replies, [contract(unlock, effect="read_only")], name="react_transcript")
    assert ended["answer"] == "it is open"
    assert door.came == [TOKEN]
    place.clean(TOKEN)


def test_arguments_sealed_with_a_key_that_is_gone_do_not_run_and_say_why(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = Door()
    tool = contract(door.log_in, effect="state_changing")
    place.ask([calling("log_in", ARGUMENTS)], [tool])
    monkeypatch.setenv("RUNGS_KEY", str(tmp_path / "other" / "key"))
    answer: Any = Command(resume={"decisions": [{"type": "approve"}]})
    ended = place.ask(["done"], [tool], answer)
    assert "sealed with a key that is not here" in result_for(ended["messages"], "c1").text
    assert door.came == []
    assert (tmp_path / "other" / "key").stat().st_mode & 0o777 == 0o600
    assert ended["status"] == "answered"


def test_the_mark_is_no_value_a_model_may_pass_on(place: Place) -> None:
    door = Door()
    tool = contract(door.log_in, effect="read_only")
    call = calling("log_in", {"user": "ann", "password": "[redacted]"})
    ended = place.ask([call, "done"], [tool])
    assert "stands for a secret" in result_for(ended["messages"], "c1").text
    assert door.came == []


def test_other_passwords_are_other_calls_and_the_same_one_is_the_same(place: Place) -> None:
    tries: list[str] = []

    def guess(password: str) -> str:
        """Try a password."""
        tries.append(password)
        return "wrong"

    def made(*passwords: str) -> list[Any]:
        calls = [
            {"tool_calls": [{"id": f"{p}{n}", "name": "guess", "args": {"password": p}}]}
            for n, p in enumerate(passwords)
        ]
        return [*calls, "done"]

    tool = contract(guess, effect="read_only")
    place.ask(made("aaaa", "bbbb", "cccc", "dddd"), [tool])
    assert tries == ["aaaa", "bbbb", "cccc", "dddd"]
    tries.clear()
    place.ask(made("eeee", "eeee", "eeee"), [tool])
    assert tries == ["eeee", "eeee"]


def test_results_of_calls_with_secrets_are_not_cached(place: Place) -> None:
    door = Door()
    tool = contract(door.log_in, effect="read_only", cache_seconds=60)
    second = {"tool_calls": [{"id": "c2", "name": "log_in", "args": ARGUMENTS}]}
    place.ask([calling("log_in", ARGUMENTS), second, "done"], [tool])
    assert len(door.came) == 2


def test_what_is_sealed_opens_with_its_key_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RUNGS_KEY", str(tmp_path / "a"))
    sealed = VAULT.seal({"b": 1, "a": "\ud83c"})
    assert VAULT.open(sealed) == {"a": "\ud83c", "b": 1}
    assert sealed == VAULT.seal({"a": "\ud83c", "b": 1})
    for broken in (sealed[:-6] + "AAAA==", "", "é", sealed[4:]):
        with pytest.raises(SealedError):
            VAULT.open(broken)
    monkeypatch.setenv("RUNGS_KEY", str(tmp_path / "b"))
    with pytest.raises(SealedError):
        VAULT.open(sealed)


def test_a_key_file_that_can_t_be_used_is_told_and_serves_this_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "key").write_text("no key")
    monkeypatch.setenv("RUNGS_KEY", str(tmp_path / "key"))
    assert VAULT.open(VAULT.seal(["x"])) == ["x"]
    assert "holds no key of 64 bytes" in caplog.text
    assert (tmp_path / "key").read_text() == "no key"


def test_the_file_holds_the_arguments_in_no_other_writing(place: Place) -> None:
    tool = contract(Door().log_in, effect="state_changing")
    place.ask([calling("log_in", ARGUMENTS)], [tool])
    with sqlite3.connect(place.db) as connection:
        dump = "\n".join(connection.iterdump())
    for secret in (PASSWORD, TOKEN):
        assert secret.encode().hex() not in dump.lower()
        assert secret not in dump


def test_a_runs_own_notes_and_a_summary_hold_no_secret(place: Place) -> None:
    def search(query: str) -> str:
        """Search."""
        return f"Observation of {query} " + "word " * 200

    note = f"Thought: keep\nAction: update_notes[[x] use {TOKEN}, ask {OTHER}]"
    tool = contract(search, effect="read_only")
    ended = place.ask([note, "Final Answer: done"], [tool], name="react_todo_notes")
    assert ended["notes"] == "[x] use [redacted], ask [redacted]"

    turns = iter(range(1, 100))
    summaries = []

    def reply(messages: Any, _: Any) -> str:
        if "compress the history" in str(messages[0].text):
            summaries.append(1)
            return f"- used {TOKEN} for {OTHER}"
        number = next(turns)
        return f"Thought: t\nAction: search[item {number}]" if number < 8 else "Final Answer: done"

    ended = place.ask(
        [reply] * 40, [tool], name="react_compaction", context={"context_window": 2500}
    )
    assert summaries
    assert "used [redacted] for [redacted]" in ended["summary"]
    place.clean(TOKEN, OTHER)


def test_a_record_is_judged_as_it_came_and_told_without_its_secrets(place: Place) -> None:
    class Account(BaseModel):
        """An account."""

        user: str = Field(description="The user's name.")
        password: str = Field(description="The password.", pattern="^tr0ub")
        email: str = Field(description="The user's address.")

    args = {"user": "ann", "password": PASSWORD, "email": "ann@mail.example"}
    model = ScriptedModel(replies=[calling(TOOL, args)])
    with open_graph("forced_output", db=place.db, model=model, schema=Account) as graph:
        ended = graph.invoke(
            {"messages": [("user", "I am ann@mail.example: make my account")]},
            {"configurable": {"thread_id": "t"}},
        )
    assert ended["status"] == "record", ended["rejection"]
    assert ended["record"] == {
        "user": "ann",
        "password": "[redacted]",
        "email": "ann@mail.example",
    }
    place.clean(PASSWORD)


def test_the_command_line_shows_counts_and_no_secret(
    home: Path, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = {"text": f"The key is {TOKEN}.", "tool_calls": []}
    model = scripted(home, [reply])
    said = rungs("ask", "--model", model, "--thread", "t1", "What is the key?")
    assert said.code == 0, said.err
    assert "The key is [redacted]." in said.out
    assert "1 redacted" in said.out
    told = rungs("audit", "t1")
    assert "redacted: 1 credential" in told.out
    for text in (said.out, said.err, told.out, told.err):
        assert TOKEN not in text


@pytest.mark.parametrize("before", ["validate_calls", "run_tools"])
def test_a_run_cut_short_goes_on_elsewhere_with_the_real_arguments(
    place: Place, before: str
) -> None:
    door = Door()
    # a call that may not run beside it takes the reply by way of validate_calls
    calls = [*calling("log_in", ARGUMENTS)["tool_calls"], {"id": "c2", "name": "no", "args": {}}]
    tools = [contract(door.log_in, effect="read_only")]
    config: Any = {"configurable": {"thread_id": "t"}}
    model = ScriptedModel(replies=[{"tool_calls": calls}, "done"])
    with open_graph("tools_in_context", db=place.db, model=model, tools=tools) as graph:
        graph.invoke({"messages": [("user", "Go.")]}, config, interrupt_before=[before])
    assert door.came == []
    place.clean(*PLANTED)
    VAULT._ciphers.clear()  # as another process begins
    with open_graph("tools_in_context", db=place.db, model=model, tools=tools) as graph:
        ended = graph.invoke(None, config)
    assert ended["answer"] == "done"
    assert door.came == [("ann", PASSWORD, f"use {TOKEN}")]
    place.clean(*PLANTED)


@pytest.mark.parametrize("key", [TOKEN, OTHER])
@pytest.mark.parametrize("place", ["nested", "unknown argument"])
def test_a_secret_that_is_a_name_among_the_arguments_is_found_nowhere(
    key: str, place: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    got: list[Any] = []

    def act(data: dict[str, Any]) -> str:
        """Act on data."""
        got.append(data)
        return "done"

    arguments = {"data": {key: 1}} if place == "nested" else {"data": {}, key: 1}
    call = {"id": "c1", "name": "act", "args": arguments}
    model = ScriptedModel(replies=[{"tool_calls": [call]}, "Done."])
    db = tmp_path / "r.sqlite"
    caplog.set_level("INFO", logger="rungs.audit")
    with open_graph("tools_in_context", db=db, model=model, tools=[act]) as graph:
        given = {"messages": [{"role": "user", "content": "Act"}]}
        config: Any = {"configurable": {"thread_id": "t"}}
        modes: Any = ["values", "updates", "messages", "custom", "debug"]
        streamed = repr(list(graph.stream(given, config, stream_mode=modes)))
        assert key not in streamed
        assert key not in repr([m.model_dump() for m in model.requests[1].messages])
        written = b"".join(file.read_bytes() for file in tmp_path.glob("r.sqlite*"))
        assert key.encode() not in written
    assert key not in caplog.text
    assert got == ([{key: 1}] if place == "nested" else [])


NAMED = {
    "a call's name": {"id": "c1", "name": TOKEN, "args": {}},
    "a call's id": {"id": TOKEN, "name": "log_in", "args": {"user": "ann", "password": "x"}},
    "the name of a call that does not parse": {"id": "c1", "name": TOKEN, "args_raw": "{"},
    "the id of a call that does not parse": {"id": TOKEN, "name": "log_in", "args_raw": "{"},
    "both": {"id": TOKEN, "name": TOKEN, "args": {}},
}


@pytest.mark.parametrize("mode", ALL_MODES)
@pytest.mark.parametrize("where", NAMED)
def test_a_secret_that_a_reply_has_for_a_name_or_an_id_is_found_nowhere(
    place: Place, mode: Mode, where: str
) -> None:
    tool = contract(Door().log_in, effect="read_only")
    other = {"id": "c9", "name": "log_in", "args": {"user": "bob", "password": "y"}}
    for name in ("tool_calling", "tools_in_context"):
        reply = {"text": "", "tool_calls": [NAMED[where], other]}
        ended = place.ask([reply, "done"], [tool], mode=mode, name=name)
        assert ended["status"] == "answered"
        calls = [m for m in ended["messages"] if isinstance(m, AIMessage)][-2]
        asked = [*calls.tool_calls, *calls.invalid_tool_calls]
        answered = [m.tool_call_id for m in ended["messages"] if isinstance(m, ToolMessage)][-2:]
        assert sorted(answered) == sorted(str(call["id"]) for call in asked)
    place.clean(*PLANTED)


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_secret_among_the_blocks_of_a_reply_is_found_nowhere(place: Place, mode: Mode) -> None:
    tool = contract(Door().log_in, effect="read_only")
    block = {"type": "tool_use", "id": TOKEN, "name": TOKEN, "input": {"password": PASSWORD}}
    call = {"id": TOKEN, "name": TOKEN, "args": {"password": PASSWORD}}
    reply = AIMessage([{"type": "text", "text": "Wait."}, block], id=TOKEN, tool_calls=[call])
    ended = place.ask([reply, "done"], [tool], mode=mode)
    assert ended["status"] == "answered"
    place.clean(*PLANTED)


ELSEWHERE: dict[str, list[Any]] = {
    "react_transcript": [f"Thought: t\nAction: {TOKEN}[x]", "Final Answer: done"],
    "react_todo_notes": [f"Thought: t\nAction: {TOKEN}[x]", "Final Answer: done"],
    "react_compaction": [f"Thought: t\nAction: {TOKEN}[x]", "Final Answer: done"],
    "tool_search_toolkit": [calling("tool_call", {"name": TOKEN, "input": {}}), "done"],
    "deferred_tool_search": [calling("tool_search", {"query": TOKEN}), "done"],
    "one_call": [calling(TOKEN, {}), "done"],
    "full_agent": [calling(TOKEN, {}), calling("finish", {"answer": "done"})],
    "fixed_workflow": [calling(TOKEN, {}), calling(TOKEN, {}), "done", "done"],
    "ladder": [calling(TOKEN, {}), "done"],
    "forced_output": [calling(TOKEN, {})],
}


@pytest.mark.parametrize("mode", ["invoke", "astream"])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_secret_that_a_variant_is_given_for_a_tool_s_name_is_found_nowhere(
    place: Place, mode: Mode, name: str
) -> None:
    tools = [contract(Door().log_in, effect="read_only")] if name.startswith("react") else None
    ended = place.ask(ELSEWHERE[name], tools, mode=mode, name=name)
    assert ended["status"] in {"answered", "rejected", "no_answer", "stuck", "tool_limit"}
    place.clean(TOKEN)


def test_a_call_whose_id_is_a_secret_is_approved_and_runs_once(place: Place) -> None:
    door = Door()
    tool = contract(door.log_in, effect="state_changing")
    asked = {"id": TOKEN, "name": "log_in", "args": {"user": "ann", "password": "x"}}
    place.ask([{"tool_calls": [asked]}], [tool])
    ended = place.ask(["done"], [tool], Command(resume={"decisions": [{"type": "approve"}]}))
    assert ended["status"] == "answered"
    assert door.came == [("ann", "x", "")]
    place.clean(TOKEN)


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_secret_in_what_a_server_tells_of_its_reply_is_found_nowhere(
    place: Place, mode: Mode
) -> None:
    headers = {"authorization": f"Bearer {TOKEN}", "x-request-id": "r1"}
    told = {"model_name": f"m {TOKEN}", "headers": headers, "finish_reason": "stop"}
    ended = place.ask([AIMessage("Hello.", response_metadata=told)], [Door().log_in], mode=mode)
    assert ended["answer"] == "Hello."
    kept = ended["messages"][-1].response_metadata
    assert kept["model_name"] == "m [redacted]"
    assert kept["headers"]["x-request-id"] == "r1"
    place.clean(TOKEN)
