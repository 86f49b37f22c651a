"""The ladder starts at the cheapest rung, climbs on a named failure, and takes its finds along."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from graphs import GRAPHS, UsageError, ladder, open_graph
from graphs.models import ScriptedModel
from graphs.receipts import failure_of
from tests.cli import ROOT, home, rungs, scripted
from tests.support import ALL_MODES, MODES, Mode, compiled, results, run
from tests.test_rungs import EARBUDS, ONE_HOP, SUM, call, offered, sent
from tools import contract

FIRST = call("search_products", "c1", query="who acquired Acme")
SECOND = call("search_products", "c2", query="Globex earbuds warranty")
INCOMPLETE = {"text": "Incomplete: Globex acquired Acme; the warranty is missing."}
USAGE = {"input_tokens": 100, "output_tokens": 10}

__all__ = ["home"]

OWN = GRAPHS["one_call"].build(model="offline")


def rungs_of(result: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(receipt["rung"], receipt["failure"]) for receipt in result["receipts"]]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_question_that_the_lowest_rung_answers_climbs_nowhere(mode: Mode) -> None:
    result = run(mode, compiled("offline", name="ladder"), SUM)
    assert rungs_of(result) == [("one_call", None)]
    assert "45" in result["answer"]
    assert (result["status"], result["stop_reason"]) == ("answered", "one_call: the model answered")


@pytest.mark.parametrize("mode", ALL_MODES)
def test_the_earbuds_climb_one_rung_and_are_answered_there(mode: Mode) -> None:
    result = run(mode, compiled("offline", name="ladder"), EARBUDS)
    assert rungs_of(result) == [("one_call", "incomplete"), ("fixed_workflow", None)]
    assert "2-year limited warranty" in result["answer"]
    assert result["status"] == "answered"


@pytest.mark.parametrize("mode", MODES)
def test_what_was_found_goes_up_and_is_not_asked_for_again(mode: Mode) -> None:
    model = ScriptedModel(
        replies=[FIRST, INCOMPLETE, SECOND, {"text": "Nothing more."}, {"text": "Two years."}]
    )
    result = run(mode, compiled(model, name="ladder"), EARBUDS)
    assert "Acme Corp was acquired by Globex" in sent(model, 2)
    assert "Incomplete:" not in sent(model, 2)
    assert [message.type for message in model.requests[2].messages] == [
        *("system", "human", "ai", "tool")
    ]
    assert result["answer"] == "Two years."
    assert [r.tool_call_id for r in results(result["messages"])] == ["c1", "c2"]


@pytest.mark.parametrize("mode", MODES)
def test_the_transcript_holds_each_message_once_the_failed_answers_too(mode: Mode) -> None:
    graph = compiled("offline", name="ladder", checkpointer=InMemorySaver())
    result = run(mode, graph, EARBUDS)
    ids = [message.id for message in result["messages"]]
    assert len(ids) == len(set(ids))
    texts = [m.text for m in result["messages"] if isinstance(m, AIMessage) and m.text]
    assert texts[0].startswith("Incomplete:")
    assert texts[-1] == result["answer"]


@pytest.mark.parametrize("mode", MODES)
def test_each_rung_leaves_a_receipt_of_its_own_cost_and_they_add_up(mode: Mode) -> None:
    replies = [FIRST, INCOMPLETE, SECOND, {"text": "No more."}, {"text": "Two years."}]
    model = ScriptedModel(replies=[{**reply, "usage": USAGE} for reply in replies])
    result = run(mode, compiled(model, name="ladder"), EARBUDS)
    costs = [
        (r["status"], r["model_calls"], r["tool_calls"], r["input_tokens"], r["output_tokens"])
        for r in result["receipts"]
    ]
    assert costs == [("tool_limit", 2, 1, 200, 20), ("answered", 3, 1, 300, 30)]
    assert all(receipt["seconds"] >= 0 for receipt in result["receipts"])
    usage = result["usage"]
    assert (usage["model_calls"], usage["tool_calls"]) == (5, 2)
    assert (usage["input_tokens"], usage["output_tokens"]) == (500, 50)


def test_tokens_that_one_rung_does_not_know_are_unknown_in_the_sum_alone() -> None:
    known = {"usage": USAGE}
    replies = [FIRST, INCOMPLETE, SECOND | known, {"text": "."} | known, {"text": "Two."} | known]
    result = run("invoke", compiled(ScriptedModel(replies=replies), name="ladder"), EARBUDS)
    assert [r["input_tokens"] for r in result["receipts"]] == [None, 300]
    assert result["usage"]["input_tokens"] is None


def test_a_call_that_a_rung_could_no_longer_run_may_be_made_on_the_next() -> None:
    model = ScriptedModel(
        replies=[
            FIRST,
            {**SECOND, "text": "Let me look."},
            {"text": "."},
            {"text": "."},
            {"text": "2"},
        ]
    )
    result = run("invoke", compiled(model, name="ladder"), EARBUDS)
    assert rungs_of(result)[0] == ("one_call", "capped")
    assert "make it again if needed" in sent(model, 2)
    assert "no further tool call can be made" not in sent(model, 2)
    assert "no further tool call can be made" in results(result["messages"])[1].text


@pytest.mark.parametrize("mode", MODES)
def test_it_climbs_to_the_top_and_ends_there_whatever_comes_of_it(mode: Mode) -> None:
    steps = [call("search_policy", f"s{n}", query=f"x {n}") for n in range(2)]
    model = ScriptedModel(
        replies=[INCOMPLETE, {"text": "."}, {"text": "."}, INCOMPLETE, *steps, {"text": "Gave up."}]
    )
    result = run(mode, compiled(model, name="ladder"), EARBUDS, context={"max_steps": 2})
    assert rungs_of(result) == [
        ("one_call", "incomplete"),
        ("fixed_workflow", "incomplete"),
        ("full_agent", "capped"),
    ]
    assert (result["status"], result["answer"]) == ("tool_limit", "Gave up.")
    assert result["stop_reason"].startswith("full_agent: the limit of 2 steps")
    assert offered(model, 4)[-1] == "finish"


def test_a_model_that_can_not_be_reached_or_refuses_ends_it_no_rung_would_do_better() -> None:
    model = ScriptedModel(replies=[ValueError("no route")])
    result = run("invoke", compiled(model, name="ladder"), SUM)
    assert rungs_of(result) == [("one_call", None)]
    assert result["status"] == "no_answer"
    refused = AIMessage("", additional_kwargs={"refusal": "I must not."})
    result = run("invoke", compiled(ScriptedModel(replies=[refused]), name="ladder"), SUM)
    assert (rungs_of(result), result["status"]) == ([("one_call", None)], "refused")


@pytest.mark.parametrize(
    ("status", "answer", "reason", "failure"),
    [
        ("answered", "45", "", None),
        ("record", None, "", None),
        ("answered", "Incomplete: no", "", "incomplete"),
        ("tool_limit", "Incomplete: no", "", "incomplete"),
        ("tool_limit", "45", "", "capped"),
        ("turn_limit", "45", "", "capped"),
        ("stuck", None, "", "capped"),
        ("context_exhausted", None, "", "capped"),
        ("stopped_early", None, "", "capped"),
        ("rejected", None, "", "rejected"),
        ("no_answer", None, "the model said nothing", "no answer"),
        ("no_answer", None, "the model failed: 500", None),
        ("refused", None, "", None),
        ("cancelled", None, "", None),
    ],
)
def test_each_way_to_fail_has_a_name(
    status: str, answer: str | None, reason: str, failure: str | None
) -> None:
    assert failure_of(status, answer, reason) == failure


@pytest.mark.parametrize("mode", MODES)
def test_other_rungs_may_be_named_any_graph_or_one_of_one_s_own(mode: Mode) -> None:
    graph = ladder.build(model="offline", rungs=("fixed_workflow", "tools_in_context")).compile()
    result = run(mode, graph, SUM)
    assert rungs_of(result) == [("fixed_workflow", "incomplete"), ("tools_in_context", None)]
    assert "45" in result["answer"]
    own = GRAPHS["one_call"].build(model=ScriptedModel(replies=[INCOMPLETE]))
    graph = ladder.build(model="offline", rungs=(("mine", own), "full_agent")).compile()
    assert rungs_of(run(mode, graph, SUM)) == [("mine", "incomplete"), ("full_agent", None)]


@pytest.mark.parametrize(
    ("rungs", "reason"),
    [
        ((), "at least one rung"),
        (("one_cal",), "no rung 'one_cal'; there are: .*one_call"),
        (("ladder",), "no rung 'ladder'"),
        (("one_call", "one_call"), "comes twice"),
        ((("__start__", OWN),), "can't be called '__start__'"),
        ((("a:b", OWN),), "can't be called 'a:b'"),
        ((("mine",),), "a name and an uncompiled graph, not"),
        ((("mine", OWN.compile()),), "a name and an uncompiled graph, not"),
        (5, "a name and an uncompiled graph, not 5"),
    ],
)
def test_rungs_that_are_no_ladder_are_refused(rungs: Any, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        ladder.build(rungs=rungs)


@pytest.mark.parametrize("mode", MODES)
def test_a_second_question_begins_at_the_bottom_with_receipts_of_its_own(mode: Mode) -> None:
    graph = compiled("offline", name="ladder", checkpointer=InMemorySaver())
    run(mode, graph, EARBUDS)
    second = run(mode, graph, ONE_HOP)
    assert rungs_of(second) == [("one_call", None)]
    assert second["usage"]["model_calls"] == 2
    assert "1-year limited warranty" in second["answer"]


# ---- what is streamed


def streamed(mode: Mode, **asked: Any) -> list[Any]:
    """Return what `custom` told of a run that climbs one rung."""
    given = {"messages": [("user", EARBUDS)]}
    graph = compiled("offline", name="ladder")
    if mode == "stream":
        return list(graph.stream(given, stream_mode=["updates", "custom"], **asked))

    async def collected() -> list[Any]:
        parts = graph.astream(given, stream_mode=["updates", "custom"], **asked)
        return [part async for part in parts]

    return asyncio.run(collected())


@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_the_ladder_s_stream_tells_which_tool_of_a_rung_runs_before_the_rung_ends(
    mode: Mode,
) -> None:
    order = [
        (told["tool"], told["state"]) if kind == "custom" else next(iter(told))
        for kind, told in streamed(mode)
    ]
    search = [("search_products", "started"), ("search_products", "ended")]
    assert order == [*search, "one_call", *search, *search, "fixed_workflow"]


@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_who_streams_subgraphs_too_hears_of_each_tool_once(mode: Mode) -> None:
    parts = streamed(mode, subgraphs=True)
    told = [(ns[0].split(":")[0], told) for ns, kind, told in parts if kind == "custom"]
    assert [rung for rung, _ in told] == ["one_call"] * 2 + ["fixed_workflow"] * 4
    assert len({(event["call_id"], event["state"]) for _, event in told}) == len(told)


# ---- pauses, kills and other processes


def marking(done: list[str]) -> Any:
    def mark(order: str) -> str:
        """Mark an order."""
        done.append(order)
        return f"marked {order}"

    return contract(mark, effect="state_changing")


@pytest.mark.parametrize("mode", MODES)
def test_an_approval_inside_a_rung_pauses_the_ladder_and_another_process_goes_on(
    mode: Mode, tmp_path: Path
) -> None:
    done: list[str] = []
    mark = call("mark", "m1", order="7")
    opened: dict[str, Any] = {"db": tmp_path / "r.sqlite", "tools": [marking(done)]}
    question = {"messages": [("user", "Mark order 7")]}
    with open_graph("ladder", model=ScriptedModel(replies=[INCOMPLETE, mark]), **opened) as graph:
        paused = graph.invoke(question, {"configurable": {"thread_id": "t"}})
    (pause,) = paused["__interrupt__"]
    assert pause.value["action_requests"][0]["name"] == "mark"
    assert done == []
    rest = ScriptedModel(replies=[{"text": "."}, {"text": "Marked."}])
    with open_graph("ladder", model=rest, **opened) as graph:
        result = run(mode, graph, Command(resume={"decisions": [{"type": "approve"}]}))  # type: ignore[arg-type]
    assert done == ["7"]
    assert (result["answer"], result["status"]) == ("Marked.", "answered")
    assert rungs_of(result) == [("one_call", "incomplete"), ("fixed_workflow", None)]
    assert result["receipts"][1]["model_calls"] == 3


@pytest.mark.parametrize("mode", MODES)
def test_a_rung_that_died_goes_on_inside_itself_with_the_budget_it_had(
    mode: Mode, tmp_path: Path
) -> None:
    """The process dies in the agent's second step; another has the rest of its three steps."""
    steps = [call("search_policy", f"s{n}", query=f"refund {n}") for n in range(3)]
    dying = ScriptedModel(replies=[steps[0], SystemExit(9)])
    build: dict[str, Any] = {"db": tmp_path / "r.sqlite", "rungs": ("full_agent",)}
    context = {"max_steps": 3}
    config: Any = {"configurable": {"thread_id": "t"}}
    with open_graph("ladder", model=dying, **build) as graph, pytest.raises(SystemExit):
        graph.invoke({"messages": [("user", "Refund?")]}, config, context=context)
    rest = ScriptedModel(replies=[*steps[1:], {"text": "Thirty days."}])
    with open_graph("ladder", model=rest, **build) as graph:
        result = run(mode, graph, None, context=context)
    assert len(rest.requests) == 3
    assert (result["status"], result["answer"]) == ("tool_limit", "Thirty days.")
    assert result["receipts"][0]["model_calls"] == 4
    assert len(results(result["messages"])) == 3


