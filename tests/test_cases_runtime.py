"""Where a graph runs: without a network, on whatever path, with what Studio sends beside."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from graphs import GRAPHS, UsageError, open_graph
from graphs.models import ScriptedModel
from tests.cli import home, rungs
from tests.stub_server import StubServer, completion
from tests.support import MODES, Mode, run

__all__ = ["home"]

QUESTION = "How much is 18% of a $250 order?"
STUDIO: dict[str, Any] = {
    "user_id": "eve",
    "langgraph_auth_user": None,
    "langgraph_auth_user_id": "",
    "langgraph_auth_permissions": [],
    "langgraph_request_id": "r1",
    "run_id": "01a22fd9-4e81-721c-b011-724f3daa6c9a",
    "checkpoint_id": None,
    "__request_start_time_ms__": 1,
    "anything": {"else": 1},
}
BLOCKS = [{"type": "text", "text": QUESTION}]
FORMS: list[Any] = [
    {"role": "user", "content": BLOCKS},
    {"type": "human", "content": BLOCKS, "id": "m1", "additional_kwargs": {}},
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", list(GRAPHS))
def test_a_run_reaches_nothing_but_the_server_of_its_model(
    mode: Mode, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case RUN-03."""
    reached: set[Any] = set()
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def connecting(self: Any, address: Any) -> None:
        reached.add(address)
        connect(self, address)

    def looking_up(host: Any, port: Any, *more: Any, **others: Any) -> Any:
        reached.add((host, port))
        return look_up(host, port, *more, **others)

    with StubServer([completion("Final Answer: It is 45.")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
        monkeypatch.setattr(socket.socket, "connect", connecting)
        monkeypatch.setattr(socket, "getaddrinfo", looking_up)
        with open_graph(name, db=tmp_path / "r.sqlite") as graph:
            output = run(mode, graph, QUESTION, context={"model": "openai:stub-1"})
    assert output["status"]
    assert server.requests
    assert {request.path for request in server.requests} == {"/v1/chat/completions"}
    assert {str(host) for host, _ in reached} == {"127.0.0.1"}
    assert {port for _, port in reached} == {int(server.base_url.split(":")[2].split("/")[0])}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("nodir/x.db", "there is no folder"),
        ("my data/ünï 码.db", None),
        ("a directory", "is a folder"),
        ("closed/x.db", "no permission"),
    ],
)
def test_a_memory_file_works_on_any_path_or_is_refused_by_its_name_before_a_run(
    mode: Mode, place: str, why: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case RUN-07; `os.access` is asked, for no mode keeps root out."""
    for folder in ("my data", "a directory", "closed"):
        (tmp_path / folder).mkdir()
    closed, access = tmp_path / "closed", os.access
    monkeypatch.setattr(os, "access", lambda path, how: path != closed and access(path, how))
    model = ScriptedModel(replies=["Hello."])
    path = tmp_path / place

    def ask() -> Any:
        with open_graph("tools_in_context", db=path, model=model, tools=[]) as graph:
            return run(mode, graph, "?")

    if why is None:
        assert ask()["answer"] == "Hello."
        assert path.is_file()
        return
    with pytest.raises(UsageError, match=why) as caught:
        ask()
    assert str(path if path.is_dir() else path.parent) in str(caught.value)
    assert model.requests == []


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("place", "why"), [("nodir/x.db", "there is no folder"), ("a directory", "is a folder")]
)
def test_the_command_line_says_in_a_line_what_is_wrong_with_a_path(
    place: str, why: str, tmp_path: Path
) -> None:
    """Case RUN-07."""
    (tmp_path / "a directory").mkdir()
    said = rungs("ask", "?", "--db", str(tmp_path / place))
    assert why in said.error
    assert str((tmp_path / place).parent) in said.error


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", list(GRAPHS))
def test_what_studio_sends_beside_changes_nothing_and_every_form_of_a_message_is_read(
    mode: Mode, name: str, tmp_path: Path
) -> None:
    """Case RUN-09."""
    with open_graph(name, db=tmp_path / "r.sqlite", model="offline") as graph:
        plain = run(mode, graph, QUESTION, thread="plain")
        for place, form in enumerate(FORMS):
            given = {"messages": [form]}
            config = {"configurable": dict(STUDIO)}
            settings = {"langgraph_auth_user_id": "", "anything": 1}
            told = run(mode, graph, given, thread=f"t{place}", config=config, context=settings)
            for field in ("answer", "status", "stop_reason"):
                assert told[field] == plain[field], form
            state = graph.get_state({"configurable": {"thread_id": f"t{place}"}})
            assert state.values.get("owner") is None


@pytest.mark.parametrize("mode", MODES)
def test_the_user_is_who_the_context_names(mode: Mode, tmp_path: Path) -> None:
    """Case RUN-09."""
    config = {"configurable": {**STUDIO, "langgraph_auth_user_id": "eve"}}
    with open_graph("tools_in_context", db=tmp_path / "r.sqlite", model="offline") as graph:
        run(mode, graph, QUESTION, config=config, context={"user_id": "ann"})
        state = graph.get_state({"configurable": {"thread_id": "t"}})
    assert state.values["owner"] == "ann"
