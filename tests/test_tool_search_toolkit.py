"""ToolSearchToolkit: the seed's shapes, in LangChain's agents, plain LangGraphs, and ours."""

import asyncio
import json
import time
from typing import Annotated, Any

import pytest
from langgraph.types import Command, interrupt
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, ToolRuntime, tools_condition

from graphs.models import ScriptedModel
from tests.support import MODES, Mode, compiled, result_for, results, run
from tools import LIBRARY_FILE, Contract, ContractError, contract, load_tools
from tools.availability import available_unless
from tools.catalog import Catalog
from tools.tool_search import ToolSearchToolkit

BUILDERS = ("create_agent", "plain graph")


class Bench:
    """Presented tools, and what of them ran."""

    def __init__(self) -> None:
        self.ran: list[Any] = []

    def tools(self) -> list[Any]:
        ran = self.ran

        @tool
        def get_weather(city: str) -> dict[str, Any]:
            """Tell the weather of a city."""
            ran.append(("get_weather", city))
            return {"city": city, "degrees": 21}

        @tool
        async def get_forecast(city: str) -> str:
            """Tell tomorrow's weather of a city."""
            await asyncio.sleep(0)
            ran.append(("get_forecast", city))
            return f"rain in {city}"

        @tool
        def send_mail(to: str) -> str:
            """Send an e-mail, once a person says yes."""
            answer = interrupt({"send to": to})
            ran.append(("send_mail", to, answer))
            return f"sent: {answer}"

        @tool
        def whoami(
            runtime: ToolRuntime,
            call_id: Annotated[str, InjectedToolCallId],
            state: Annotated[dict[str, Any], InjectedState],
        ) -> str:
            """Tell who asks."""
            return f"{runtime.tool_call_id} {call_id} {len(state['messages'])}"

        def pay(amount: int) -> str:
            """Pay an amount of money."""
            ran.append(("pay", amount))
            return f"paid {amount}"

        def fail(city: str) -> str:
            """Fail for a city."""
            raise ConnectionError(f"{city} is away")

        def wait() -> str:
            """Wait for long."""
            time.sleep(0.3)
            return "late"

        return [
            get_weather,
            get_forecast,
            send_mail,
            whoami,
            contract(pay, effect="state_changing"),
            contract(fail, effect="read_only"),
            contract(wait, effect="read_only", timeout=0.05),
        ]


def pair(tools: Any, **options: Any) -> tuple[BaseTool, BaseTool]:
    search, call = ToolSearchToolkit(tools, **options).get_tools()
    return search, call


