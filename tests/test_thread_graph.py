"""The graph that `open_graph` yields: all of LangGraph's entry points, one run a thread."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda

from graphs import UsageError, open_graph
from graphs.models import ModelError, ScriptedModel
from graphs.thread_graph import ThreadGraph
from graphs.threads import list_threads
from graphs.tools_in_context import build
from tests.support import MODES, Mode, results, run
from tools import ContractError

CONFIG: Any = {"configurable": {"thread_id": "t"}}
ASK: Any = {"messages": [{"role": "user", "content": "?"}]}


def look(query: str) -> str:
    """Look something up."""
    return f"found {query}"


def looking(call_id: str) -> dict[str, Any]:
    return {"tool_calls": [{"id": call_id, "name": "look", "args": {"query": call_id}}]}


def opened(folder: Path, *replies: Any) -> Any:
    model = ScriptedModel(replies=list(replies))
    return open_graph("tools_in_context", db=folder / "r.sqlite", model=model, tools=[look])


@pytest.mark.parametrize(
    "stream_mode",
    [
        "values",
        "updates",
        "messages",
        "custom",
        "debug",
        "tasks",
        "checkpoints",
        ["updates", "custom"],
        ["values", "messages"],
    ],
)
def test_every_stream_mode_ends_with_the_run(stream_mode: Any, tmp_path: Path) -> None:
    with opened(tmp_path, looking("a"), "Done.", looking("b"), "Done.") as graph:
        sync = list(graph.stream(ASK, CONFIG, stream_mode=stream_mode))

        async def collect() -> list[Any]:
            return [part async for part in graph.astream(ASK, CONFIG, stream_mode=stream_mode)]

        assert sync
        assert asyncio.run(collect())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "form",
    [
        lambda text: {"messages": [("user", text)]},
        lambda text: {"messages": text},
        lambda text: {"messages": [text]},
        lambda text: {"messages": ("user", text)},
        lambda text: {"messages": [HumanMessage(text)]},
        lambda text: {"messages": [HumanMessage(text, id="the-same")]},
        lambda text: {"messages": HumanMessage(text)},
    ],
)
@pytest.mark.parametrize("bare", [False, True])
def test_each_question_is_a_run_of_its_own_whatever_form_it_has(
    mode: Mode, form: Any, bare: bool, tmp_path: Path
) -> None:
    model = ScriptedModel(replies=["seven", looking("k"), "eight"])
    with open_graph(
        "tools_in_context", db=tmp_path / "r.sqlite", model=model, tools=[look]
    ) as opened_graph:
        graph: Any = opened_graph
        if bare:
            saver = opened_graph.memory.saver
            graph = build(model=model, tools=[look]).compile(checkpointer=saver)
        assert run(mode, graph, form("q1"))["answer"] == "seven"
        second = run(mode, graph, form("q2"))
    assert second["answer"] == "eight"
    assert second["usage"]["tool_calls"] == 1
    assert [r.text for r in results(second["messages"])] == ["found k"]
    questions = [m.text for m in second["messages"] if isinstance(m, HumanMessage)]
    assert questions[-1] == "q2"
    assert len(questions) == len(set(questions))


@pytest.mark.parametrize("given", ["hi", [], 5, {"other": 1}])
def test_an_input_that_is_no_mapping_of_messages_is_told_so(given: Any, tmp_path: Path) -> None:
    with opened(tmp_path, "x") as graph, pytest.raises(UsageError, match="messages"):
        graph.invoke(given, CONFIG)


def test_a_config_bound_to_the_graph_or_inherited_counts(tmp_path: Path) -> None:
    with opened(tmp_path, "one", "two") as graph:
        assert graph.with_config(CONFIG).invoke(ASK)["answer"] == "one"
        inside = RunnableLambda(lambda _: graph.invoke(ASK)["answer"])
        assert inside.invoke(0, CONFIG) == "two"
        assert isinstance(graph.with_config(CONFIG), ThreadGraph)


async def test_a_stream_that_is_broken_off_lets_go_of_its_thread(tmp_path: Path) -> None:
    async with opened(tmp_path, looking("a"), "never", "Done.") as graph:
        async for _ in graph.astream(ASK, CONFIG, stream_mode="updates"):
            break
        assert (await graph.ainvoke(ASK, CONFIG))["status"] == "answered"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("model", ["nope", "openai:", "openai:x"])
def test_a_model_that_cannot_be_used_is_refused_before_anything_is_written(
    mode: Mode, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with open_graph("tools_in_context", db=tmp_path / "r.sqlite") as graph:
        with pytest.raises(ModelError):
            run(mode, graph, "?", context={"model": model})
        assert graph.memory.saver.get_tuple(CONFIG) is None
        assert list_threads(graph.memory) == []


@pytest.mark.parametrize("mode", MODES)
def test_a_thread_that_another_saver_began_keeps_its_owner(mode: Mode, tmp_path: Path) -> None:
    """Such as the server's, which writes no record of its threads."""
    with opened(tmp_path, "For Ann again.") as graph:
        model = ScriptedModel(replies=["For Ann."])
        bare = build(model=model, tools=[]).compile(checkpointer=graph.memory.saver)
        run(mode, bare, "?", context={"user_id": "ann"})
        with pytest.raises(UsageError, match="another user"):
            run(mode, graph, "Bob here", context={"user_id": "bob"})
        output = run(mode, graph, "?", context={"user_id": "ann"})
        assert output["answer"] == "For Ann again."
        assert "Bob here" not in str(output["messages"])
        assert [thread.thread_id for thread in list_threads(graph.memory, "ann")] == ["t"]


