"""Checkpoints: threads that go on, numbers that survive, and four entry points on one file."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from graphs import UsageError, open_graph
from graphs.models import ScriptedModel
from tests.support import ALL_MODES, MODES, Mode, results, run

NAME = "tools_in_context"


def calculating(expression: str, call_id: str = "c") -> dict[str, Any]:
    return {
        "tool_calls": [{"id": call_id, "name": "calculator", "args": {"expression": expression}}]
    }


@pytest.mark.parametrize("mode", MODES)
def test_a_new_question_on_an_old_thread_sees_nothing_stale(mode: Mode, tmp_path: Path) -> None:
    """Case CKP-01."""
    calls = [calculating(str(n), str(n)) for n in range(5)]
    model = ScriptedModel(replies=[*calls, "7", "8"])
    with open_graph(NAME, db=tmp_path / "r.sqlite", model=model) as graph:
        first = run(mode, graph, "?")
        assert (first["answer"], first["status"]) == ("7", "tool_limit")
        second = run(mode, graph, "?")
    assert (second["answer"], second["status"]) == ("8", "answered")
    assert second["usage"]["model_calls"] == 1
    assert len(second["messages"]) == 2 + 10 + 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("expression", "shown"),
    [("2**64", "18446744073709551616"), ("10**30", "1" + "0" * 30), ("1/3", "1/3")],
)
def test_exact_numbers_are_stored_reloaded_and_shown_exactly(
    mode: Mode, expression: str, shown: str, tmp_path: Path
) -> None:
    """Case CKP-05."""
    model = ScriptedModel(replies=[calculating(expression), "ok"])
    with open_graph(NAME, db=tmp_path / "r.sqlite", model=model) as graph:
        run(mode, graph, "?")
    with open_graph(NAME, db=tmp_path / "r.sqlite", model=model) as graph:
        saved = graph.get_state({"configurable": {"thread_id": "t"}}).values
    assert shown in results(saved["messages"])[0].text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "old",
    [
        {"progress": {"version": 0, "question": "x", "rounds": [1, 2]}},
        {"progress": 3},
        {"progress": ["rounds"]},
        {"calls": {"not": "a list"}},
        {"status": "gone", "usage": 3},
    ],
)
def test_a_field_of_another_layout_is_reset_and_the_thread_answers(
    mode: Mode, old: dict[str, Any], tmp_path: Path
) -> None:
    """Case CKP-07."""
    model = ScriptedModel(replies=[calculating("1+1"), "2"])
    with open_graph(NAME, db=tmp_path / "r.sqlite", model=model) as graph:
        config: Any = {"configurable": {"thread_id": "t"}}
        before = {"messages": [HumanMessage("old", id="h")], **old}
        graph.update_state(config, before, as_node="finalize")
        output = run(mode, graph, "?")
    assert (output["answer"], output["status"]) == ("2", "answered")


@pytest.mark.parametrize("mode", MODES)
def test_a_user_whose_id_holds_sql_works_and_sees_no_foreign_rows(
    mode: Mode, tmp_path: Path
) -> None:
    """Case CKP-09."""
    save = {"tool_calls": [{"id": "n", "name": "save_note", "args": {"text": "mine"}}]}
    model = ScriptedModel(replies=[save, "ok", "nothing"])
    with open_graph(NAME, db=tmp_path / "r.sqlite", model=model) as graph:
        run(mode, graph, "?", thread="1", context={"user_id": "a'b"})
        run(mode, graph, "?", thread="2", context={"user_id": "x') OR 1=1 --"})
    assert "mine" not in str(model.requests[-1].messages)


def test_four_entry_points_give_the_same_result_and_the_same_rows(tmp_path: Path) -> None:
    """Case CKP-11."""
    seen = []
    for mode in ALL_MODES:
        path = tmp_path / f"{mode}.sqlite"
        model = ScriptedModel(replies=[calculating("240*29/30"), "It is 232."])
        with open_graph(NAME, db=path, model=model) as graph:
            output = run(mode, graph, "?")
        with sqlite3.connect(path) as connection:
            rows = connection.execute(
                "SELECT channel, count(*) FROM writes GROUP BY channel ORDER BY channel"
            ).fetchall()
            steps = connection.execute("SELECT count(*) FROM checkpoints").fetchone()
        connection.close()
        texts = [message.text for message in output["messages"]]
        seen.append((output["answer"], output["status"], texts, rows, steps))
    assert seen[0] == seen[1] == seen[2] == seen[3]


@pytest.mark.parametrize("mode", MODES)
def test_a_key_in_the_config_is_on_no_disk_and_the_file_is_private(
    mode: Mode, tmp_path: Path
) -> None:
    """Case CKP-13."""
    model = ScriptedModel(replies=[calculating("1"), "1"])
    with open_graph(NAME, db=tmp_path / "r.sqlite", model=model) as graph:
        config: Any = {"configurable": {"thread_id": "t", "api_key": "sk-live-9"}}
        run(mode, graph, "?", config=config | {"metadata": {"api_key": "sk-live-9"}})
        files = list(tmp_path.iterdir())
        assert files
        for file in files:
            assert b"sk-live-9" not in file.read_bytes()
            assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("thread", [None, "", "  "])
def test_a_thread_id_is_required(mode: Mode, thread: str | None, tmp_path: Path) -> None:
    with (
        open_graph(NAME, db=tmp_path / "r.sqlite", model="offline") as graph,
        pytest.raises(UsageError, match="thread id"),
    ):
        run(mode, graph, "?", thread=thread)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "given",
    [
        {"messages": []},
        {"messages": [{"role": "user", "content": "  "}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]},
        {"messages": [{"role": "assistant", "content": "x"}]},
        {"messages": [{"nothing": 1}]},
        {"messages": 3},
        {},
    ],
)
def test_a_missing_question_is_refused_before_anything_is_written(
    mode: Mode, given: Any, tmp_path: Path
) -> None:
    with open_graph(NAME, db=tmp_path / "r.sqlite", model="offline") as graph:
        with pytest.raises(UsageError):
            run(mode, graph, given)
        assert graph.memory.saver.get_tuple({"configurable": {"thread_id": "t"}}) is None
        assert graph.memory.store.get(("threads",), "t") is None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "context",
    [
        {"max_tool_rounds": 0},
        {"tool_timeout": "soon"},
        {"tool_result_limit": 1},
        {"max_tool_round": 3},
        {"maxToolRounds": 3},
        3,
    ],
)
def test_a_context_value_out_of_its_bounds_is_one_line_that_names_it(
    mode: Mode, context: Any, tmp_path: Path
) -> None:
    with (
        open_graph(NAME, db=tmp_path / "r.sqlite", model="offline") as graph,
        pytest.raises(UsageError) as caught,
    ):
        run(mode, graph, "?", context=context)
    assert "\n" not in str(caught.value)
    for key in context if isinstance(context, dict) else ["mapping"]:
        assert key in str(caught.value)
    assert graph.name == NAME


@pytest.mark.parametrize("mode", MODES)
def test_a_context_may_hold_what_servers_and_other_variants_put_there(
    mode: Mode, tmp_path: Path
) -> None:
    context = {"langgraph_auth_user": "ann", "max_tool_calls": 3, "max_steps": 2}
    model = ScriptedModel(replies=["ok"])
    with open_graph(NAME, db=tmp_path / "r.sqlite", model=model) as graph:
        assert run(mode, graph, "?", context=context)["answer"] == "ok"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "question",
    ["Answer as {your response}", "A = {1; 2}", "{}", "{0}", "{{x}}", "%s %(a)s $x ${y}"],
)
def test_a_question_with_braces_reaches_the_model_byte_for_byte(
    mode: Mode, question: str, tmp_path: Path
) -> None:
    """Case TPL-03."""
    model = ScriptedModel(replies=["ok"])
    with open_graph(NAME, db=tmp_path / "r.sqlite", model=model) as graph:
        run(mode, graph, question)
    assert model.requests[0].messages[-1].content == question


@pytest.mark.parametrize("mode", MODES)
def test_a_question_as_blocks_means_its_text(mode: Mode, tmp_path: Path) -> None:
    model = ScriptedModel(replies=["ok"])
    blocks = [{"type": "text", "text": "What is "}, {"type": "text", "text": "it?"}]
    with open_graph(NAME, db=tmp_path / "r.sqlite", model=model) as graph:
        output = run(mode, graph, {"messages": [{"role": "user", "content": blocks}]})
    assert output["status"] == "answered"
    assert model.requests[0].messages[-1].text == "What is it?"


def test_a_second_run_in_a_thread_that_is_busy_is_refused(tmp_path: Path) -> None:
    model = ScriptedModel(replies=[calculating("1"), "1", "2"])
    with open_graph(NAME, db=tmp_path / "r.sqlite", model=model) as graph:
        config: Any = {"configurable": {"thread_id": "t"}}
        first = graph.stream({"messages": [HumanMessage("?")]}, config)
        next(first)
        with pytest.raises(UsageError, match="in use"):
            run("invoke", graph, "?")
        list(first)
        assert run("invoke", graph, "?")["answer"] == "2"


def test_there_is_one_line_for_a_graph_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="tools_in_context"):
        open_graph("nothing", db=tmp_path / "r.sqlite")


async def test_the_graph_opens_and_runs_in_async_code(tmp_path: Path) -> None:
    model = ScriptedModel(replies=[calculating("1+1"), "2"])
    async with open_graph(NAME, db=tmp_path / "r.sqlite", model=model) as graph:
        given = {"messages": [HumanMessage("?")]}
        output = await graph.ainvoke(given, {"configurable": {"thread_id": "t"}})
        states = [s async for s in graph.aget_state_history({"configurable": {"thread_id": "t"}})]
    assert output["answer"] == "2"
    assert len(states) > 3
