"""tool_search_toolkit: two tools whatever the number behind them, and policy on what they call."""

import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command, interrupt

from graphs.context import ToolSearchContext
from graphs.models import ScriptedModel
from graphs.tool_search_toolkit import build
from tests.searching import Desk, behind_writers, calls, search, use
from tests.support import ALL_MODES, MODES, Mode, result_for, run
from tools import Contract, contract
from tools.catalog import Catalog
from tools.search_log import read_log

NAME = "tool_search_toolkit"


def call(call_id: str, name: Any, given: Any = None) -> dict[str, Any]:
    """Make a reply that calls a tool through `tool_call`."""
    args = {"name": name, "input": {"order": "O-1"} if given is None else given}
    return calls({"id": call_id, "name": "tool_call", "args": args})


def told(output: dict[str, Any], call_id: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(result_for(output["messages"], call_id).text)
    return said


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_search_tells_tools_schemas_matched_and_available_and_a_call_runs_one(
    mode: Mode, tmp_path: Path
) -> None:
    desk = Desk(NAME, mode, tmp_path, search("a", "refund"), call("b", "refund_quote"), "$5.")
    output = desk.run("?")
    said = told(output, "a")
    assert set(said) == {"tools", "matched", "available"}
    assert (len(said["tools"]), said["matched"], said["available"]) == (4, 4, 5)
    assert set(said["tools"][0]) == {"name", "description", "inputSchema"}
    assert said["tools"][0]["inputSchema"]["required"] == ["order"]
    assert result_for(output["messages"], "b").text == "refund_quote of O-1 done"
    assert result_for(output["messages"], "b").name == "tool_call"
    assert (output["answer"], output["status"]) == ("$5.", "answered")


@pytest.mark.parametrize("mode", MODES)
def test_what_the_model_is_shown_is_the_same_byte_for_byte_however_many_tools_there_are(
    mode: Mode, tmp_path: Path
) -> None:
    sent = []
    for count in (1, 5, 500):
        desk = Desk(NAME, mode, tmp_path, "Hello.")
        desk.db = tmp_path / f"{count}.sqlite"
        tools = [desk.library.tool(f"tool_{n}", f"Do thing {n}.") for n in range(count)]
        desk.run({"messages": [{"role": "user", "content": "?", "id": "q"}]}, tools)
        request = desk.model.requests[0]
        shown = [(message.type, message.content) for message in request.messages]
        sent.append(json.dumps([shown, request.tool_schemas, request.tool_choice]).encode())
        assert request.tools == ["tool_search", "tool_call"]
    assert len(set(sent)) == 1


@pytest.mark.parametrize("mode", MODES)
def test_it_is_the_same_after_a_search_too(mode: Mode, tmp_path: Path) -> None:
    desk = Desk(NAME, mode, tmp_path, search("a", "refund"), call("b", "refund_quote"), "Done.")
    desk.run("?")
    schemas = {json.dumps(request.tool_schemas) for request in desk.model.requests}
    assert len(schemas) == 1
    assert len({request.messages[0].text for request in desk.model.requests}) == 1


def test_a_search_returns_five_unless_it_asks_for_a_number_or_the_run_says_otherwise() -> None:
    settings = ToolSearchContext()
    assert (settings.max_tool_rounds, settings.search_results) == (10, 5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("limit", "count"), [(50, 5), (2, 2), ("2", 2), (1_000_000, 5), (None, 5), ("4.0", 4)]
)
def test_a_limit_is_read_leniently_and_bounded(
    mode: Mode, limit: Any, count: int, tmp_path: Path
) -> None:
    """Case SRC-11."""
    desk = Desk(NAME, mode, tmp_path, search("a", "an order's refund", limit=limit), "Done.")
    assert len(told(desk.run("?"), "a")["tools"]) == count


@pytest.mark.parametrize("mode", MODES)
def test_no_limit_gives_more_than_twenty(mode: Mode, tmp_path: Path) -> None:
    desk = Desk(NAME, mode, tmp_path, search("a", "thing", limit=99), "Done.")
    tools = [desk.library.tool(f"tool_{n}", f"Do thing {n}.") for n in range(30)]
    said = told(desk.run("?", tools), "a")
    assert (len(said["tools"]), said["matched"], said["available"]) == (20, 30, 30)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"query": "refund", "limit": 0}, "'limit' must be at least 1"),
        ({"query": "refund", "limit": -1}, "'limit' must be at least 1"),
        ({"query": "refund", "limit": "four"}, "'limit' must be integer"),
        ({"query": "refund", "limit": 2.5}, "'limit' must be integer"),
        ({"query": ""}, "the query is empty"),
        ({"query": " \n"}, "the query is empty"),
        ({"query": None}, "'query' must be string"),
        ({}, "missing required argument 'query'"),
    ],
)
def test_a_search_that_can_not_be_made_is_a_failure_with_code_message_and_retryable(
    mode: Mode, args: dict[str, Any], says: str, tmp_path: Path
) -> None:
    """Cases SRC-01 and SRC-11."""
    reply = calls({"id": "a", "name": "tool_search", "args": args})
    desk = Desk(NAME, mode, tmp_path, reply, "Sorry.")
    output = desk.run("?")
    assert result_for(output["messages"], "a").status == "error"
    failure = told(output, "a")
    assert set(failure) == {"code", "message", "retryable"}
    assert (failure["code"], failure["retryable"]) == ("invalid_arguments", False)
    assert says in failure["message"]


