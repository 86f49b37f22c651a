"""A person's yes: one pause a reply, an approval for one call, and each approved call runs once."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from graphs import UsageError, open_graph
from graphs.memory import open_memory
from graphs.models import ScriptedModel
from graphs.threads import get_thread
from graphs.tool_calling import build
from tests.support import ALL_MODES, Mode, compiled, result_for, results, run
from tools import Contract, contract

pytestmark = pytest.mark.parametrize("mode", ALL_MODES)


class Shop:
    """Tools with effects that are counted, some of which need a yes."""

    def __init__(self) -> None:
        self.done: list[tuple[str, int]] = []

    def tool(self, name: str, *, needs_yes: bool) -> Contract:
        def body(n: int) -> str:
            """Do it."""
            self.done.append((name, n))
            return f"{name} {n} done"

        return contract(body, name=name, requires_confirmation=needs_yes)

    def tools(self) -> list[Contract]:
        return [
            self.tool("create_box", needs_yes=False),
            self.tool("ship", needs_yes=True),
            self.tool("pay", needs_yes=True),
        ]


def call(call_id: str, name: str, n: int) -> dict[str, Any]:
    return {"id": call_id, "name": name, "args": {"n": n}}


class Desk:
    """A graph on a memory file that is opened anew for each step, as another process would."""

    def __init__(self, mode: Mode, folder: Path, *replies: Any) -> None:
        self.mode, self.db = mode, folder / "r.sqlite"
        self.shop = Shop()
        self.model = ScriptedModel(replies=list(replies))

    def run(
        self, given: Any, tools: list[Contract] | None = None, **context: Any
    ) -> dict[str, Any]:
        tools = self.shop.tools() if tools is None else tools
        with open_graph("tool_calling", db=self.db, model=self.model, tools=tools) as graph:
            return run(self.mode, graph, given, context=context or None)

    def answer(self, *decisions: Any) -> dict[str, Any]:
        return self.run(Command(resume={"decisions": list(decisions)}))

    def status(self) -> str:
        with open_graph("tool_calling", db=self.db, model="offline", tools=[]) as graph:
            return get_thread(graph.memory, "t").status


@pytest.fixture
def desk(mode: Mode, tmp_path: Path) -> Callable[..., Desk]:
    return lambda *replies: Desk(mode, tmp_path, *replies)


def asked(output: dict[str, Any]) -> dict[str, Any]:
    """Return the one request that a run paused with."""
    (pause,) = output["__interrupt__"]
    value: dict[str, Any] = pause.value
    return value


APPROVE = {"type": "approve"}
TWO = {"tool_calls": [call("a", "create_box", 1), call("b", "ship", 1)]}
PAY = {"tool_calls": [call("a", "pay", 5)]}


def test_a_safe_sibling_and_an_approved_call_run_once_each(
    desk: Callable[..., Desk],
) -> None:
    """Case APR-01."""
    d = desk(TWO, "Done.")
    request = asked(d.run("?"))
    assert d.shop.done == []
    assert d.status() == "waiting"
    assert [r["name"] for r in request["action_requests"]] == ["ship"]
    assert request["action_requests"][0]["args"] == {"n": 1}
    assert request["review_configs"][0]["allowed_decisions"] == [
        "approve",
        "edit",
        "reject",
        "respond",
    ]
    output = d.answer(APPROVE)
    assert sorted(d.shop.done) == [("create_box", 1), ("ship", 1)]
    assert output["answer"] == "Done."
    assert d.status() == "answered"


def test_an_edit_is_checked_again_and_a_bad_one_leaves_the_pause_open(
    desk: Callable[..., Desk],
) -> None:
    """Case APR-03."""
    d = desk(PAY, "Paid.")
    d.run("?")
    bad = {"type": "edit", "edited_action": {"name": "pay", "args": {"n": "lots"}}}
    again = d.answer(bad)
    assert "'n'" in asked(again)["problem"]
    assert d.shop.done == []
    output = d.answer({"type": "edit", "edited_action": {"name": "pay", "args": {"n": 4}}})
    assert d.shop.done == [("pay", 4)]
    result = result_for(output["messages"], "a")
    assert result.additional_kwargs["arguments"] == {"n": 4}
    assert output["messages"][1].tool_calls[0]["args"] == {"n": 5}


@pytest.mark.parametrize(
    "answer",
    [
        {"decisions": [APPROVE]},
        {"decisions": [APPROVE, APPROVE, APPROVE]},
        {"decisions": [APPROVE, {"type": "maybe"}]},
        {"decisions": [APPROVE, {"type": "edit"}]},
        {"decisions": [APPROVE, {"type": "respond"}]},
        {"decisions": [APPROVE, {"type": "edit", "edited_action": {"name": "ship", "args": {}}}]},
        {"decisions": [{**APPROVE, "call_id": "a"}, {**APPROVE, "call_id": "x"}]},
        {"decisions": "yes"},
        "yes",
        True,
        [APPROVE, APPROVE],
    ],
)
def test_an_answer_that_decides_nothing_runs_nothing_and_says_why(
    desk: Callable[..., Desk], answer: Any
) -> None:
    """Case APR-05."""
    d = desk({"tool_calls": [call("a", "pay", 1), call("b", "pay", 2)]}, "Done.")
    d.run("?")
    again = d.run(Command(resume=answer))
    assert d.shop.done == []
    assert "\n" not in asked(again)["problem"]
    d.answer(APPROVE, APPROVE)
    assert sorted(d.shop.done) == [("pay", 1), ("pay", 2)]


def test_the_same_answer_sent_twice_pays_once_and_finds_nothing_waiting(
    desk: Callable[..., Desk],
) -> None:
    """Case APR-07."""
    d = desk(PAY, "Paid.")
    d.run("?")
    d.answer(APPROVE)
    with pytest.raises(UsageError, match="waits for an answer"):
        d.answer(APPROVE)
    assert d.shop.done == [("pay", 5)]
    assert len(d.model.requests) == 2


def test_a_new_message_closes_the_waiting_call_and_is_answered(
    desk: Callable[..., Desk],
) -> None:
    """Case APR-09."""
    d = desk(PAY, "It is 4.")
    d.run("?")
    output = d.run("never mind, what is 2+2?")
    assert output["answer"] == "It is 4."
    assert "superseded" in result_for(output["messages"], "a").text
    with pytest.raises(UsageError, match="waits for an answer"):
        d.answer(APPROVE)
    assert d.shop.done == []


def test_decisions_that_carry_ids_belong_to_those_calls(desk: Callable[..., Desk]) -> None:
    """Case APR-11."""
    d = desk({"tool_calls": [call("a", "pay", 1), call("b", "pay", 100)]}, "Done.")
    request = asked(d.run("?"))
    assert [r["call_id"] for r in request["action_requests"]] == ["a", "b"]
    output = d.answer(
        {"type": "approve", "id": "b"}, {"type": "reject", "id": "a", "message": "too little"}
    )
    assert d.shop.done == [("pay", 100)]
    rejected = result_for(output["messages"], "a")
    assert rejected.status == "error"
    assert "too little" in rejected.text


def test_a_tool_that_is_gone_when_the_yes_comes_answers_its_call(
    desk: Callable[..., Desk],
) -> None:
    """Case APR-13."""
    d = desk({"tool_calls": [call("a", "ship", 1)]}, "It can't be shipped.")
    d.run("?")
    left = [tool for tool in d.shop.tools() if tool.name != "ship"]
    output = d.run(Command(resume={"decisions": [APPROVE]}), tools=left)
    assert "no longer available" in result_for(output["messages"], "a").text
    assert output["answer"] == "It can't be shipped."
    assert d.shop.done == []


def test_a_stream_ends_with_one_pause_and_no_error(mode: Mode, tmp_path: Path) -> None:
    """Case APR-15."""
    secret = {"id": "a", "name": "pay", "args": {"n": 5}}
    model = ScriptedModel(replies=[{"tool_calls": [secret]}])
    given: Any = {"messages": [("user", "?")]}
    config: Any = {"configurable": {"thread_id": "t"}}
    db = tmp_path / "r.sqlite"
    with open_graph("tool_calling", db=db, model=model, tools=Shop().tools()) as graph:

        async def collect() -> list[Any]:
            return [p async for p in graph.astream(given, config, stream_mode="updates")]

        sync = mode in {"invoke", "stream"}
        parts = (
            list(graph.stream(given, config, stream_mode="updates"))
            if sync
            else asyncio.run(collect())
        )
    pauses = [part["__interrupt__"] for part in parts if "__interrupt__" in part]
    assert len(pauses) == 1
    (request,) = pauses[0][0].value["action_requests"]
    assert (request["call_id"], request["name"], request["args"]) == ("a", "pay", {"n": 5})


def test_a_person_may_answer_instead_of_the_tool(desk: Callable[..., Desk]) -> None:
    d = desk(PAY, "Done.")
    d.run("?")
    output = d.answer({"type": "respond", "message": "paid in cash"})
    assert d.shop.done == []
    assert result_for(output["messages"], "a").text == "paid in cash"


def test_rejecting_everything_goes_back_to_the_model(desk: Callable[..., Desk]) -> None:
    d = desk(PAY, "Then not.")
    d.run("?")
    output = d.answer({"type": "reject"})
    assert output["answer"] == "Then not."
    assert [r.status for r in results(output["messages"])] == ["error"]


def test_secrets_in_arguments_are_not_shown_to_the_person(mode: Mode, tmp_path: Path) -> None:
    def login(key: str) -> str:
        """Log in."""
        return "in"

    made = {"id": "a", "name": "login", "args": {"key": "sk-live-123456789012"}}
    model = ScriptedModel(replies=[{"tool_calls": [made]}])
    tool = contract(login, requires_confirmation=True)
    with open_graph("tool_calling", db=tmp_path / "r", model=model, tools=[tool]) as graph:
        paused = run(mode, graph, "?")
    assert "sk-live" not in str(paused["__interrupt__"])


@pytest.mark.parametrize("thread", [None, "t"])
def test_without_a_memory_a_call_that_needs_a_yes_is_answered(
    mode: Mode, thread: str | None
) -> None:
    shop = Shop()
    model = ScriptedModel(replies=[PAY, "I can't."])
    graph = compiled(model, shop.tools(), name="tool_calling")
    output = run(mode, graph, "?", thread=thread)
    assert shop.done == []
    assert "no memory" in result_for(output["messages"], "a").text
    assert output["answer"] == "I can't."


def test_a_read_only_run_asks_nobody_and_changes_nothing(desk: Callable[..., Desk]) -> None:
    d = desk(PAY, "I can't.")
    output = d.run("?", read_only=True)
    assert "__interrupt__" not in output
    assert "read-only" in result_for(output["messages"], "a").text
    assert d.shop.done == []


def test_the_limit_of_tool_calls_holds_within_a_reply_and_over_all(
    desk: Callable[..., Desk],
) -> None:
    """Seed 002: a hard limit of tool calls for each message, then a forced final response."""
    many = {"tool_calls": [call(f"c{n}", "create_box", n) for n in range(4)]}
    more = {"tool_calls": [call(f"d{n}", "create_box", n) for n in range(4)]}
    d = desk(many, more, "What I have.")
    output = d.run("?", max_tool_calls=6)
    assert len(d.shop.done) == 6
    assert output["status"] == "tool_limit"
    assert "limit of 6 tool calls" in output["stop_reason"]
    assert output["answer"] == "What I have."
    assert d.model.requests[-1].tools == []
    assert len(results(output["messages"])) == 8


def test_what_was_asked_is_decided_though_the_tool_needs_no_yes_by_then(
    desk: Callable[..., Desk],
) -> None:
    d = desk(PAY, "Then not.")
    d.run("?")
    now = [d.shop.tool("pay", needs_yes=False)]
    output = d.run(Command(resume={"decisions": [{"type": "reject"}]}), tools=now)
    assert d.shop.done == []
    assert result_for(output["messages"], "a").status == "error"


def test_an_id_that_is_no_text_leaves_the_pause_open(desk: Callable[..., Desk]) -> None:
    d = desk(PAY, "Paid.")
    d.run("?")
    again = d.answer({"type": "approve", "call_id": ["a"]})
    assert "text" in asked(again)["problem"]
    d.answer(APPROVE)
    assert d.shop.done == [("pay", 5)]


def test_no_way_around_the_pause_runs_the_call(desk: Callable[..., Desk]) -> None:
    d = desk(PAY, "Not done.")
    d.run("?")
    config: Any = {"configurable": {"thread_id": "t"}}
    with open_graph("tool_calling", db=d.db, model=d.model, tools=d.shop.tools()) as graph:
        graph.update_state(config, {}, as_node="approve")
        output = run(d.mode, graph, None)
    assert d.shop.done == []
    assert "nobody approved" in result_for(output["messages"], "a").text


def test_a_run_resumed_as_read_only_changes_nothing(desk: Callable[..., Desk]) -> None:
    d = desk(PAY, "I can't.")
    d.run("?")
    output = d.run(Command(resume={"decisions": [APPROVE]}), read_only=True)
    assert d.shop.done == []
    assert "read-only" in result_for(output["messages"], "a").text


def test_the_limit_of_calls_is_the_one_the_run_began_with(desk: Callable[..., Desk]) -> None:
    many = {"tool_calls": [call(f"c{n}", "create_box", n) for n in range(5)]}
    d = desk(PAY, many, "Enough.")
    d.run("?", max_tool_calls=2)
    output = d.answer(APPROVE)
    assert len(d.shop.done) == 2
    assert "limit of 2 tool calls" in output["stop_reason"]


def test_what_a_person_writes_is_filtered_and_limited_like_a_result(
    desk: Callable[..., Desk],
) -> None:
    d = desk(PAY, "Done.")
    d.run("?")
    output = d.answer({"type": "respond", "message": "sk-live-123456789012 " + "x" * 100_000})
    text = result_for(output["messages"], "a").text
    assert "sk-live" not in text
    assert len(text) <= 20_000


def test_a_command_without_an_answer_is_told_so(desk: Callable[..., Desk]) -> None:
    d = desk(PAY, "Paid.")
    d.run("?")
    with pytest.raises(UsageError, match="answer"):
        d.run(Command())
    d.answer(APPROVE)
    assert d.shop.done == [("pay", 5)]


def test_a_pause_that_was_answered_is_answered_anew_on_a_fork_of_its_own(
    desk: Callable[..., Desk],
) -> None:
    """LangGraph keeps the old answer with the old checkpoint: going on from there asks again."""
    d = desk(PAY, "Rejected.", "Paid.")
    d.run("?")
    config: Any = {"configurable": {"thread_id": "t"}}
    with open_graph("tool_calling", db=d.db, model=d.model, tools=d.shop.tools()) as graph:
        history = list(graph.get_state_history(config))
        before = next(state for state in history if state.next == ("validate_calls",)).config
    d.answer({"type": "reject"})
    with open_graph("tool_calling", db=d.db, model=d.model, tools=d.shop.tools()) as graph:
        again = run(d.mode, graph, None, config=dict(before), thread=None)
        assert asked(again)["action_requests"][0]["args"] == {"n": 5}
    output = d.answer(APPROVE)
    assert output["answer"] == "Paid."
    assert d.shop.done == [("pay", 5)]


@pytest.mark.parametrize("args", [{"n": 3}, {"n": "lots"}], ids=["other", "bad"])
def test_a_call_edited_in_the_transcript_at_its_pause_is_turned_away_with_a_sentence(
    desk: Callable[..., Desk], args: Any
) -> None:
    """As Studio edits a state; what was checked and shown is not what would run then."""
    d = desk(PAY, "Not paid.")
    d.run("?")
    config: Any = {"configurable": {"thread_id": "t"}}
    with open_graph("tool_calling", db=d.db, model=d.model, tools=d.shop.tools()) as graph:
        said = graph.get_state(config).values["messages"][-1]
        made = [{"id": "a", "name": "pay", "args": args}]
        edited = said.model_copy(update={"tool_calls": made, "content": "Let me see."})
        graph.update_state(config, {"messages": [edited]})
    output = d.run(None)
    assert "__interrupt__" not in output
    assert d.shop.done == []
    assert output["answer"] == "Not paid."
    sent = results(d.model.requests[-1].messages)
    assert ["edited in the transcript" in m.text for m in sent] == [True]


def test_two_answers_at_the_same_moment_pay_once(mode: Mode, tmp_path: Path) -> None:
    """Case APR-07, from two holders of the memory file, such as a server and a command line."""
    config: Any = {"configurable": {"thread_id": "t"}}
    yes: Any = Command(resume={"decisions": [APPROVE]})
    for attempt in range(8):
        shop, db = Shop(), tmp_path / f"r{attempt}.sqlite"
        gate = threading.Barrier(2)

        def answer() -> None:
            with open_memory(db) as memory:  # noqa: B023 - joined before the next turn
                graph = build(
                    model=ScriptedModel(replies=["Paid."]),
                    tools=shop.tools(),  # noqa: B023
                ).compile(checkpointer=memory.saver, store=memory.store)
                gate.wait(10)  # noqa: B023
                if mode in {"invoke", "stream"}:
                    graph.invoke(yes, config)
                else:
                    asyncio.run(graph.ainvoke(yes, config))

        model = ScriptedModel(replies=[PAY])
        with open_graph("tool_calling", db=db, model=model, tools=shop.tools()) as graph:
            run("invoke", graph, "?")
        both = [threading.Thread(target=answer) for _ in range(2)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        assert shop.done == [("pay", 5)]


def test_an_answer_to_a_pause_that_is_over_is_refused_and_the_one_that_waits_stays_open(
    mode: Mode, tmp_path: Path
) -> None:
    again = {"tool_calls": [call("b", "pay", 99)]}
    desk = Desk(mode, tmp_path, PAY, again, "Paid.")
    (first,) = desk.run("?")["__interrupt__"]
    by_id: Any = Command(resume={first.id: {"decisions": [APPROVE]}})
    (second,) = desk.run(by_id)["__interrupt__"]
    with pytest.raises(UsageError, match=f"answer is to {first.id}, .* waits is {second.id}"):
        desk.run(by_id)
    assert desk.shop.done == [("pay", 5)]
    ended = desk.run(Command(resume={second.id: {"decisions": [APPROVE]}}))
    assert ended["status"] == "answered"
    assert desk.shop.done == [("pay", 5), ("pay", 99)]
    with pytest.raises(UsageError, match="nothing in thread t waits"):
        desk.run(by_id)


def test_an_answer_that_goes_to_another_node_too_is_refused_and_the_pause_stays_open(
    mode: Mode, tmp_path: Path
) -> None:
    desk = Desk(mode, tmp_path, PAY, "Paid.")
    desk.run("?")
    with pytest.raises(UsageError, match="without goto"):
        desk.run(Command(resume={"decisions": [APPROVE]}, goto="run_tools"))
    assert desk.shop.done == []
    ended = desk.answer(APPROVE)
    assert desk.shop.done == [("pay", 5)]
    assert result_for(ended["messages"], "a").status == "success"
