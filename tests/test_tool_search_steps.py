"""ToolSearchToolkit where a step of LangGraph makes several calls: whose a yes is, how often."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

import pytest
from langgraph.types import Command, Send, interrupt
from langchain.agents import create_agent
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph, add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.prebuilt.tool_node import ToolCallRequest
from pydantic import BaseModel

from graphs.models import ScriptedModel
from tests.support import MODES, Mode, result_for
from tools import contract
from tools.catalog import Catalog
from tools.tool_search import ToolSearchToolkit

in_both_modes = pytest.mark.parametrize("mode", MODES)
YES, NO = {"type": "approve"}, {"type": "reject"}


class Till:
    """Presented tools that change something, and what of them ran."""

    def __init__(self) -> None:
        self.ran: list[Any] = []
        ran = self.ran

        def pay(amount: int, password: str = "") -> str:
            """Pay an amount of money."""
            ran.append(("pay", amount, password))
            return f"paid {amount}"

        def ship(order: str) -> str:
            """Ship an order."""
            ran.append(("ship", order))
            return f"shipped {order}"

        def delete_all(*, sure: bool) -> str:
            """Delete all customers."""
            ran.append(("delete_all", sure))
            return "deleted"

        @tool
        def send_mail(to: str) -> str:
            """Send an e-mail, once a person says yes."""
            ran.append(("send_mail", to, interrupt({"send to": to})))
            return "sent"

        def quote(order: str) -> str:
            """Tell the price of an order."""
            return f"{order} costs 5"

        self.catalog = Catalog(
            [
                contract(pay, effect="state_changing"),
                contract(delete_all, effect="state_changing"),
                contract(ship, effect="state_changing", requires_confirmation=False),
                contract(send_mail, effect="read_only"),
                contract(quote, effect="read_only"),
            ]
        )


def reply(*made: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """Make a reply of calls through `tool_call`, whose ids are a, b, c."""
    calls = [
        {"id": call_id, "name": "tool_call", "args": {"name": name, "input": given}}
        for call_id, (name, given) in zip("abc", made, strict=False)
    ]
    return {"tool_calls": calls}


Builder = Callable[[ScriptedModel, list[BaseTool], Any], Any]


def plain(
    model: ScriptedModel,
    tools: list[BaseTool],
    saver: Any,
    route: Any = tools_condition,
    node: ToolNode | None = None,
) -> Any:
    """Build a graph whose tool node makes all calls of a reply in one step."""
    bound = model.bind_tools(tools)

    def call_model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [bound.invoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("call_model", call_model)
    builder.add_node("tools", node or ToolNode(tools))
    builder.add_edge(START, "call_model")
    builder.add_conditional_edges("call_model", route, ["tools", END])
    builder.add_edge("tools", "call_model")
    return builder.compile(checkpointer=saver)


def agent(model: ScriptedModel, tools: list[BaseTool], saver: Any) -> Any:
    return create_agent(model, tools, checkpointer=saver)


def sending(model: ScriptedModel, tools: list[BaseTool], saver: Any) -> Any:
    """Build a graph that sends all calls of a reply to its tool node at once, by `Send`."""

    def route(state: MessagesState) -> Any:
        calls = state["messages"][-1].tool_calls  # type: ignore[union-attr]
        return [Send("tools", calls)] if calls else END

    return plain(model, tools, saver, route)


def nested(model: ScriptedModel, tools: list[BaseTool], saver: Any) -> Any:
    """Build a graph whose one node is the plain graph."""
    builder = StateGraph(MessagesState)
    builder.add_node("inner", plain(model, tools, None))
    builder.add_edge(START, "inner")
    return builder.compile(checkpointer=saver)


SHARED = {"plain": plain, "by Send": sending, "nested": nested}
shared = pytest.mark.parametrize("build", SHARED.values(), ids=SHARED.keys())


class Shop:
    """A graph over a till, run in one mode; every run may be in another process."""

    def __init__(self, mode: Mode, first: Any, build: Builder = plain, own: Any = ()) -> None:
        self.mode, self.build, self.till = mode, build, Till()
        self.saver = InMemorySaver()
        self.model = ScriptedModel(replies=[first, "Done."])
        self.tools = [*ToolSearchToolkit(self.till.catalog).get_tools(), *own]

    def run(self, given: Any, **options: Any) -> dict[str, Any]:
        if isinstance(given, str):
            given = {"messages": [HumanMessage(given)]}
        graph = self.build(self.model, self.tools, self.saver)
        config: Any = {"configurable": {"thread_id": "t"}}
        if self.mode == "invoke":
            output = graph.invoke(given, config, **options)
        else:
            output = asyncio.run(graph.ainvoke(given, config, **options))
        assert isinstance(output, dict)
        return output

    def answer(self, *decisions: Any, **options: Any) -> dict[str, Any]:
        return self.run(Command(resume={"decisions": list(decisions)}), **options)


def asked(output: dict[str, Any]) -> list[tuple[str, str]]:
    (pause,) = output["__interrupt__"]
    return [(one["call_id"], one["name"]) for one in pause.value["action_requests"]]


def failure(output: dict[str, Any], call_id: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(result_for(output["messages"], call_id).text)
    return said


@in_both_modes
@shared
def test_all_calls_of_a_step_are_asked_about_in_one_pause_and_each_runs_once(
    mode: Mode, build: Builder
) -> None:
    shop = Shop(mode, reply(("pay", {"amount": 5}), ("pay", {"amount": 6})), build)
    assert asked(shop.run("?")) == [("a", "pay"), ("b", "pay")]
    output = shop.answer(YES, NO)
    assert shop.till.ran == [("pay", 5, "")]
    assert result_for(output["messages"], "a").text == "paid 5"
    assert failure(output, "b")["code"] == "rejected"


@in_both_modes
def test_decisions_that_carry_ids_are_of_the_calls_with_these_ids(mode: Mode) -> None:
    shop = Shop(mode, reply(("pay", {"amount": 5}), ("pay", {"amount": 6})))
    shop.run("?")
    shop.answer({**NO, "call_id": "b"}, {**YES, "call_id": "a"})
    assert shop.till.ran == [("pay", 5, "")]


@in_both_modes
@shared
def test_a_yes_is_not_of_another_call_when_the_one_that_was_shown_is_gone(
    mode: Mode, build: Builder
) -> None:
    shop = Shop(mode, reply(("pay", {"amount": 5}), ("delete_all", {"sure": True})), build)
    shop.run("?")
    shop.till.catalog.remove("pay")
    output = shop.answer(YES)
    assert shop.till.ran == []
    assert failure(output, "a")["code"] == "unknown_tool"
    told = failure(output, "b")
    assert (told["code"], told["retryable"]) == ("not_permitted", True)
    assert "no longer those that were asked about" in told["message"]


@in_both_modes
@shared
def test_an_answer_is_not_of_as_many_other_calls_not_even_when_the_run_goes_on_without_one(
    mode: Mode, build: Builder
) -> None:
    made: list[Any] = [("pay", {"amount": 5}), ("delete_all", {"sure": True})]
    shop = Shop(mode, reply(*made, ("ship", {"order": "O1"})), build)
    shop.run("?")
    catalog = shop.till.catalog
    catalog.remove("pay")
    catalog.add(contract(catalog.remove("ship"), requires_confirmation=True))
    output = shop.answer(YES, YES)
    assert "__interrupt__" not in output
    assert [failure(output, call_id)["code"] for call_id in "bc"] == ["not_permitted"] * 2
    shop.run(None)
    assert shop.till.ran == []


@in_both_modes
def test_a_yes_is_not_of_another_call_when_the_first_takes_long_to_check(mode: Mode) -> None:
    shop = Shop(mode, reply(("delete_all", {"sure": True}), ("ship", {"order": "x" * 500_000})))
    assert asked(shop.run("?")) == [("a", "delete_all")]
    shop.answer(NO)
    assert [ran[0] for ran in shop.till.ran] == ["ship"]


@in_both_modes
@shared
def test_what_changes_state_without_a_yes_waits_for_the_calls_beside_it_and_runs_once(
    mode: Mode, build: Builder
) -> None:
    shop = Shop(mode, reply(("ship", {"order": "O1"}), ("pay", {"amount": 6})), build)
    assert asked(shop.run("?")) == [("b", "pay")]
    assert shop.till.ran == []
    shop.answer(YES)
    assert sorted(shop.till.ran) == [("pay", 6, ""), ("ship", "O1")]


@in_both_modes
@shared
def test_an_answer_that_decides_nothing_asks_again_for_all_and_runs_nothing(
    mode: Mode, build: Builder
) -> None:
    shop = Shop(mode, reply(("pay", {"amount": 5}), ("pay", {"amount": 6})), build)
    shop.run("?")
    stray = [*YES.items()]
    for wrong in ("yes", {"decisions": [YES]}, {"decisions": [YES, {"type": "maybe"}]}, stray):
        again = shop.run(Command(resume=wrong))
        assert asked(again) == [("a", "pay"), ("b", "pay")]
        assert again["__interrupt__"][0].value["problem"]
        assert asked(shop.run(None)) == [("a", "pay"), ("b", "pay")]  # no answer is used again
    assert shop.till.ran == []
    shop.answer(YES, YES)
    assert sorted(shop.till.ran) == [("pay", 5, ""), ("pay", 6, "")]


@in_both_modes
def test_an_edit_of_one_of_several_is_checked_and_runs_with_its_secret(mode: Mode) -> None:
    shop = Shop(mode, reply(("pay", {"amount": 5, "password": "hunter2x"}), ("pay", {"amount": 6})))
    (pause,) = shop.run("?")["__interrupt__"]
    shown = pause.value["action_requests"][0]["args"]
    assert shown == {"amount": 5, "password": "[redacted]"}
    edited = {"name": "pay", "args": {**shown, "amount": 4}}
    shop.answer({"type": "edit", "edited_action": edited}, {"type": "respond", "message": "cash"})
    assert shop.till.ran == [("pay", 4, "hunter2x")]


@in_both_modes
def test_a_pause_is_answered_by_its_id_and_with_whatever_durability(mode: Mode) -> None:
    for durability in ("sync", "exit"):
        shop = Shop(mode, reply(("pay", {"amount": 5}), ("ship", {"order": "O1"})))
        (pause,) = shop.run("?", durability=durability)["__interrupt__"]
        answer = {pause.id: {"decisions": [YES]}}
        shop.run(Command(resume=answer), durability=durability)
        assert sorted(shop.till.ran) == [("pay", 5, ""), ("ship", "O1")]


@in_both_modes
@shared
def test_a_tool_that_pauses_by_itself_is_not_answered_beside_others(
    mode: Mode, build: Builder
) -> None:
    shop = Shop(mode, reply(("send_mail", {"to": "ann"}), ("pay", {"amount": 5})), build)
    assert asked(shop.run("?")) == [("b", "pay")]
    output = shop.answer(YES)
    assert shop.till.ran == [("pay", 5, "")]
    told = failure(output, "a")
    assert (told["code"], told["retryable"]) == ("not_permitted", True)
    assert "in a reply of its own" in told["message"]


@in_both_modes
def test_a_search_beside_it_keeps_no_call_from_pausing(mode: Mode) -> None:
    first = reply(("send_mail", {"to": "ann"}))
    search = {"id": "s", "name": "tool_search", "args": {"query": "mail"}}
    shop = Shop(mode, {"tool_calls": [*first["tool_calls"], search]})
    assert shop.run("?")["__interrupt__"][0].value == {"send to": "ann"}
    shop.run(Command(resume="go"))
    assert shop.till.ran == [("send_mail", "ann", "go")]


@tool
def ask_human(question: str) -> str:
    """Ask a person."""
    return str(interrupt({"action_requests": [{"name": "ask_human", "args": {}}], "q": question}))


@in_both_modes
@shared
@pytest.mark.parametrize("made", [("pay", {"amount": 5}), ("ship", {"order": "O1"})])
def test_beside_a_tool_of_another_s_that_may_pause_nothing_changes_state(
    mode: Mode, build: Builder, made: Any
) -> None:
    first = reply(made, ("quote", {"order": "O1"}))
    own = {"id": "h", "name": "ask_human", "args": {"question": "?"}}
    shop = Shop(mode, {"tool_calls": [*first["tool_calls"], own]}, build, [ask_human])
    assert shop.run("?")["__interrupt__"][0].value["q"] == "?"
    output = shop.answer(YES)
    assert shop.till.ran == []
    told = failure(output, "a")
    assert (told["code"], told["retryable"]) == ("not_permitted", True)
    assert result_for(output["messages"], "b").text == "O1 costs 5"
    assert "approve" in result_for(output["messages"], "h").text


@in_both_modes
def test_what_another_s_pause_has_made_again_is_not_run_again(mode: Mode) -> None:
    def allowed(request: ToolCallRequest) -> None:
        if request.tool_call["args"]["name"] == "quote":
            interrupt("May I?")

    def wrap(request: ToolCallRequest, run: Any) -> Any:
        allowed(request)
        return run(request)

    async def awrap(request: ToolCallRequest, run: Any) -> Any:
        allowed(request)
        return await run(request)

    def build(model: ScriptedModel, tools: list[BaseTool], saver: Any) -> Any:
        node = ToolNode(tools, wrap_tool_call=wrap, awrap_tool_call=awrap)
        return plain(model, tools, saver, node=node)

    shop = Shop(mode, reply(("ship", {"order": "O1"}), ("quote", {"order": "O1"})), build)
    assert shop.run("?")["__interrupt__"][0].value == "May I?"
    output = shop.run(Command(resume="yes"))
    assert shop.till.ran == [("ship", "O1")]
    told = failure(output, "a")
    assert (told["code"], told["retryable"]) == ("interrupted", False)
    assert "whether it took effect before is unknown" in told["message"]
    assert result_for(output["messages"], "b").text == "O1 costs 5"


@in_both_modes
def test_a_graph_that_can_not_pause_runs_all_that_needs_no_yes(mode: Mode) -> None:
    shop = Shop(mode, reply(("ship", {"order": "O1"}), ("pay", {"amount": 5})))
    shop.saver = None  # type: ignore[assignment]
    output = shop.run("?")
    assert shop.till.ran == [("ship", "O1")]
    assert failure(output, "b")["code"] == "not_permitted"


@in_both_modes
def test_in_create_agent_each_call_asks_for_itself_and_runs_once(mode: Mode) -> None:
    made: list[Any] = [("pay", {"amount": 5}), ("pay", {"amount": 6}), ("ship", {"order": "O"})]
    shop = Shop(mode, reply(*made), agent)
    pauses = shop.run("?")["__interrupt__"]
    by_amount = {one.value["action_requests"][0]["args"]["amount"]: one.id for one in pauses}
    answers = {by_amount[5]: {"decisions": [YES]}, by_amount[6]: {"decisions": [NO]}}
    shop.run(Command(resume=answers))
    assert sorted(shop.till.ran) == [("pay", 5, ""), ("ship", "O")]


@in_both_modes
def test_in_create_agent_an_edit_keeps_a_secret_that_it_leaves_as_it_was_shown(mode: Mode) -> None:
    shop = Shop(mode, reply(("pay", {"amount": 5, "password": "hunter2x"})), agent)
    shop.run("?")
    args = {"amount": 3, "password": "[redacted]"}
    shop.answer({"type": "edit", "edited_action": {"name": "pay", "args": args}})
    assert shop.till.ran == [("pay", 3, "hunter2x")]


@in_both_modes
def test_an_edit_with_a_mark_where_there_was_no_secret_asks_again(mode: Mode) -> None:
    shop = Shop(mode, reply(("pay", {"amount": 5})), agent)
    shop.run("?")
    args = {"amount": 3, "password": "[redacted]"}
    again = shop.answer({"type": "edit", "edited_action": {"name": "pay", "args": args}})
    assert "stands for a secret" in again["__interrupt__"][0].value["problem"]
    assert shop.till.ran == []


@in_both_modes
@pytest.mark.parametrize("build", [plain, agent])
def test_a_model_that_passes_the_mark_of_a_secret_is_refused(mode: Mode, build: Builder) -> None:
    shop = Shop(mode, reply(("pay", {"amount": 5, "password": "[redacted]"})), build)
    told = failure(shop.run("?"), "a")
    assert told["code"] == "invalid_arguments"
    assert "is no value" in told["message"]
    assert shop.till.ran == []


@in_both_modes
@pytest.mark.parametrize("build", [plain, sending, nested, agent])
def test_a_tool_that_needs_a_yes_and_pauses_by_itself_is_answered_in_turn(
    mode: Mode, build: Builder
) -> None:
    shop = Shop(mode, reply(("send_mail", {"to": "ann"})), build)
    mail = shop.till.catalog.remove("send_mail")
    shop.till.catalog.add(contract(mail, effect="state_changing"))
    assert asked(shop.run("?")) == [("a", "send_mail")]
    assert shop.answer(YES)["__interrupt__"][0].value == {"send to": "ann"}
    shop.run(Command(resume="go"))
    assert shop.till.ran == [("send_mail", "ann", "go")]


class Typed(BaseModel):
    """A state whose messages have a name of their own."""

    talk: Annotated[list[AnyMessage], add_messages] = []
    told: list[AnyMessage] = []


@dataclass(slots=True)
class Slotted:
    """The same, without a dictionary."""

    talk: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)


@in_both_modes
@pytest.mark.parametrize("kind", [Typed, Slotted])
def test_the_calls_of_a_step_are_told_by_whatever_state_a_graph_has(mode: Mode, kind: Any) -> None:
    def build(model: ScriptedModel, tools: list[BaseTool], saver: Any) -> Any:
        bound = model.bind_tools(tools)

        def call_model(state: Any) -> Any:
            said = bound.invoke(state.talk)
            return {"talk": [said], "told": [said]} if kind is Typed else {"talk": [said]}

        builder = StateGraph(kind)
        builder.add_node("call_model", call_model)
        builder.add_node("tools", ToolNode(tools, messages_key="talk"))
        builder.add_edge(START, "call_model")
        route = partial(tools_condition, messages_key="talk")
        builder.add_conditional_edges("call_model", route, ["tools", END])
        builder.add_edge("tools", "call_model")
        return builder.compile(checkpointer=saver)

    shop = Shop(mode, reply(("pay", {"amount": 5}), ("ship", {"order": "O1"})), build)
    assert asked(shop.run({"talk": [HumanMessage("?")]})) == [("a", "pay")]
    shop.answer(YES)
    assert sorted(shop.till.ran) == [("pay", 5, ""), ("ship", "O1")]


def test_a_call_that_no_tool_node_makes_is_not_asked_about() -> None:
    till = Till()
    _, call = ToolSearchToolkit(till.catalog).get_tools()

    def work(state: MessagesState) -> dict[str, Any]:
        made = {"name": "pay", "input": {"amount": 5}}
        told = call.invoke({"type": "tool_call", "id": "a", "name": "tool_call", "args": made})
        assert isinstance(told, ToolMessage)
        return {"messages": [told]}

    builder = StateGraph(MessagesState)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    graph = builder.compile(checkpointer=InMemorySaver())
    output = graph.invoke({"messages": []}, {"configurable": {"thread_id": "t"}})
    assert failure(output, "a")["code"] == "not_permitted"
    assert till.ran == []