@pytest.mark.parametrize("mode", MODES)
def test_a_thread_of_nobodys_becomes_the_first_users(mode: Mode, tmp_path: Path) -> None:
    with opened(tmp_path, "one", "two") as graph:
        run(mode, graph, "?")
        run(mode, graph, "?", context={"user_id": "ann"})
        with pytest.raises(UsageError, match="another user"):
            run(mode, graph, "?", context={"user_id": "bob"})
        assert list_threads(graph.memory) == []
        assert len(list_threads(graph.memory, "ann")) == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_run_that_was_killed_before_its_first_step_starts_from_its_record(
    mode: Mode, tmp_path: Path
) -> None:
    with opened(tmp_path, "Answered.") as graph:
        checked = graph._check(ASK, CONFIG, None)
        graph._enter(checked)
        output = run(mode, graph, None)
    assert output["answer"] == "Answered."
    assert output["messages"][0].text == "?"


@pytest.mark.parametrize("mode", MODES)
def test_a_call_id_that_a_cancelled_run_used_is_not_used_again(mode: Mode, tmp_path: Path) -> None:
    with opened(tmp_path, looking("Z"), "Done.") as graph:
        cut = [HumanMessage("first"), AIMessage("", tool_calls=[_call("Z")])]
        graph.update_state(CONFIG, {"messages": cut}, as_node="call_model")
        output = run(mode, graph, "again")
    answered = results(output["messages"])
    assert len({result.tool_call_id for result in answered}) == 2
    assert [result.status for result in answered] == ["error", "success"]


def _call(call_id: str) -> Any:
    return {"id": call_id, "name": "look", "args": {"query": "x"}, "type": "tool_call"}


@pytest.mark.parametrize("mode", MODES)
def test_a_history_that_ends_with_a_reply_gets_no_word_about_an_empty_one(
    mode: Mode, tmp_path: Path
) -> None:
    model = ScriptedModel(replies=["more"])
    db = tmp_path / "r.sqlite"
    with open_graph("tools_in_context", db=db, model=model, tools=[]) as graph:
        run(mode, graph, {"messages": [HumanMessage("q"), AIMessage("partial")]})
    assert [m.text for m in model.requests[0].messages[1:]] == ["q", "partial"]


@pytest.mark.parametrize("mode", MODES)
def test_a_callers_system_messages_become_part_of_the_one_system_prompt(
    mode: Mode, tmp_path: Path
) -> None:
    model = ScriptedModel(replies=["Ja."])
    given = {"messages": [SystemMessage("Answer in German."), HumanMessage("q")]}
    with open_graph("tools_in_context", db=tmp_path / "r.sqlite", model=model, tools=[]) as graph:
        run(mode, graph, given)
    first, second = model.requests[0].messages
    assert first.type == "system"
    assert first.text.endswith("Answer in German.")
    assert second.text == "q"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "given",
    [
        {"messages": [("user", "a\ud83cb")]},
        {"messages": [HumanMessage("?", additional_kwargs={"x": 2**70})]},
        {"messages": [HumanMessage("?", name="\udc00")]},
        {"messages": [("user", "?")], "from_notes": "\ud800"},
    ],
)
def test_an_input_that_no_checkpoint_can_hold_is_refused_before_anything_is_written(
    mode: Mode, given: Any, tmp_path: Path
) -> None:
    with open_graph(
        "react_todo_notes", db=tmp_path / "r.sqlite", model=ScriptedModel(replies=[]), tools=[look]
    ) as graph:
        with pytest.raises(UsageError, match="can't be stored") as refused:
            run(mode, graph, given)
        assert "\n" not in str(refused.value)
        assert list_threads(graph.memory) == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "thread", ["a\ud83c", "x" * 201, "a\nb", "a\x00b"], ids=["surrogate", "long", "lines", "nul"]
)
def test_a_thread_id_that_the_command_line_refuses_is_refused_in_python_too(
    mode: Mode, thread: str, tmp_path: Path
) -> None:
    with opened(tmp_path) as graph:
        with pytest.raises(UsageError, match="1 to 200 printable characters"):
            run(mode, graph, "?", thread=thread)
        assert list_threads(graph.memory) == []


@pytest.mark.parametrize("mode", MODES)
def test_an_answer_that_no_checkpoint_can_hold_is_refused(mode: Mode, tmp_path: Path) -> None:
    with opened(tmp_path) as graph, pytest.raises(UsageError, match="can't be stored"):
        run(mode, graph, Command(resume="\ud800"))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["tools_in_context", "react_todo_notes", "tool_search_toolkit"])
@pytest.mark.parametrize("tools", [5, "look", {"name": "look"}])
def test_tools_that_are_no_list_are_refused_in_one_sentence(
    name: str, tools: Any, tmp_path: Path
) -> None:
    with (
        pytest.raises(ContractError, match="tools must be a list"),
        open_graph(name, db=tmp_path / "r.sqlite", tools=tools),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
