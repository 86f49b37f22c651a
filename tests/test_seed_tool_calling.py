"""The seed "AI Tool Calling", line by line: steps, error handling, extension points, what ifs."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from graphs import open_graph
from graphs.context import ToolCallsContext
from graphs.models import ScriptedModel
from tests.cli import home, rungs, scripted
from tests.support import MODES, Mode, compiled, result_for, results, run
from tools import Contract, contract, load_tools

__all__ = ["home"]


class Desk:
    """The variant `tool_calling` with tools whose runs are counted, on a memory file."""

    def __init__(self, mode: Mode, folder: Path) -> None:
        self.mode, self.db = mode, folder / "r.sqlite"
        self.ran: list[tuple[str, Any]] = []
        self.model = ScriptedModel(replies=[])

    def tools(self) -> list[Contract]:
        def weather(city: str, days: int = 1) -> str:
            """Tell the weather of a city; use it for every question about weather.

            Args:
                city: Its name.
                days: How many days.
            """
            self.ran.append(("weather", (city, days)))
            return f"{city}: rain"

        def create_order(sku: str) -> str:
            """Order an article."""
            self.ran.append(("create_order", sku))
            if sku == "none":
                raise ValueError("there is no article none")
            return "ordered"

        def delete_user(user: str) -> str:
            """Delete a user for good."""
            self.ran.append(("delete_user", user))
            return "deleted"

        def send_money(amount: int) -> str:
            """Send money."""
            self.ran.append(("send_money", amount))
            return "sent"

        def profile() -> Any:
            """Look up a profile."""
            self.ran.append(("profile", None))
            return {"name": "Ann", "auth_token": "t0p-53cr3t", "manager": "bob@globex.example"}

        def slow() -> str:
            """Take too long."""
            time.sleep(0.3)
            return "late"

        return [
            contract(weather, effect="read_only", cache_seconds=60),
            contract(create_order, effect="state_changing", requires_confirmation=False),
            contract(delete_user, effect="state_changing"),
            contract(send_money, effect="state_changing", requires_confirmation=True),
            contract(profile, effect="read_only"),
            contract(slow, effect="read_only"),
        ]

    def run(self, given: Any, *replies: Any, **context: Any) -> dict[str, Any]:
        self.model = ScriptedModel(replies=list(replies))
        with open_graph("tool_calling", db=self.db, model=self.model, tools=self.tools()) as graph:
            return run(self.mode, graph, given, context=context or None)

    def sent(self, request: int) -> list[Any]:
        return self.model.requests[request].messages


@pytest.fixture(params=MODES)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    return Desk(request.param, tmp_path)


def call(name: str, call_id: str = "a", /, **args: Any) -> dict[str, Any]:
    return {"tool_calls": [{"id": call_id, "name": name, "args": args}]}


YES: Any = Command(resume={"decisions": [{"type": "approve"}]})
NO: Any = Command(resume={"decisions": [{"type": "reject"}]})


def test_step_1_each_tool_has_a_name_a_description_and_a_json_schema(desk: Desk) -> None:
    desk.run("Hi", "Hello.")
    schemas = desk.model.requests[0].tool_schemas
    shown = {tool["function"]["name"]: tool["function"] for tool in schemas}
    assert set(shown) == {tool.name for tool in desk.tools()}
    assert shown["weather"]["description"].startswith("Tell the weather of a city")
    parameters = shown["weather"]["parameters"]
    assert parameters["properties"]["days"]["type"] == "integer"
    assert (parameters["required"], parameters["additionalProperties"]) == (["city"], False)


def test_steps_2_and_3_the_model_is_sent_the_message_the_tools_and_the_history(
    desk: Desk,
) -> None:
    desk.run("Will it rain in Oslo?", call("weather", city="Oslo"), "Yes.")
    desk.run("And tomorrow?", "Too.")
    kinds = [message.type for message in desk.sent(0)]
    assert kinds == ["system", "human", "ai", "tool", "ai", "human"]
    assert desk.sent(0)[1].text == "Will it rain in Oslo?"
    assert desk.sent(0)[-1].text == "And tomorrow?"
    assert len(desk.model.requests[0].tools) == len(desk.tools())


def test_steps_4_and_5_a_text_reply_is_the_end(desk: Desk) -> None:
    output = desk.run("Hi", "Hello.")
    assert (output["answer"], output["status"]) == ("Hello.", "answered")
    assert (desk.ran, len(desk.model.requests)) == ([], 1)


def test_step_6_tool_and_arguments_are_read_from_the_reply(desk: Desk) -> None:
    raw = {"tool_calls": [{"id": "a", "name": "weather", "args": '{"city": "Oslo", "days": 3}'}]}
    desk.run("?", raw, "Rain.")
    assert desk.ran == [("weather", ("Oslo", 3))]


def test_step_7_arguments_are_checked_against_the_schema_before_anything_runs(desk: Desk) -> None:
    desk.run("?", call("weather", town="Oslo"), "I can't.")
    assert desk.ran == []


def test_steps_8_and_9_the_tool_runs_once_and_its_result_goes_back(desk: Desk) -> None:
    desk.run("?", call("weather", city="Oslo"), "Rain.")
    assert desk.ran == [("weather", ("Oslo", 1))]
    result = desk.sent(1)[-1]
    assert (result.type, result.tool_call_id, result.text) == ("tool", "a", "Oslo: rain")


def test_step_10_a_failure_goes_back_with_its_details(desk: Desk) -> None:
    output = desk.run("?", call("create_order", sku="none"), "There is none.")
    assert desk.sent(1)[-1].text == "create_order failed: ValueError: there is no article none"
    assert result_for(output["messages"], "a").status == "error"


def test_steps_11_and_12_calls_are_chained_until_there_is_text(desk: Desk) -> None:
    chain = [call("weather", c, city=c) for c in "xyz"]
    output = desk.run("?", *chain, "Rain everywhere.")
    assert [args[0] for _, args in desk.ran] == ["x", "y", "z"]
    assert output["answer"] == "Rain everywhere."
    assert ToolCallsContext().max_tool_calls == 10


def test_step_13_the_answer_is_shown_with_the_tools_used(home: Path) -> None:
    model = scripted(home, [call("calculator", expression="6*7"), {"text": "It is 42."}])
    db = str(home / "r.sqlite")
    said = rungs("ask", "?", "--graph", "tool_calling", "--model", model, "--db", db)
    assert 'calculator(expression="6*7")' in said.out
    assert "It is 42." in said.out
    assert "1 tool call" in said.out


def test_error_a_call_that_fails_validation_is_told_and_may_be_made_again(desk: Desk) -> None:
    output = desk.run("?", call("weather", days=1), call("weather", "b", city="Oslo"), "Rain.")
    told = desk.sent(1)[-1]
    assert "weather is missing required argument 'city'" in told.text
    assert desk.ran == [("weather", ("Oslo", 1))]
    assert output["answer"] == "Rain."


def test_error_a_tool_over_its_time_is_told_to_the_model_after_ten_seconds_by_default(
    desk: Desk,
) -> None:
    assert ToolCallsContext().tool_timeout == 10
    output = desk.run("?", call("slow"), "Sorry, it took too long.", tool_timeout=0.05)
    assert "slow gave no result within 0.05 s" in desk.sent(1)[-1].text
    assert output["answer"] == "Sorry, it took too long."


def test_error_a_loop_is_cut_at_ten_and_says_that_it_could_not_be_completed(desk: Desk) -> None:
    loop = [call("weather", f"c{n}", city=f"town {n}") for n in range(10)]
    output = desk.run("?", *loop, "")
    assert len(desk.ran) == 10
    assert output["status"] == "tool_limit"
    assert output["answer"].startswith("I couldn't complete this")
    assert "limit of 10 tool calls" in output["stop_reason"]


def test_error_a_tool_that_needs_permission_pauses_asks_and_resumes(desk: Desk) -> None:
    paused = desk.run("Send 5", call("send_money", amount=5))
    assert desk.ran == []
    (request,) = paused["__interrupt__"][0].value["action_requests"]
    assert (request["name"], request["args"]) == ("send_money", {"amount": 5})
    assert desk.run(YES, "Sent.")["answer"] == "Sent."
    assert desk.ran == [("send_money", 5)]


def test_extension_progress_is_streamed_between_call_and_answer(desk: Desk) -> None:
    model = ScriptedModel(replies=[call("weather", city="Oslo"), "Rain."])
    graph = compiled(model, desk.tools(), name="tool_calling")
    given: Any = {"messages": [("user", "?")]}
    modes: Any = ["updates", "custom"]
    if desk.mode == "invoke":
        parts: list[Any] = list(graph.stream(given, stream_mode=modes))
    else:
        parts = asyncio.run(_all(graph.astream(given, stream_mode=modes)))
    told = [next(iter(t)) if mode == "updates" else t["state"] for mode, t in parts]
    assert told == ["call_model", "started", "ended", "run_tools", "call_model"]


async def _all(parts: Any) -> list[Any]:
    return [part async for part in parts]


def test_extension_documents_are_searched_by_a_call_of_their_own(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "returns.md").write_text("# Returns\n\nGifts may be returned in 45 days.\n")
    monkeypatch.setenv("RUNGS_DOCS", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    model = ScriptedModel(replies=[call("search_docs", query="return gifts"), "45 days."])
    graph = compiled(model, load_tools(), name="tool_calling")
    assert run(desk.mode, graph, "?")["answer"] == "45 days."
    assert "45 days" in model.requests[1].messages[-1].text


def test_extension_a_person_may_turn_a_sensitive_call_down(desk: Desk) -> None:
    desk.run("Delete me", call("delete_user", user="u1"))
    output = desk.run(NO, "I did not.")
    assert desk.ran == []
    assert "not approved" in result_for(output["messages"], "a").text


def test_extension_results_of_a_read_only_tool_are_cached_where_it_asks_for_it(desk: Desk) -> None:
    desk.run("?", call("weather", city="Oslo"), "Rain.")
    output = desk.run("Again?", call("weather", "b", city="Oslo"), "Rain.")
    assert len(desk.ran) == 1
    result = result_for(output["messages"], "b")
    assert (result.text, result.additional_kwargs["cached"]) == ("Oslo: rain", True)


def test_what_if_the_model_makes_up_a_tools_name(desk: Desk) -> None:
    output = desk.run("?", call("send_invoice"), call("create_order", "b", sku="s"), "Ordered.")
    told = desk.sent(1)[-1].text
    assert told.startswith("Tool 'send_invoice' does not exist.")
    assert "Available tools: weather, create_order" in told
    assert (desk.ran, output["answer"]) == ([("create_order", "s")], "Ordered.")


def test_what_if_the_model_calls_a_destructive_tool_without_permission(desk: Desk) -> None:
    assert {tool.name: tool.requires_confirmation for tool in desk.tools()} == {
        "weather": False,
        "create_order": False,  # its line says so
        "delete_user": True,
        "send_money": True,
        "profile": False,
        "slow": False,
    }

    def unknown() -> str:
        """Do who knows what."""
        return ""

    assert contract(unknown).requires_confirmation
    paused = desk.run("?", call("delete_user", user="u1"))
    (request,) = paused["__interrupt__"][0].value["action_requests"]
    assert "delete_user changes state. Delete a user for good" in request["description"]
    assert desk.ran == []
    ended = desk.run("Never mind", "Fine.")
    assert "superseded" in result_for(ended["messages"], "a").text
    assert desk.ran == []


def test_what_if_the_model_calls_the_same_tool_again_and_again(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    output = desk.run("?", *(call("profile", c) for c in "abcd"), "I give up.")
    assert [name for name, _ in desk.ran] == ["profile", "profile"]
    assert (output["status"], output["answer"]) == ("stuck", "I give up.")
    assert desk.model.requests[-1].tools == []
    assert "stuck on profile" in caplog.text


def test_what_if_a_tool_returns_what_the_user_should_not_see(desk: Desk) -> None:
    output = desk.run("?", call("profile"), "Ann.", user_id="ann")
    for text in (desk.sent(1)[-1].text, results(output["messages"])[0].text):
        assert "Ann" in text
        assert "t0p-53cr3t" not in text
        assert "bob@globex.example" not in text


async def test_what_if_the_user_cancels_in_the_middle_of_a_chain(tmp_path: Path) -> None:
    begun, ran = asyncio.Event(), list[str]()

    def tool(name: str, body: Callable[[], Any]) -> Contract:
        async def act() -> str:
            ran.append(name)
            return str(await body())

        act.__doc__ = "Act."
        return contract(act, name=name, effect="state_changing", requires_confirmation=False)

    async def hang() -> str:
        begun.set()
        await asyncio.sleep(60)
        return ""

    async def done() -> str:
        return "done"

    tools = [tool("first", done), tool("second", hang), tool("third", done)]
    config: Any = {"configurable": {"thread_id": "t"}}
    chain = [call(name, name) for name in ("first", "second", "third")]
    model = ScriptedModel(replies=[*chain[:2], "The first was done and stays."])
    async with open_graph(
        "tool_calling", db=tmp_path / "r.sqlite", model=model, tools=tools
    ) as graph:
        running = asyncio.create_task(graph.ainvoke({"messages": [("user", "Q1")]}, config))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        output = await graph.ainvoke({"messages": [("user", "Stop. What ran?")]}, config)
    assert ran == ["first", "second"]
    told = {m.tool_call_id: m.text for m in results(model.requests[-1].messages)}
    assert told["first"] == "done"
    assert "whether it took effect is unknown" in told["second"]
    assert output["answer"] == "The first was done and stays."