def test_a_new_question_withdraws_what_waits_inside_a_rung(tmp_path: Path) -> None:
    done: list[str] = []
    model = ScriptedModel(replies=[call("mark", "m1", order="7"), {"text": "Hello."}])
    config: Any = {"configurable": {"thread_id": "t"}}
    with open_graph(
        "ladder", db=tmp_path / "r.sqlite", model=model, tools=[marking(done)]
    ) as graph:
        graph.invoke({"messages": [("user", "Mark order 7")]}, config)
        result = graph.invoke({"messages": [("user", "Hi")]}, config)
    assert result["answer"] == "Hello."
    assert done == []


def test_two_threads_climb_side_by_side() -> None:
    async def both() -> list[dict[str, Any]]:
        graph = compiled("offline", name="ladder", checkpointer=InMemorySaver())
        asked = [
            graph.ainvoke({"messages": [("user", q)]}, {"configurable": {"thread_id": q[:9]}})
            for q in (EARBUDS, SUM)
        ]
        return list(await asyncio.gather(*asked))

    first, second = asyncio.run(both())
    assert len(first["receipts"]) == 2
    assert len(second["receipts"]) == 1


# ---- at the command line


@pytest.mark.usefixtures("home")
def test_the_command_line_tells_what_each_rung_came_to() -> None:
    said = rungs("ask", EARBUDS, "--graph", "ladder")
    assert said.code == 0
    steps = [line.split(" (")[0] for line in said.out.splitlines() if " s): " in line]
    searched = "  search_products(query="
    assert [line[: len(searched)] if "(" in line else line for line in steps] == [
        *("model call 1", searched, "model call 2", "model call 3", searched, "model call 4"),
        *(searched, "model call 5"),
    ]
    assert "one_call: incomplete (2 model calls, 1 tool call, tokens unknown, " in said.out
    assert "fixed_workflow: answered (3 model calls, 2 tool calls, tokens unknown, " in said.out
    told = rungs("ask", EARBUDS, "--graph", "ladder", "--json").json
    assert [receipt["failure"] for receipt in told["receipts"]] == ["incomplete", None]


