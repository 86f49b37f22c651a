"""Several users: nobody reaches another's notes, threads or cached results."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from graphs import UsageError, open_graph
from graphs.models import ScriptedModel
from graphs.threads import get_thread, list_threads
from tests.support import MODES, Mode, compiled, result_for, run
from tools.notes import read_notes

pytestmark = pytest.mark.parametrize("mode", MODES)


def saving(text: str, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"id": "n", "name": "save_note", "args": {"text": text, **more}}]}


def test_the_model_is_shown_no_user_and_can_name_none(mode: Mode) -> None:
    """Case USR-01."""
    store = InMemoryStore()
    model = ScriptedModel(replies=[saving("mine", user_id="bob"), "-"])
    output = run(mode, compiled(model, store=store), "?", context={"user_id": "ann"})
    for schema in model.requests[0].tool_schemas:
        properties = schema["function"]["parameters"]["properties"]
        assert not {"user_id", "user", "tenant", "namespace", "path", "runtime"} & set(properties)
    assert result_for(output["messages"], "n").status == "error"
    assert "'user_id'" in result_for(output["messages"], "n").text
    assert read_notes(store, "ann") == read_notes(store, "bob") == []


@pytest.mark.parametrize("context", [{}, {"user_id": None}, {"user_id": ""}, {"user_id": "  "}])
def test_without_a_user_notes_are_off_and_the_run_works(mode: Mode, context: Any) -> None:
    """Case USR-03."""
    store = InMemoryStore()
    model = ScriptedModel(replies=[saving("x"), "I can't keep that."])
    output = run(mode, compiled(model, store=store), "?", context=context)
    assert result_for(output["messages"], "n").status == "error"
    assert "user" in result_for(output["messages"], "n").text
    assert output["status"] == "answered"
    assert {kept[0] for kept in store.list_namespaces()} <= {"prompts"}  # nothing of a user's


def test_another_users_thread_is_neither_run_resumed_nor_listed(mode: Mode, tmp_path: Path) -> None:
    """Case USR-05."""
    model = ScriptedModel(replies=["For Ann.", "Again for Ann."])
    with open_graph("tools_in_context", db=tmp_path / "r.sqlite", model=model, tools=[]) as graph:
        run(mode, graph, "?", thread="T", context={"user_id": "ann"})
        for other in ({"user_id": "bob"}, {}, None):
            for question in ("?", None):
                with pytest.raises(UsageError, match="another user"):
                    run(mode, graph, question, thread="T", context=other)
        for user in ("bob", None):
            assert list_threads(graph.memory, user) == []
            with pytest.raises(UsageError, match="another user"):
                get_thread(graph.memory, "T", user)
        assert len(model.requests) == 1
        assert (
            run(mode, graph, "?", thread="T", context={"user_id": "ann"})["answer"]
            == "Again for Ann."
        )
        (thread,) = list_threads(graph.memory, "ann")
        assert (thread.thread_id, thread.status) == ("T", "answered")


def test_a_bare_graph_with_a_saver_of_the_callers_refuses_another_user_too(mode: Mode) -> None:
    """Case USR-05, where no memory file is in force."""
    model = ScriptedModel(replies=["For Ann.", "For Ann again."])
    graph = compiled(model, [], checkpointer=InMemorySaver())
    run(mode, graph, "?", context={"user_id": "ann"})
    with pytest.raises(UsageError, match="another user"):
        run(mode, graph, "?", context={"user_id": "bob"})
    assert len(model.requests) == 1
    assert run(mode, graph, "?", context={"user_id": "ann"})["answer"] == "For Ann again."


def test_ids_that_a_store_would_refuse_or_mix_up_keep_their_own_notes(
    mode: Mode, tmp_path: Path
) -> None:
    """Cases USR-07 and USR-09."""
    users = ["ann.lee@x.example", "a.b", "a_b", "langgraph", "имя", "a", "a%"]
    for user in users:
        model = ScriptedModel(replies=[saving("the same text"), "ok", saving(f"of {user}"), "ok"])
        with open_graph("tools_in_context", db=tmp_path / "r.sqlite", model=model) as graph:
            run(mode, graph, "?", thread=user, context={"user_id": user})
            run(mode, graph, "?", thread=user, context={"user_id": user})
    with open_graph("tools_in_context", db=tmp_path / "r.sqlite", model="offline") as graph:
        for user in users:
            kept = [note.text for note in read_notes(graph.memory.store, user)]
            assert kept == ["the same text", f"of {user}"]