def bench() -> tuple[list[Contract], list[Any]]:
    """Make tools that fail, are late, and succeed, and the list of what ran."""
    ran: list[Any] = []

    def health() -> dict[str, Any]:
        """Tell whether all is well."""
        ran.append("health")
        return {"ok": True}

    def add(a: int, b: int) -> int:
        """Add two numbers."""
        ran.append(("add", a, b))
        return a + b

    def fail() -> str:
        """Fail."""
        raise ConnectionError("the bank is away")

    def wait() -> str:
        """Wait."""
        time.sleep(0.3)
        return "late"

    tools = [
        contract(health, effect="read_only"),
        contract(add, effect="read_only"),
        contract(fail, effect="read_only"),
        contract(wait, effect="read_only", timeout=0.05),
    ]
    return tools, ran


@pytest.mark.parametrize("mode", MODES)
def test_inputs_come_as_objects_as_json_text_or_as_nothing(mode: Mode, tmp_path: Path) -> None:
    """Case SRC-13, the first two calls."""
    tools, ran = bench()
    made = [call("a", "health", ""), call("b", "add", '{"a":1,"b":2}'), call("c", "health", {})]
    desk = Desk(NAME, mode, tmp_path, *made, "Done.")
    output = desk.run("?", tools)
    assert ran == ["health", ("add", 1, 2), "health"]
    assert result_for(output["messages"], "b").text == "3"
    assert told(output, "c") == {"ok": True}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "given", "code", "says", "retryable"),
    [
        ("tool_call", {"name": "health"}, "unknown_tool", "is called by itself", False),
        ("tool_search", {"query": "x"}, "unknown_tool", "is called by itself", False),
        ("helth", {}, "unknown_tool", "search again with tool_search", False),
        ("add", {"a": 1}, "invalid_arguments", "missing required argument 'b'", False),
        ("add", "{'a': 1}", "invalid_arguments", "'input' must be object", False),
        (None, {}, "invalid_arguments", "'name' must be string", False),
        ("fail", {}, "failed", "the bank is away", True),
        ("wait", {}, "timeout", "no result within 0.05 s", True),
    ],
)
def test_a_call_that_fails_is_returned_with_code_message_and_retryable(
    mode: Mode,
    name: Any,
    given: Any,
    code: str,
    says: str,
    *,
    retryable: bool,
    tmp_path: Path,
) -> None:
    """Case SRC-13, the last two calls: neither tool is run by the other."""
    tools, ran = bench()
    desk = Desk(NAME, mode, tmp_path, call("a", name, given), "Sorry.")
    output = desk.run("?", tools)
    assert result_for(output["messages"], "a").status == "error"
    failure = told(output, "a")
    assert set(failure) == {"code", "message", "retryable"}
    assert (failure["code"], failure["retryable"]) == (code, retryable)
    assert says in failure["message"]
    assert ran == []
    assert json.loads(desk.model.requests[1].messages[-1].text) == failure


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_is_called_by_its_own_name_is_told_how_and_does_not_run(
    mode: Mode, tmp_path: Path
) -> None:
    """Case SRC-09."""
    desk = Desk(NAME, mode, tmp_path, use("a", "refund_quote"), use("b", "no_such"), "ok")
    output = desk.run("?")
    direct = result_for(output["messages"], "a")
    assert (direct.status, "does not exist" in direct.text) == ("error", False)
    assert "called through tool_call" in direct.text
    assert "'no_such' does not exist" in result_for(output["messages"], "b").text
    assert desk.library.ran == []
    assert output["answer"] == "ok"


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_may_be_called_without_a_search_under_the_same_checks(
    mode: Mode, tmp_path: Path
) -> None:
    desk = Desk(NAME, mode, tmp_path, call("a", "refund_quote"), "Done.")
    desk.run("?")
    assert desk.library.ran == [("refund_quote", "O-1")]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_tool_that_needs_a_yes_needs_it_through_tool_call_in_another_process_too(
    mode: Mode, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Case SRC-15."""
    desk = Desk(NAME, mode, tmp_path, call("a", "refund_order"), "Paid.")
    with caplog.at_level(logging.INFO, logger="rungs.audit"):
        paused = desk.run("?")
        (request,) = paused["__interrupt__"][0].value["action_requests"]
        assert (request["name"], request["args"]) == ("refund_order", {"order": "O-1"})
        assert desk.library.ran == []
        output = desk.run(Command(resume={"decisions": [{"type": "approve"}]}))
    assert desk.library.ran == [("refund_order", "O-1")]
    assert output["answer"] == "Paid."
    logged = [json.loads(r.getMessage()) for r in caplog.records if r.name == "rungs.audit"]
    (event,) = [event for event in logged if event["kind"] == "tool_call"]
    assert (event["tool"], event["via"]) == ("refund_order", "tool_call")
    assert event["arguments"] == {"order": "O-1"}


@pytest.mark.parametrize("mode", MODES)
def test_a_rejected_call_is_a_failure_that_says_so(mode: Mode, tmp_path: Path) -> None:
    desk = Desk(NAME, mode, tmp_path, call("a", "refund_order"), "Sorry.")
    desk.run("?")
    no = {"type": "reject", "message": "too much"}
    output = desk.run(Command(resume={"decisions": [no]}))
    failure = told(output, "a")
    assert (failure["code"], failure["retryable"]) == ("rejected", False)
    assert "too much" in failure["message"]
    assert desk.library.ran == []


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_pauses_by_itself_pauses_the_run_through_tool_call(
    mode: Mode, tmp_path: Path
) -> None:
    def ask(order: str) -> str:
        """Ask a person about an order."""
        return f"{order}: {interrupt({'about': order})}"

    desk = Desk(NAME, mode, tmp_path, call("a", "ask"), "Done.")
    tools = [contract(ask, effect="read_only")]
    assert desk.run("?", tools)["__interrupt__"][0].value == {"about": "O-1"}
    output = desk.run(Command(resume="yes"), tools)
    assert result_for(output["messages"], "a").text == "O-1: yes"


@pytest.mark.parametrize("mode", MODES)
def test_cached_results_are_of_the_tool_and_its_arguments(mode: Mode, tmp_path: Path) -> None:
    desk = Desk(NAME, mode, tmp_path)
    names = ("look_here", "look_there")
    tools = [desk.library.tool(name, f"Do {name}.", cache_seconds=60) for name in names]
    made = [call(f"{n}{name}", name) for n in (1, 2) for name in names]
    desk.model.replies += [*made, "Done."]
    desk.run("?", tools)
    assert desk.library.ran == [("look_here", "O-1"), ("look_there", "O-1")]


@pytest.mark.parametrize("mode", MODES)
def test_a_read_only_run_neither_finds_nor_runs_what_changes_state(
    mode: Mode, tmp_path: Path
) -> None:
    replies = [search("a", "refund an order"), call("b", "refund_order"), "Sorry."]
    desk = Desk(NAME, mode, tmp_path, *replies)
    output = desk.run("?", read_only=True)
    assert "refund_order" not in [tool["name"] for tool in told(output, "a")["tools"]]
    assert told(output, "b")["code"] == "not_permitted"
    assert desk.library.ran == []


@pytest.mark.parametrize("mode", MODES)
def test_a_read_only_run_finds_what_it_may_run_behind_better_matches_that_change_state(
    mode: Mode, tmp_path: Path
) -> None:
    desk = Desk(NAME, mode, tmp_path, search("a", "pay the refund of an order"), "Done.")
    kept: list[Any] = []
    tools = behind_writers(desk)
    settings: dict[str, Any] = {"read_only": True, "search_results": 2}
    output = desk.run(
        "?", tools, then=lambda graph: kept.extend(read_log(graph.memory.store)), **settings
    )
    said = told(output, "a")
    assert [tool["name"] for tool in said["tools"]] == ["quote"]
    assert (said["matched"], said["available"]) == (1, 6)
    assert [(one["returned"], one["matched"]) for one in kept] == [(["quote"], 1)]


@pytest.mark.parametrize("mode", MODES)
def test_the_cap_counts_searches_and_the_last_call_has_no_tools(mode: Mode, tmp_path: Path) -> None:
    replies = [search("a", "refund"), call("b", "refund_quote"), "That is all."]
    desk = Desk(NAME, mode, tmp_path, *replies)
    output = desk.run("?", max_tool_rounds=2)
    assert desk.shown[2] == []
    assert (output["status"], output["answer"]) == ("tool_limit", "That is all.")


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_is_removed_between_search_and_call_is_no_longer_available(
    mode: Mode, tmp_path: Path
) -> None:
    """Case SRC-07."""
    desk = Desk(NAME, mode, tmp_path)
    catalog = Catalog(desk.library.tools())
    desk.build = {"catalog": catalog}

    def gone(*_: Any) -> dict[str, Any]:
        catalog.remove("refund_quote")
        return call("b", "refund_quote")

    desk.model.replies += [search("a", "refund quote"), gone, "Sorry.", "Fine."]
    output = desk.run("?")
    failure = told(output, "b")
    assert failure["code"] == "unknown_tool"
    assert "no longer: search again with tool_search" in failure["message"]
    assert desk.run("next?")["answer"] == "Fine."


@pytest.mark.parametrize("mode", MODES)
def test_the_log_tells_what_was_called_through_tool_call(mode: Mode, tmp_path: Path) -> None:
    desk = Desk(NAME, mode, tmp_path, search("a", "refund"), call("b", "refund_quote"), "Done.")
    kept: list[Any] = []
    desk.run("?", then=lambda graph: kept.extend(read_log(graph.memory.store)))
    assert [one["called"] for one in kept] == [["refund_quote"]]


def test_building_contacts_nothing_and_the_shipped_library_is_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = tmp_path / "shop.sqlite"
    monkeypatch.setenv("RUNGS_SHOP", str(shop))
    replies = [search("a", "where is my parcel"), "Done."]
    graph = build(model=ScriptedModel(replies=replies)).compile()
    output = run("invoke", graph, "?", thread=None)
    assert "track_order" in [tool["name"] for tool in told(output, "a")["tools"]]
    assert told(output, "a")["available"] == 40
    assert not shop.exists()