@pytest.mark.usefixtures("home")
def test_a_rung_that_was_not_enough_ends_with_3_and_names_the_ladder() -> None:
    said = rungs("ask", EARBUDS, "--graph", "one_call", "--quiet")
    assert said.code == 3
    assert said.out.startswith("Incomplete: ")
    assert "--graph ladder climbs" in said.err


@pytest.mark.parametrize("graph", ["full_agent", "ladder"])
def test_the_highest_rung_names_no_higher_one_but_the_option_that_allows_more(
    graph: str, home: Path
) -> None:
    steps = [call("search_policy", f"s{n}", query=f"x {n}") for n in range(2)]
    incomplete = [INCOMPLETE, ".", ".", INCOMPLETE] if graph == "ladder" else []
    model = scripted(home, [*incomplete, *steps, "Gave up."])
    said = rungs("ask", "?", "-g", graph, "--max-steps", "2", "-m", model, "--quiet")
    assert said.code == 3
    assert "--max-steps allows more" in said.err
    model = scripted(home, [INCOMPLETE, ".", ".", INCOMPLETE, INCOMPLETE])
    said = rungs("ask", "?", "-g", graph, "-m", model, "--quiet")
    assert said.code == 3
    assert "--" not in said.err
    assert "not enough: the answer says that it is incomplete" in said.err