def built(kind: str, model: ScriptedModel, tools: list[BaseTool]) -> Any:
    """Build one of the graphs that others would put the toolkit into."""
    if kind == "create_agent":
        return create_agent(model, tools, checkpointer=InMemorySaver())
    bound = model.bind_tools(tools)

    def call_model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [bound.invoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("call_model", call_model)
    builder.add_node("tools", ToolNode(tools))
    builder.add_edge(START, "call_model")
    builder.add_conditional_edges("call_model", tools_condition, {"tools": "tools", END: END})
    builder.add_edge("tools", "call_model")
    return builder.compile(checkpointer=InMemorySaver())


def asked(name: str, args: dict[str, Any], call_id: str = "a") -> dict[str, Any]:
    return {"tool_calls": [{"id": call_id, "name": name, "args": args}]}


def called(name: str, given: Any, call_id: str = "a") -> dict[str, Any]:
    return asked("tool_call", {"name": name, "input": given}, call_id)


class Agent:
    """A graph of another's making, run in one mode, with what it was asked and answered."""

    def __init__(self, kind: str, mode: Mode, *replies: Any, tools: Any = None) -> None:
        self.bench, self.mode = Bench(), mode
        self.model = ScriptedModel(replies=[*replies, "Done."])
        given = self.bench.tools() if tools is None else tools
        self.graph = built(kind, self.model, ToolSearchToolkit(given).get_tools())

    def run(self, given: Any) -> dict[str, Any]:
        if isinstance(given, str):
            given = {"messages": [HumanMessage(given)]}
        config: Any = {"configurable": {"thread_id": "t"}}
        if self.mode == "invoke":
            output = self.graph.invoke(given, config)
        else:
            output = asyncio.run(self.graph.ainvoke(given, config))
        assert isinstance(output, dict)
        return output


everywhere = pytest.mark.parametrize(
    ("kind", "mode"), [(kind, mode) for kind in BUILDERS for mode in MODES]
)


@everywhere
def test_a_search_and_a_call_have_the_seed_s_shapes(kind: str, mode: Mode) -> None:
    replies = [
        asked("tool_search", {"query": "weather"}, "s"),
        called("get_weather", {"city": "Oslo"}, "a"),
        called("get_forecast", {"city": "Oslo"}, "b"),
    ]
    agent = Agent(kind, mode, *replies)
    output = agent.run("?")
    found = json.loads(result_for(output["messages"], "s").text)
    assert set(found) == {"tools", "matched", "available"}
    assert found["available"] == 7
    assert found["matched"] >= 2
    for one in found["tools"]:
        assert set(one) == {"name", "description", "inputSchema"}
    weather = next(one for one in found["tools"] if one["name"] == "get_weather")
    assert weather["inputSchema"]["properties"]["city"]["type"] == "string"
    assert json.loads(result_for(output["messages"], "a").text) == {"city": "Oslo", "degrees": 21}
    assert result_for(output["messages"], "b").text == "rain in Oslo"
    assert {message.name for message in results(output["messages"])} == {"tool_search", "tool_call"}
    assert all(request.tools == ["tool_search", "tool_call"] for request in agent.model.requests)


@everywhere
@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("get_wether", {"city": "Oslo"}, ("unknown_tool", "search again with tool_search")),
        ("tool_call", {"name": "pay", "input": {}}, ("unknown_tool", "is called by itself")),
        ("get_weather", {}, ("invalid_arguments", "missing required argument 'city'")),
        ("get_weather", {"city": "x", "y": 1}, ("invalid_arguments", "argument 'y'")),
        ("get_weather", "{", ("invalid_arguments", "'input' must be object")),
        (None, {}, ("invalid_arguments", "'name' must be string")),
        ("fail", {"city": "Oslo"}, ("failed", "Oslo is away")),
        ("wait", {}, ("timeout", "no result within 0.05 s")),
    ],
)
def test_failures_are_returned_with_code_message_and_retryable_and_error_status(
    kind: str, mode: Mode, name: Any, given: Any, expected: tuple[str, str]
) -> None:
    code, says = expected
    retryable = code in {"failed", "timeout"}  # a read-only tool, and a fault that passes
    agent = Agent(kind, mode, called(name, given))
    output = agent.run("?")
    result = result_for(output["messages"], "a")
    failure = json.loads(result.text)
    assert set(failure) == {"code", "message", "retryable"}
    assert (failure["code"], failure["retryable"], result.status) == (code, retryable, "error")
    assert says in failure["message"]
    assert agent.bench.ran == []
    assert output["messages"][-1].text == "Done."


@everywhere
def test_a_tool_that_needs_a_yes_pauses_for_it_and_runs_once(kind: str, mode: Mode) -> None:
    agent = Agent(kind, mode, called("pay", {"amount": "5"}))
    paused = agent.run("?")
    request = paused["__interrupt__"][0].value
    (action,) = request["action_requests"]
    assert (action["name"], action["args"]) == ("pay", {"amount": 5})
    assert "changes state" in action["description"]
    assert request["review_configs"][0]["action_name"] == "pay"
    assert agent.bench.ran == []
    output = agent.run(Command(resume={"decisions": [{"type": "approve"}]}))
    assert agent.bench.ran == [("pay", 5)]
    assert result_for(output["messages"], "a").text == "paid 5"


@everywhere
def test_a_yes_may_be_an_edit_a_no_or_an_answer_and_a_wrong_one_asks_again(
    kind: str, mode: Mode
) -> None:
    made = [called("pay", {"amount": 5}, call_id) for call_id in "abc"]
    agent = Agent(kind, mode, *made)
    agent.run("?")
    maybe = {"decisions": [{"type": "maybe"}]}
    answers: list[Any] = ["yes", {"decisions": []}, maybe, edit("lots")]
    for wrong in answers:
        again = agent.run(Command(resume=wrong))
        assert again["__interrupt__"][0].value["problem"]
    assert agent.bench.ran == []
    agent.run(Command(resume=edit(4)))
    agent.run(Command(resume={"decisions": [{"type": "reject", "message": "too much"}]}))
    answer = {"type": "respond", "message": "paid in cash"}
    output = agent.run(Command(resume={"decisions": [answer]}))
    assert agent.bench.ran == [("pay", 4)]
    refused = json.loads(result_for(output["messages"], "b").text)
    assert (refused["code"], refused["message"]) == (
        "rejected",
        "not executed, it was not approved: too much",
    )
    assert result_for(output["messages"], "c").text == "paid in cash"


