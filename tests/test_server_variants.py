"""Every variant under LangGraph's server, driven by its SDK: what Studio shows and does."""

import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient
from langgraph_sdk.errors import BadRequestError

from graphs import GRAPHS, open_graph
from graphs.state import Status
from tests.serving import served

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

STATUSES = set(Status.__args__)  # type: ignore[attr-defined]
QUESTION = "How much is 18% of a $250 order?"
ASKED: Any = {"messages": [{"role": "user", "content": QUESTION}]}
REFUND = {"order_id": "O-2001", "amount": "1.00", "reason": "late"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the server's files."""
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def client(place: Path) -> Iterator[SyncLangGraphClient]:
    """The SDK's client of a server that serves every variant."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("RUNGS_", "OPENAI_"))]:
            patch.delenv(name)
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        with (
            served(place, "--n-jobs-per-worker", "4") as url,
            get_sync_client(url=url, timeout=120) as client,
        ):
            yield client


@pytest.mark.parametrize("name", list(GRAPHS))
def test_a_first_question_is_answered_and_nothing_blocks_the_servers_loop(
    client: SyncLangGraphClient, place: Path, name: str
) -> None:
    """Case RUN-01: the first test of this file, on a server that has answered nothing yet."""
    ended: Any = client.runs.wait(None, name, input=ASKED)
    assert ended["status"] in STATUSES
    if name not in {"fixed_workflow", "forced_output"}:  # which can't calculate
        assert "45" in ended["answer"]
    log = (place / "server.log").read_text("utf-8", "replace")
    assert "Blocking call" not in log
    assert "Traceback" not in log


def assistant(client: SyncLangGraphClient, name: str) -> Any:
    (found,) = client.assistants.search(graph_id=name)
    return found


@pytest.mark.parametrize("name", list(GRAPHS))
def test_a_variant_is_described_and_its_settings_make_a_form(
    client: SyncLangGraphClient, name: str
) -> None:
    found = assistant(client, name)
    assert found["description"] == GRAPHS[name].DESCRIPTION
    schemas = client.assistants.get_schemas(found["assistant_id"])
    settings: Any = schemas["context_schema"]
    for field, about in settings["properties"].items():
        assert about.get("description"), field
    timeout = settings["properties"]["tool_timeout"]
    assert (timeout["exclusiveMinimum"], timeout["maximum"]) == (0, 3600)
    assert "messages" in schemas["input_schema"]["properties"]  # type: ignore[index]
    assert {"answer", "status"} <= set(schemas["output_schema"]["properties"])  # type: ignore[index]


@pytest.mark.parametrize("name", list(GRAPHS))
def test_a_drawing_has_the_nodes_and_the_words_on_its_edges(
    client: SyncLangGraphClient, name: str
) -> None:
    drawing: Any = client.assistants.get_graph(assistant(client, name)["assistant_id"])
    here = GRAPHS[name].graph.get_graph()
    assert {node["id"] for node in drawing["nodes"]} == set(here.nodes)
    words = {(edge["source"], edge["target"], edge.get("data")) for edge in drawing["edges"]}
    assert words == {(edge.source, edge.target, edge.data) for edge in here.edges}


@pytest.mark.parametrize("name", list(GRAPHS))
def test_a_run_streams_its_steps_and_can_be_read_back_and_forked(
    client: SyncLangGraphClient, name: str
) -> None:
    thread = client.threads.create()["thread_id"]
    modes: Any = ["updates", "values", "messages-tuple", "custom"]
    seen = [
        part.event
        for part in client.runs.stream(thread, name, input=ASKED, stream_mode=modes)
        if part.event != "metadata"
    ]
    assert "error" not in seen
    assert {"updates", "values"} <= set(seen)
    if name in {"one_call", "ladder"}:  # whose lowest rung it is: a tool runs in both
        assert "custom" in seen
    state: Any = client.threads.get_state(thread)
    assert state["values"]["status"] in STATUSES
    assert state["next"] == []
    history: Any = client.threads.get_history(thread, limit=50)
    earlier = next(one for one in history if one["next"] and one["values"].get("messages"))
    forked: Any = client.runs.wait(
        thread, name, input=None, checkpoint_id=earlier["checkpoint"]["checkpoint_id"]
    )
    assert forked["status"] in STATUSES


@pytest.mark.parametrize("name", list(GRAPHS))
def test_a_question_that_was_edited_at_an_earlier_step_is_answered_on_a_branch(
    client: SyncLangGraphClient, name: str
) -> None:
    thread = client.threads.create()["thread_id"]
    before: Any = client.runs.wait(thread, name, input=ASKED)
    ended: Any = client.threads.get_state(thread)
    history: Any = client.threads.get_history(thread, limit=50)
    first = next(one for one in reversed(history) if one["values"].get("messages"))
    (question,) = first["values"]["messages"]
    edited = {**question, "content": "How much is 20% of a $250 order?"}
    branch: Any = client.threads.update_state(
        thread, {"messages": [edited]}, checkpoint_id=first["checkpoint"]["checkpoint_id"]
    )
    there = branch["checkpoint"]["checkpoint_id"]
    assert client.threads.get_state(thread, checkpoint_id=there)["next"] == first["next"]
    after: Any = client.runs.wait(thread, name, input=None, checkpoint_id=there)
    asked = [m["content"] for m in after["messages"] if m["type"] == "human"]
    assert asked[0] == edited["content"]
    assert QUESTION not in asked
    if "45" in (before["answer"] or ""):
        assert "50" in after["answer"]
    then = client.threads.get_state(thread, checkpoint_id=ended["checkpoint"]["checkpoint_id"])
    assert then["values"]["answer"] == before["answer"]  # type: ignore[call-overload]


@pytest.mark.parametrize("name", list(GRAPHS))
def test_a_setting_out_of_its_bounds_is_refused(client: SyncLangGraphClient, name: str) -> None:
    thread = client.threads.create()["thread_id"]
    with pytest.raises(Exception, match="tool_timeout"):
        client.runs.wait(thread, name, input=ASKED, context={"tool_timeout": -1})


@pytest.mark.parametrize("value", [5, [5], {"role": "user"}])
def test_a_state_that_is_edited_into_no_message_is_refused_in_a_line(
    client: SyncLangGraphClient, value: Any
) -> None:
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "tools_in_context", input=ASKED)
    before = client.threads.get_state(thread)
    with pytest.raises(BadRequestError, match="messages can't be read"):
        client.threads.update_state(thread, {"messages": value})
    assert client.threads.get_state(thread)["checkpoint"] == before["checkpoint"]


@pytest.mark.parametrize("name", list(GRAPHS))
def test_a_thread_begun_in_python_goes_on_in_the_server_and_back(
    client: SyncLangGraphClient, place: Path, name: str
) -> None:
    thread = str(uuid.uuid4())
    config: Any = {"configurable": {"thread_id": thread}}
    db = place / "memory.sqlite"
    with open_graph(name, db=db, model="offline") as graph:
        begun = graph.invoke(ASKED, config)
    client.threads.create(thread_id=thread, graph_id=name)
    shown: Any = client.threads.get_state(thread)
    assert shown["values"]["status"] == begun["status"]
    served_: Any = client.runs.wait(thread, name, input=ASKED)
    assert served_["status"] == begun["status"]
    with open_graph(name, db=db, model="offline") as graph:
        messages = graph.get_state(config).values["messages"]
    assert [m.text for m in messages if m.type == "human"].count(QUESTION) == 2


@pytest.mark.parametrize("name", ["tool_calling"])
def test_a_pause_is_answered_with_a_no_and_its_reason(
    client: SyncLangGraphClient, place: Path, name: str
) -> None:
    call = {"id": "c1", "name": "issue_refund", "args": REFUND}
    script = place / f"{name}.json"
    script.write_text(json.dumps([{"tool_calls": [call]}, "Refunded."]), encoding="utf-8")
    context = {"model": f"scripted:{script}"}
    thread = client.threads.create()["thread_id"]
    paused: Any = client.runs.wait(thread, name, input=ASKED, context=context)
    (pause,) = paused["__interrupt__"]
    assert pause["value"]["action_requests"][0]["args"] == REFUND
    assert client.threads.get(thread)["status"] == "interrupted"
    decision = {"decisions": [{"type": "reject", "message": "not today"}]}
    ended: Any = client.runs.wait(thread, name, command={"resume": decision}, context=context)
    assert ended["answer"] == "Refunded."
    told = [m["content"] for m in ended["messages"] if m["type"] == "tool"]
    assert "not today" in told[0]