@pytest.mark.usefixtures("home")
def test_the_step_budget_is_an_option_and_recorded_with_the_thread() -> None:
    said = rungs("ask", EARBUDS, "-g", "full_agent", "--max-steps", "1", "-t", "t", "--json")
    assert (said.code, said.json["status"]) == (3, "tool_limit")
    assert said.json["stop_reason"].startswith("the limit of 1 step was reached")
    said = rungs("ask", EARBUDS, "-g", "full_agent", "--max-steps", "0")
    assert said.code == 2
    assert "--max-steps" in said.error


def test_a_pause_inside_a_rung_is_told_with_what_the_rung_did_so_far(home: Path) -> None:
    refund = {"order_id": "O-2001", "amount": "1.00", "reason": "late"}
    model = scripted(home, [call("issue_refund", **refund), "Refunded."])
    tools = ROOT / "tools" / "shop.toml"
    env = {"RUNGS_SHOP": str(home / "shop.sqlite")}
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RUNGS_SHOP", env["RUNGS_SHOP"])
        ask = ("ask", "Refund it", "--graph", "ladder", "--tools", str(tools), "-m", model)
        paused = rungs(*ask, "-t", "t", "--json")
        assert paused.code == 4
        assert [call["tool"] for call in paused.json["waiting"]] == ["issue_refund"]
        assert paused.json["usage"]["model_calls"] == 1
        ended = rungs("resume", "t", "--approve", "--json")
    assert (ended.code, ended.json["answer"]) == (0, "Refunded.")
    assert ended.json["receipts"][0]["tool_calls"] == 1