def edit(amount: Any) -> dict[str, Any]:
    edited = {"name": "pay", "args": {"amount": amount}}
    return {"decisions": [{"type": "edit", "edited_action": edited}]}


@everywhere
def test_a_tool_that_pauses_by_itself_pauses_the_graph(kind: str, mode: Mode) -> None:
    agent = Agent(kind, mode, called("send_mail", {"to": "ann"}))
    assert agent.run("?")["__interrupt__"][0].value == {"send to": "ann"}
    assert agent.bench.ran == []
    output = agent.run(Command(resume="go"))
    assert agent.bench.ran == [("send_mail", "ann", "go")]
    assert result_for(output["messages"], "a").text == "sent: go"


@everywhere
def test_what_a_graph_injects_reaches_the_presented_tool(kind: str, mode: Mode) -> None:
    agent = Agent(kind, mode, called("whoami", {}))
    assert result_for(agent.run("?")["messages"], "a").text == "a a 2"


@pytest.mark.parametrize("kind", BUILDERS)
def test_a_graph_in_which_nothing_can_wait_is_told_that_nobody_was_asked(kind: str) -> None:
    bench = Bench()
    model = ScriptedModel(replies=[called("pay", {"amount": 5}), "Done."])
    _, call = pair(bench.tools())
    graph = create_agent(model, [call])
    output = graph.invoke({"messages": [HumanMessage("?")]})
    failure = json.loads(result_for(output["messages"], "a").text)
    assert failure["code"] == "not_permitted"
    assert "no checkpointer" in failure["message"]
    assert bench.ran == []


def test_outside_a_graph_both_answer_with_plain_data() -> None:
    bench = Bench()
    search, call = pair(bench.tools(), limit=1)
    assert len(search.invoke({"query": "weather"})["tools"]) == 1
    assert len(search.invoke({"query": "weather", "limit": "2"})["tools"]) == 2
    assert call.invoke({"name": "get_weather", "input": {"city": "Oslo"}})["degrees"] == 21
    said = asyncio.run(call.ainvoke({"name": "get_forecast", "input": {"city": "Oslo"}}))
    assert said == "rain in Oslo"
    assert call.invoke({"name": "get_forecast", "input": {"city": "Oslo"}}) == "rain in Oslo"
    assert call.invoke({"name": "nothing", "input": {}})["code"] == "unknown_tool"
    assert call.invoke({"name": "pay", "input": {"amount": 5}})["code"] == "not_permitted"
    whole = {"type": "tool_call", "id": "a", "name": "tool_call", "args": {"name": "x"}}
    message = call.invoke(whole)
    assert isinstance(message, ToolMessage)
    assert (message.status, message.tool_call_id) == ("error", "a")


@pytest.mark.parametrize("mode", MODES)
def test_outside_a_graph_a_tool_that_needs_a_run_is_a_failure(mode: Mode) -> None:
    _, call = pair(load_tools(LIBRARY_FILE))
    given = {"name": "save_note", "input": {"text": "hi"}}
    told = call.invoke(given) if mode == "invoke" else asyncio.run(call.ainvoke(given))
    assert set(told) == {"code", "message", "retryable"}
    assert (told["code"], told["retryable"]) == ("failed", False)
    assert "no user id was given" in told["message"]


@pytest.mark.parametrize("mode", MODES)
def test_outside_a_graph_a_tool_whose_own_check_breaks_is_a_failure(mode: Mode) -> None:
    @available_unless(lambda runtime: runtime.context.nothing)
    def broken() -> str:
        """Do nothing."""
        return "x"

    _, call = pair([contract(broken, effect="read_only")])
    given = {"name": "broken", "input": {}}
    told = call.invoke(given) if mode == "invoke" else asyncio.run(call.ainvoke(given))
    assert told["code"] == "failed"
    assert "AttributeError" in told["message"]


def leaving(error: type[BaseException]) -> list[Contract]:
    """Make two tools, sync and async, that raise what ends a process."""

    def leave() -> str:
        """Leave at once."""
        raise error

    async def leave_later() -> str:
        """Leave a little later."""
        raise error

    return [contract(leave, effect="read_only"), contract(leave_later, effect="read_only")]


