"""deferred_tool_search: the seed's steps, cap and requirements, and the cases of tool search."""

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command
from langchain_core.messages import RemoveMessage
from langgraph.store.base import BaseStore

import prompts
from graphs import GRAPHS, UsageError
from graphs.audit import events
from graphs.context import DeferredContext
from graphs.deferred_tool_search import build
from graphs.models import ScriptedModel
from tests.searching import Desk, Library, behind_writers, calls, search, use
from tests.support import ALL_MODES, MODES, Mode, result_for, results, run
from tools import ContractError, contract
from tools.catalog import Catalog
from tools.search_log import read_log

NAME = "deferred_tool_search"


def found(output: dict[str, Any], call_id: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(result_for(output["messages"], call_id).text)
    return told


def names(output: dict[str, Any], call_id: str) -> list[str]:
    return [tool["name"] for tool in found(output, call_id)["tools"]]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_the_first_call_has_tool_search_alone_and_the_second_what_it_found(
    mode: Mode, tmp_path: Path
) -> None:
    """The seed's test: `tool_search("refund")`, then `refund_quote`."""
    desk = Desk(NAME, mode, tmp_path, search("a", "refund"), use("b", "refund_quote"), "$5.")
    output = desk.run("What refund is due for O-1?")
    assert desk.shown[0] == ["tool_search"]
    assert "refund_quote" in desk.shown[1]
    assert desk.library.ran == [("refund_quote", "O-1")]
    assert (output["answer"], output["status"]) == ("$5.", "answered")
    assert "refund_quote of O-1 done" in desk.model.requests[2].messages[-1].text


def test_the_shipped_library_serves_the_seed_s_test_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNGS_SHOP", str(tmp_path / "shop.sqlite"))
    quote = {"id": "b", "name": "refund_quote", "args": {"order_id": "O-2008"}}
    model = ScriptedModel(replies=[search("a", "refund"), calls(quote), "Done."])
    output = run("invoke", build(model=model).compile(), "?")
    assert model.requests[0].tools == ["tool_search"]
    assert "refund_quote" in model.requests[1].tools
    assert '"due":"$101.60"' in result_for(output["messages"], "b").text


@pytest.mark.parametrize("mode", MODES)
def test_a_search_returns_the_names_and_schemas_of_the_top_three(
    mode: Mode, tmp_path: Path
) -> None:
    desk = Desk(NAME, mode, tmp_path, search("a", "refund"), "Done.")
    output = desk.run("?")
    told = found(output, "a")
    assert (len(told["tools"]), told["matched"], told["available"]) == (3, 4, 5)
    shown = {schema["function"]["name"]: schema for schema in desk.model.requests[1].tool_schemas}
    for tool in told["tools"]:
        function = shown[tool["name"]]["function"]
        assert tool["description"] == function["description"]
        assert tool["inputSchema"] == function["parameters"]
        assert tool["inputSchema"]["required"] == ["order"]


@pytest.mark.parametrize("mode", MODES)
def test_several_searches_of_one_reply_are_each_answered_and_loaded(
    mode: Mode, tmp_path: Path
) -> None:
    both = calls(*search("a", "refund")["tool_calls"], *search("b", "parcel")["tool_calls"])
    desk = Desk(NAME, mode, tmp_path, both, use("c", "track_parcel"), "Done.")
    output = desk.run("?")
    assert desk.shown[1] == ["tool_search", *names(output, "a"), *names(output, "b")]
    assert [m.tool_call_id for m in results(output["messages"])] == ["a", "b", "c"]
    assert desk.library.ran == [("track_parcel", "O-1")]


@pytest.mark.parametrize("mode", MODES)
def test_how_many_a_search_returns_and_the_cap_are_parameters(mode: Mode, tmp_path: Path) -> None:
    settings = DeferredContext()
    assert (settings.max_tool_rounds, settings.search_results) == (6, 3)
    desk = Desk(NAME, mode, tmp_path, search("a", "refund"), use("b", "refund_quote"), "Capped.")
    output = desk.run("?", search_results=1, max_tool_rounds=2)
    assert len(names(output, "a")) == 1
    assert (output["status"], output["answer"]) == ("tool_limit", "Capped.")


@pytest.mark.parametrize("mode", ALL_MODES)
def test_searches_count_as_rounds_and_the_last_call_has_no_tools(
    mode: Mode, tmp_path: Path
) -> None:
    words = ["refund", "parcel", "policy", "status", "quote"]
    replies = [search(f"s{n}", word) for n, word in enumerate(words)]
    desk = Desk(NAME, mode, tmp_path, *replies, use("u", "refund_quote"), "That is all I know.")
    output = desk.run("?")
    assert len(desk.model.requests) == 7
    assert desk.shown[6] == []
    assert all("tool_search" in shown for shown in desk.shown[:6])
    assert (output["status"], output["answer"]) == ("tool_limit", "That is all I know.")
    assert "limit of 6 tool rounds" in output["stop_reason"]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_call_to_a_tool_not_loaded_names_tool_search_and_does_not_run(
    mode: Mode, tmp_path: Path
) -> None:
    """Case SRC-09."""
    desk = Desk(NAME, mode, tmp_path, use("a", "refund_quote"), use("b", "no_such"), "Sorry.")
    output = desk.run("?")
    refused = result_for(output["messages"], "a")
    assert refused.status == "error"
    assert "tool_search" in refused.text
    assert "does not exist" not in refused.text
    unknown = result_for(output["messages"], "b")
    assert (unknown.status, "'no_such' does not exist" in unknown.text) == ("error", True)
    assert "tool_search" in unknown.text
    assert desk.library.ran == []


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_called_beside_the_search_that_finds_it_is_not_loaded_yet(
    mode: Mode, tmp_path: Path
) -> None:
    both = calls(*search("a", "quote")["tool_calls"], *use("b", "refund_quote")["tool_calls"])
    desk = Desk(NAME, mode, tmp_path, both, use("c", "refund_quote"), "Done.")
    output = desk.run("?")
    assert result_for(output["messages"], "b").status == "error"
    assert result_for(output["messages"], "c").status == "success"
    assert desk.library.ran == [("refund_quote", "O-1")]


@pytest.mark.parametrize("mode", MODES)
def test_always_loaded_tools_are_there_from_the_first_call_and_none_are_by_default(
    mode: Mode, tmp_path: Path
) -> None:
    desk = Desk(NAME, mode, tmp_path, use("a", "track_parcel"), use("b", "extra"), "Done.")
    extra = desk.library.tool("extra", "Do something that no catalog has.")
    desk.build = {"always_loaded": ["track_parcel", extra]}
    desk.run("?")
    assert desk.shown[0] == ["tool_search", "track_parcel", "extra"]
    assert desk.library.ran == [("track_parcel", "O-1"), ("extra", "O-1")]
    prompt = desk.model.requests[0].messages[0].text
    assert "- track_parcel(order): Tell where the parcel" in prompt


def test_one_text_is_no_list_of_what_is_always_loaded() -> None:
    with pytest.raises(ContractError, match="always_loaded is a list of names"):
        build(model=ScriptedModel(), tools=Library().tools(), always_loaded="track_parcel")


def test_what_can_not_be_always_loaded_is_said_when_the_graph_is_built() -> None:
    with pytest.raises(ContractError, match=r"nothing_such.*the catalog has none"):
        build(model=ScriptedModel(), tools=Library().tools(), always_loaded=["nothing_such"])
    with pytest.raises(UsageError, match="tools or a catalog"):
        build(tools=Library().tools(), catalog=Catalog())
    for name in ("tool_search", "tool_call"):
        with pytest.raises(ContractError, match="the search's own"):
            build(tools=[Library().tool(name, "Mislead.")])


def test_the_prompt_is_the_seed_s_with_one_line_about_searching() -> None:
    known = {"company", "memory_notes"}
    plain = prompts.load("system_prompt_with_tools", names=known).text.split("\n")
    searching = prompts.load("system_prompt_with_tool_search", names=known).text.split("\n")
    (added,) = [line for line in searching if line not in plain]
    assert [line for line in searching if line != added] == plain
    assert "Search for a tool with tool_search before you assume that none exists" in added


@pytest.mark.parametrize("mode", MODES)
def test_the_system_prompt_stays_the_same_whatever_is_loaded(mode: Mode, tmp_path: Path) -> None:
    desk = Desk(NAME, mode, tmp_path, search("a", "refund"), search("b", "parcel"), "Done.")
    desk.run("?")
    assert len({request.messages[0].text for request in desk.model.requests}) == 1
    assert "- tool_search(query): " in desk.model.requests[0].messages[0].text
    # What was loaded first stays first, so that a server's cache of the prompt keeps its worth.
    assert desk.shown[2][: len(desk.shown[1])] == desk.shown[1]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_every_search_is_logged_with_what_it_returned_and_what_was_called_then(
    mode: Mode, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    replies = [search("a", "refund"), use("b", "refund_quote"), search("c", "zebra"), "Done."]
    desk = Desk(NAME, mode, tmp_path, *replies)
    kept: list[Any] = []

    def look(graph: Any) -> None:
        store: BaseStore = graph.memory.store
        kept.extend(read_log(store))

    with caplog.at_level(logging.INFO, logger="rungs.audit"):
        output = desk.run("?", then=look, user_id="ann")
    newest, first = kept
    assert first["returned"] == names(output, "a")
    assert (first["query"], first["called"], first["step"]) == ("refund", ["refund_quote"], 1)
    assert (first["thread"], first["user"], first["matched"]) == ("t", "ann", 4)
    assert (newest["query"], newest["returned"], newest["called"]) == ("zebra", [], [])
    logged = [json.loads(r.getMessage()) for r in caplog.records if r.name == "rungs.audit"]
    searches = [event for event in logged if event.get("tool") == "tool_search"]
    assert [event["found"] for event in searches] == [first["returned"], []]
    assert [event["arguments"]["query"] for event in searches] == ["refund", "zebra"]
    read = [event.found for event in events(output["messages"]) if event.tool == "tool_search"]
    assert read == [first["returned"], []]


@pytest.mark.parametrize("mode", MODES)
def test_a_call_of_what_no_search_returned_is_in_the_log(mode: Mode, tmp_path: Path) -> None:
    desk = Desk(NAME, mode, tmp_path, search("a", "parcel"), use("b", "refund_order"), "Done.")
    kept: list[Any] = []
    desk.run("?", then=lambda graph: kept.extend(read_log(graph.memory.store)))
    assert kept[0]["called"] == ["refund_order"]


@pytest.mark.parametrize("mode", MODES)
def test_a_new_question_begins_with_tool_search_alone(mode: Mode, tmp_path: Path) -> None:
    replies = [search("a", "refund"), "First.", use("b", "refund_quote"), "Second."]
    desk = Desk(NAME, mode, tmp_path, *replies)
    desk.run("one?")
    output = desk.run("two?")
    assert desk.shown[1] != ["tool_search"]
    assert desk.shown[2:] == [["tool_search"], ["tool_search"]]
    assert result_for(output["messages"], "b").status == "error"
    assert output["status"] == "answered"


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_loaded_tool_waits_for_a_yes_and_is_still_loaded_in_another_process(
    mode: Mode, tmp_path: Path
) -> None:
    replies = [search("a", "refund an order"), use("b", "refund_order"), "Paid."]
    desk = Desk(NAME, mode, tmp_path, *replies)
    paused = desk.run("?")
    (request,) = paused["__interrupt__"][0].value["action_requests"]
    assert (request["name"], request["args"]) == ("refund_order", {"order": "O-1"})
    assert desk.library.ran == []
    output = desk.run(Command(resume={"decisions": [{"type": "approve"}]}))
    assert desk.library.ran == [("refund_order", "O-1")]
    assert output["answer"] == "Paid."
    assert desk.shown[2] == desk.shown[1]


@pytest.mark.parametrize("mode", MODES)
def test_a_search_beside_a_call_that_needs_a_yes_is_answered_before_the_pause(
    mode: Mode, tmp_path: Path
) -> None:
    both = calls(*search("b", "parcel")["tool_calls"], *use("c", "refund_order")["tool_calls"])
    desk = Desk(NAME, mode, tmp_path, search("a", "refund an order"), both, "Paid.")
    paused = desk.run("?")
    assert names(paused, "b") == ["track_parcel"]
    output = desk.run(Command(resume={"decisions": [{"type": "reject"}]}))
    assert desk.library.ran == []
    assert [m.tool_call_id for m in results(output["messages"])] == ["a", "b", "c"]
    assert "track_parcel" in desk.shown[2]


RESUME = """
import sys
from langgraph.types import Command
from graphs import open_graph
from graphs.models import ScriptedModel
from tests.searching import Library

model = ScriptedModel(replies=["Paid."])
library = Library()
with open_graph("deferred_tool_search", db=sys.argv[1], model=model, tools=library.tools()) as g:
    yes = Command(resume={"decisions": [{"type": "approve"}]})
    output = g.invoke(yes, {"configurable": {"thread_id": "t"}})
print(library.ran, model.requests[0].tools, output["answer"])
"""


@pytest.mark.processes
def test_what_was_loaded_is_loaded_in_a_process_of_its_own(tmp_path: Path) -> None:
    desk = Desk(NAME, "invoke", tmp_path, search("a", "refund an order"), use("b", "refund_order"))
    desk.run("?")
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", RESUME, str(desk.db)],
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[('refund_order', 'O-1')] ['tool_search', 'refund_order'")


@pytest.mark.parametrize("mode", MODES)
def test_what_was_loaded_survives_the_loss_of_the_search_from_the_transcript(
    mode: Mode, tmp_path: Path
) -> None:
    """Compaction and trimming take messages away; what is loaded is state of its own."""
    replies = [search("a", "refund an order"), use("b", "refund_order"), "Paid."]
    desk = Desk(NAME, mode, tmp_path, *replies)

    def forget(graph: Any) -> None:
        config: Any = {"configurable": {"thread_id": "t"}}
        old = graph.get_state(config).values["messages"][1:3]
        gone = [RemoveMessage(id=message.id) for message in old]
        graph.update_state(config, {"messages": gone}, as_node="validate_calls")

    desk.run("?", then=forget)
    assert desk.run(None)["__interrupt__"]
    output = desk.run(Command(resume={"decisions": [{"type": "approve"}]}))
    assert "a" not in [m.tool_call_id for m in results(output["messages"])]
    assert desk.library.ran == [("refund_order", "O-1")]
    assert desk.shown[2] == desk.shown[1]


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_left_the_catalog_is_dropped_and_its_call_says_so(
    mode: Mode, tmp_path: Path
) -> None:
    """Case SRC-07."""
    desk = Desk(NAME, mode, tmp_path, search("a", "refund an order"), use("b", "refund_order"))
    desk.run("?")
    without = [tool for tool in desk.library.tools() if tool.name != "refund_order"]
    desk.model.replies += [use("c", "refund_order"), "It is gone.", "Fine."]
    output = desk.run(Command(resume={"decisions": [{"type": "approve"}]}), without)
    assert "no longer available" in result_for(output["messages"], "b").text
    told = result_for(output["messages"], "c").text
    assert "no longer available; search again with tool_search" in told
    assert "refund_order" not in desk.shown[2]
    assert desk.library.ran == []
    assert desk.run("next?", without)["answer"] == "Fine."


@pytest.mark.parametrize("mode", MODES)
def test_a_catalog_may_change_while_the_graph_is_used(mode: Mode, tmp_path: Path) -> None:
    desk = Desk(NAME, mode, tmp_path)
    catalog = Catalog(desk.library.tools())
    desk.build = {"catalog": catalog}

    def change(*_: Any) -> dict[str, Any]:
        catalog.add(desk.library.tool("repair_device", "Have a device repaired."))
        catalog.remove("refund_status")
        return search("b", "repair")

    desk.model.replies += [
        search("a", "refund status"),
        change,
        use("c", "refund_status"),
        use("d", "repair_device"),
        "Done.",
    ]
    output = desk.run("?")
    assert "refund_status" in desk.shown[1]
    assert "refund_status" not in desk.shown[2]
    assert "no longer available" in result_for(output["messages"], "c").text
    assert desk.library.ran == [("repair_device", "O-1")]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", ["", "   ", None, 5, ["refund"]])
def test_a_search_without_words_is_an_error_and_loads_nothing(
    mode: Mode, query: Any, tmp_path: Path
) -> None:
    """Case SRC-01."""
    desk = Desk(NAME, mode, tmp_path, search("a", query), "Sorry.")
    kept: list[Any] = []
    output = desk.run("?", then=lambda graph: kept.extend(read_log(graph.memory.store)))
    result = result_for(output["messages"], "a")
    assert result.status == "error"
    assert "query" in result.text
    assert desk.shown == [["tool_search"], ["tool_search"]]
    assert kept == []


@pytest.mark.parametrize("mode", MODES)
def test_no_match_says_so_and_that_other_words_may_help(mode: Mode, tmp_path: Path) -> None:
    desk = Desk(NAME, mode, tmp_path, search("a", "zebra"), "Sorry.")
    output = desk.run("?")
    told = found(output, "a")
    assert (told["tools"], told["matched"], told["available"]) == ([], 0, 5)
    assert "other words" in told["message"]
    assert result_for(output["messages"], "a").status == "success"


@pytest.mark.parametrize("mode", MODES)
def test_queries_in_other_scripts_find_what_is_described_in_them(
    mode: Mode, tmp_path: Path
) -> None:
    """Case SRC-03."""
    laws = contract(lambda: "x", name="search_laws", description="日本の法令を検索します")
    box = contract(lambda: "x", name="find_box", description="finds a box")
    queries = ["法令", "法令を調べて", "Karton finden"]
    replies = [search(str(n), query) for n, query in enumerate(queries)]
    desk = Desk(NAME, mode, tmp_path, *replies, "Done.")
    output = desk.run("?", [laws, box])
    assert names(output, "0")[0] == names(output, "1")[0] == "search_laws"
    assert found(output, "2")["tools"] == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("create edge", "canvas_create_edge"),
        ("find customer", "crm-findCustomer"),
        ("delete", "x-delete-all"),
    ],
)
def test_the_words_of_a_name_find_it(mode: Mode, query: str, first: str, tmp_path: Path) -> None:
    """Case SRC-05; providers take no dots in names."""
    tools = [
        contract(lambda: "x", name=name, description=f"Number {n}.", effect="read_only")
        for n, name in enumerate(["canvas_create_edge", "crm-findCustomer", "x-delete-all"])
    ]
    desk = Desk(NAME, mode, tmp_path, search("a", query), "Done.")
    assert names(desk.run("?", tools), "a")[0] == first


@pytest.mark.parametrize("mode", MODES)
def test_a_read_only_run_neither_shows_nor_loads_what_changes_state(
    mode: Mode, tmp_path: Path
) -> None:
    replies = [search("a", "pay the refund of an order"), use("b", "refund_order"), "Sorry."]
    desk = Desk(NAME, mode, tmp_path, *replies)
    output = desk.run("?", read_only=True)
    assert "refund_order" not in names(output, "a")
    assert "refund_order" not in desk.shown[1]
    assert result_for(output["messages"], "b").status == "error"
    assert desk.library.ran == []


@pytest.mark.parametrize("mode", MODES)
def test_a_read_only_run_loads_what_it_may_run_behind_better_matches_that_change_state(
    mode: Mode, tmp_path: Path
) -> None:
    desk = Desk(NAME, mode, tmp_path, search("a", "pay the refund of an order"), "Done.")
    settings: dict[str, Any] = {"read_only": True, "search_results": 2}
    output = desk.run("?", behind_writers(desk), **settings)
    assert names(output, "a") == ["quote"]
    assert desk.shown[1] == ["tool_search", "quote"]


@pytest.mark.parametrize("mode", MODES)
def test_a_result_that_would_be_too_long_holds_fewer_tools_but_whole_schemas(
    mode: Mode, tmp_path: Path
) -> None:
    desk = Desk(NAME, mode, tmp_path, search("a", "refund"), "Done.")
    output = desk.run("?", tool_result_limit=500)
    told = found(output, "a")
    assert 1 <= len(told["tools"]) < 3
    assert desk.shown[1] == ["tool_search", *names(output, "a")]


@pytest.mark.parametrize("mode", MODES)
def test_results_of_a_loaded_tool_are_cached_as_it_asks(mode: Mode, tmp_path: Path) -> None:
    desk = Desk(NAME, mode, tmp_path)
    kept = desk.library.tool("look", "Look something up.", cache_seconds=60)
    desk.model.replies += [search("a", "look up"), use("b", "look"), use("c", "look"), "Done."]
    output = desk.run("?", [kept])
    assert desk.library.ran == [("look", "O-1")]
    assert result_for(output["messages"], "c").additional_kwargs["cached"]


def test_the_variant_is_listed_and_a_plain_function_runs_without_a_yes() -> None:
    def quote(order: str) -> str:
        """Work out the refund of an order."""
        return f"{order}: $5"

    replies = [search("a", "refund"), use("b", "quote"), "Done."]
    graph = GRAPHS[NAME].build(model=ScriptedModel(replies=replies), tools=[quote]).compile()
    output = run("invoke", graph, "?", thread=None)
    assert result_for(output["messages"], "b").text == "O-1: $5"