@everywhere
@pytest.mark.parametrize("name", ["leave", "leave_later"])
def test_a_tool_that_exits_is_a_failure(kind: str, mode: Mode, name: str) -> None:
    agent = Agent(kind, mode, called(name, {}), tools=leaving(SystemExit))
    failure = json.loads(result_for(agent.run("?")["messages"], "a").text)
    assert failure["code"] == "failed"
    assert f"{name} failed: SystemExit" in failure["message"]


def test_a_ctrl_c_in_a_tool_is_no_failure() -> None:
    _, call = pair(leaving(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        call.invoke({"name": "leave", "input": {}})


SECRET = "sk-abcdefghijklmnopqrstuvwxyz123456"


def telling() -> list[Any]:
    """Make tools that tell a secret, each in a way of its own."""

    def say() -> str:
        """Say it."""
        return f"the key is {SECRET}"

    def table() -> Any:
        """Give it as data."""
        return {"rows": [{"note": f"use {SECRET}"}], "password": "hunter2x"}

    @tool(response_format="content_and_artifact")
    def message() -> Any:
        """Say it beside an artifact."""
        return f"the key is {SECRET}", {"kept": 1}

    @tool
    def command(call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Say it by a command."""
        said = ToolMessage(f"the key is {SECRET}", tool_call_id=call_id)
        return Command(update={"messages": [said]})

    return [
        contract(say, effect="read_only"),
        contract(table, effect="read_only"),
        message,
        command,
    ]


@everywhere
@pytest.mark.parametrize("name", ["say", "table", "message", "command"])
def test_what_a_presented_tool_returns_is_redacted(kind: str, mode: Mode, name: str) -> None:
    """Case SRC-15."""
    agent = Agent(kind, mode, called(name, {}), tools=telling())
    text = result_for(agent.run("?")["messages"], "a").text
    assert "[redacted]" in text
    assert SECRET not in text
    assert "hunter2x" not in text


def echoing() -> list[Any]:
    """Make tools that say again what they were called with."""

    def log_in(password: str) -> str:
        """Log in."""
        return f"welcome, you said {password} to me"

    def look_up(password: str) -> Any:
        """Look up."""
        return {"said": f"it was {password}"}

    def lose(password: str) -> str:
        """Lose it."""
        raise RuntimeError(f"no use for {password} here")

    return [contract(one, effect="read_only") for one in (log_in, look_up, lose)]


@everywhere
@pytest.mark.parametrize("name", ["log_in", "look_up", "lose"])
def test_a_secret_that_a_presented_tool_was_called_with_is_not_said_again(
    kind: str, mode: Mode, name: str
) -> None:
    agent = Agent(kind, mode, called(name, {"password": "tulip-7-harbour"}), tools=echoing())
    text = result_for(agent.run("?")["messages"], "a").text
    assert "[redacted]" in text
    assert "tulip" not in text


@everywhere
def test_what_a_person_says_in_a_tool_s_place_and_beside_a_no_is_redacted(
    kind: str, mode: Mode
) -> None:
    agent = Agent(kind, mode, *(called("pay", {"amount": 5}, call_id) for call_id in "ab"))
    agent.run("?")
    for kind_of in ("respond", "reject"):
        said = {"type": kind_of, "message": f"use {SECRET}"}
        output = agent.run(Command(resume={"decisions": [said]}))
    for call_id in "ab":
        text = result_for(output["messages"], call_id).text
        assert "use [redacted]" in text
        assert SECRET not in text


def long_results() -> list[Any]:
    """Make tools that return three million characters, as text and as data."""

    def text() -> str:
        """Return much text."""
        return "a" * 3_000_000

    def data() -> Any:
        """Return much data."""
        return {"rows": ["a" * 1000] * 3000}

    return [contract(text, effect="read_only"), contract(data, effect="read_only")]


@everywhere
@pytest.mark.parametrize("name", ["text", "data"])
def test_what_a_presented_tool_returns_is_limited_and_says_its_size(
    kind: str, mode: Mode, name: str
) -> None:
    agent = Agent(kind, mode, called(name, {}), tools=long_results())
    text = result_for(agent.run("?")["messages"], "a").text
    assert len(text) <= 1_000_000
    assert "characters in all, the middle left out" in text


@pytest.mark.parametrize(
    ("args", "count"), [({"limit": 50}, 7), ({"limit": None}, 5), ({}, 5), ({"limit": "4"}, 4)]
)
def test_a_limit_is_five_unless_given_and_bounded(args: dict[str, Any], count: int) -> None:
    """Case SRC-11."""
    tools = [contract(lambda: "x", name=f"thing_{n}", description="A thing.") for n in range(7)]
    search, _ = pair(tools)
    assert len(search.invoke({"query": "thing", **args})["tools"]) == count


@pytest.mark.parametrize(
    "args", [{"query": ""}, {"query": "  "}, {"query": None}, {"query": "x", "limit": 0}, {}]
)
def test_a_search_that_can_not_be_made_is_a_failure(args: dict[str, Any]) -> None:
    search, _ = pair(Bench().tools())
    failure = search.invoke(args)
    assert set(failure) == {"code", "message", "retryable"}
    assert failure["code"] == "invalid_arguments"


def test_no_match_is_a_success_that_says_that_other_words_may_help() -> None:
    search, _ = pair(Bench().tools())
    found = search.invoke({"query": "zebra"})
    assert (found["tools"], found["matched"], found["available"]) == ([], 0, 7)
    assert "other words" in found["message"]


def test_what_a_model_is_shown_is_the_same_byte_for_byte_however_many_tools_there_are() -> None:
    shown = set()
    for count in (0, 1, 300):
        tools = [contract(lambda: "x", name=f"t{n}", description="A tool.") for n in range(count)]
        model = ScriptedModel(replies=["Hello."])
        graph = create_agent(model, ToolSearchToolkit(tools).get_tools())
        graph.invoke({"messages": [HumanMessage("?", id="q")]})
        request = model.requests[0]
        sent = [(message.type, message.content) for message in request.messages]
        shown.add(json.dumps([sent, request.tool_schemas, request.tool_choice]).encode())
    assert len(shown) == 1


def test_building_contacts_nothing_and_searches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    monkeypatch.setattr(Catalog, "__init__", lambda *_: looked.append(1))
    ToolSearchToolkit(Bench().tools()).get_tools()
    assert looked == []


def test_a_catalog_may_change_under_a_toolkit() -> None:
    catalog = Catalog([contract(lambda: "one", name="first", description="The first.")])
    search, call = pair(catalog)
    catalog.add(contract(lambda: "two", name="second", description="The second."))
    assert search.invoke({"query": "second"})["tools"][0]["name"] == "second"
    assert call.invoke({"name": "first", "input": {}})["code"] == "not_permitted"
    catalog.remove("first")
    assert "no longer" in call.invoke({"name": "first", "input": {}})["message"]


def test_names_of_its_own_and_limits_out_of_bounds_are_refused() -> None:
    with pytest.raises(ContractError, match="the search's own"):
        ToolSearchToolkit([contract(lambda: "x", name="tool_call", description="Mislead.")])
    for limit in (0, 21):
        with pytest.raises(ValueError, match="limit"):
            ToolSearchToolkit([], limit=limit)


@pytest.mark.parametrize("mode", MODES)
def test_in_a_graph_of_ours_policies_look_at_the_tool_that_is_really_called(mode: Mode) -> None:
    bench = Bench()
    tools: list[Any] = ToolSearchToolkit(bench.tools()).get_tools()
    replies = [asked("tool_search", {"query": "pay"}, "s"), called("pay", {"amount": 5}), "Done."]
    graph = compiled(
        ScriptedModel(replies=replies), tools, "tool_calling", checkpointer=InMemorySaver()
    )
    paused = run(mode, graph, "?")
    (action,) = paused["__interrupt__"][0].value["action_requests"]
    assert (action["name"], action["args"]) == ("pay", {"amount": 5})
    output = run(mode, graph, Command(resume={"decisions": [{"type": "approve"}]}))  # type: ignore[arg-type]
    assert bench.ran == [("pay", 5)]
    assert json.loads(result_for(output["messages"], "s").text)["tools"][0]["name"] == "pay"
    assert result_for(output["messages"], "a").text == "paid 5"


def test_its_tools_as_contracts_are_a_wrapper_and_a_read_only_search() -> None:
    search, call = (contract(one) for one in pair(Bench().tools()))
    assert isinstance(search, Contract)
    assert (search.effect, search.requires_confirmation) == ("read_only", False)
    assert call.wrapper is not None
    assert set(call.wrapper.tools) == {*call.wrapper.tools}
    assert "pay" in call.wrapper.tools
