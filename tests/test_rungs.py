"""The three rungs behave as the essay tells: each of its claims about them is a test."""

from typing import Any

import pytest
from langgraph.types import Command
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from graphs import UsageError, fixed_workflow
from graphs.models import ScriptedModel
from graphs.workflow_steps import Step, read_steps
from prompts import TemplateError
from tests.cli import rungs
from tests.stub_server import call as http_call
from tests.stub_server import completion, serving
from tests.support import ALL_MODES, MODES, Mode, compiled, results, run
from tools import LADDER_FILE, as_contracts, contract, load_tools, unknown_tool
from tools.docs_folder import DocsFolderError
from tools.search_parts import search_policy, search_products

SUM = "What is 18% of a $250 order?"
EARBUDS = "What is the warranty on the earbuds made by the company that acquired Acme?"
THREE_HOPS = (
    "What is the warranty on the speaker made by the company that acquired the company that makes"
    " the Tempo watch?"
)
ONE_HOP = "How long is the warranty on Initech sport earbuds?"
RUNGS = ("one_call", "fixed_workflow", "full_agent")


def calls(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the calls of a run, each with its one argument."""
    made = [message for message in result["messages"] if isinstance(message, AIMessage)]
    return [(c["name"], *c["args"].values()) for message in made for c in message.tool_calls]


def call(name: str, identity: str = "c1", **arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"id": identity, "name": name, "args": arguments}]}


def sent(model: ScriptedModel, place: int) -> str:
    """Return all that a model was sent with one request, as text."""
    return "\n".join(str(message.text) for message in model.requests[place].messages)


def offered(model: ScriptedModel, place: int) -> list[str]:
    return [schema["function"]["name"] for schema in model.requests[place].tool_schemas]


# ---- rung 1: one augmented call


@pytest.mark.parametrize("mode", ALL_MODES)
def test_18_percent_of_250_is_one_augmented_call_a_calculator_once_and_the_answer_45(
    mode: Mode,
) -> None:
    result = run(mode, compiled("offline", name="one_call"), SUM)
    assert calls(result) == [("calculator", "18% * 250")]
    assert [r.text for r in results(result["messages"])] == ["45"]
    assert "45" in result["answer"]
    assert result["status"] == "answered"
    assert (result["usage"]["model_calls"], result["usage"]["tool_calls"]) == (2, 1)


@pytest.mark.parametrize("mode", MODES)
def test_rung_1_finds_the_acquirer_and_says_that_the_warranty_needs_a_second_lookup(
    mode: Mode,
) -> None:
    result = run(mode, compiled("offline", name="one_call"), EARBUDS)
    assert calls(result) == [("search_products", "who acquired Acme")]
    assert result["answer"].startswith("Incomplete:")
    assert "Acme Corp was acquired by Globex" in result["answer"]
    assert "earbuds made by Globex" in result["answer"]
    assert "2-year" not in result["answer"]
    assert result["status"] == "tool_limit"
    assert result["stop_reason"].startswith("one tool round was not enough")


def test_one_round_can_not_use_what_it_has_not_retrieved_the_second_call_has_no_tools() -> None:
    second = call("search_products", "c2", query="Globex earbuds warranty")
    model = ScriptedModel(replies=[call("search_products", query="who acquired Acme"), second])
    result = run("invoke", compiled(model, name="one_call"), EARBUDS)
    assert offered(model, 0) == ["search_policy", "search_products", "calculator"]
    assert offered(model, 1) == []
    assert "Acme Corp was acquired by Globex" in sent(model, 1)
    assert [r.status for r in results(result["messages"])] == ["success", "error"]
    assert result["status"] == "tool_limit"
    assert result["stop_reason"].endswith("the model asked for search_products once more")


def test_the_one_round_may_hold_several_calls_side_by_side() -> None:
    both: dict[str, Any] = {
        "tool_calls": [
            *call("calculator", "c1", expression="1+1")["tool_calls"],
            *call("search_policy", "c2", query="refund")["tool_calls"],
        ]
    }
    model = ScriptedModel(replies=[both, {"text": "2, and 30 days."}])
    result = run("invoke", compiled(model, name="one_call"), "Both?")
    assert [r.status for r in results(result["messages"])] == ["success", "success"]
    assert (result["status"], result["answer"]) == ("answered", "2, and 30 days.")


def test_a_model_that_needs_no_tool_answers_at_once() -> None:
    model = ScriptedModel(replies=[{"text": "Hello."}])
    result = run("invoke", compiled(model, name="one_call"), "Hi")
    assert (result["status"], result["usage"]["model_calls"]) == ("answered", 1)


@pytest.mark.parametrize(
    "text",
    [
        "Incomplete: I lack the price.",
        "**INCOMPLETE** \u2013 no price",
        "incomplete. No",
        "> Incomplete:x",
    ],
)
@pytest.mark.parametrize("calling", [True, False])
def test_an_answer_that_calls_itself_incomplete_is_flagged_however_it_is_written(
    text: str, calling: bool
) -> None:
    replies = [call("calculator", expression="1+1")] if calling else []
    model = ScriptedModel(replies=[*replies, {"text": text}])
    result = run("invoke", compiled(model, name="one_call"), "How much?")
    assert (result["status"], result["answer"]) == ("tool_limit", text)
    assert "incomplete" in result["stop_reason"]


@pytest.mark.parametrize("text", ["Incomplete orders can be changed.", "It is incomplete: no."])
def test_an_answer_about_incomplete_things_is_an_answer(text: str) -> None:
    model = ScriptedModel(replies=[{"text": text}])
    assert run("invoke", compiled(model, name="one_call"), "Orders?")["status"] == "answered"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["one_call", "fixed_workflow"])
def test_an_empty_answer_is_asked_for_once_more_and_then_there_is_none(
    name: str, mode: Mode
) -> None:
    looked = [call("search_policy", f"c{n}", query="refund") for n in range(2)]
    before = looked[:1] if name == "one_call" else looked
    model = ScriptedModel(replies=[*before, {"text": ""}, {"text": "Thirty days."}])
    result = run(mode, compiled(model, name=name), "Refund?")
    assert (result["status"], result["answer"]) == ("answered", "Thirty days.")
    assert "was empty" in sent(model, -1)
    model = ScriptedModel(replies=[*before, {"text": ""}, {"text": " "}])
    assert run(mode, compiled(model, name=name), "Refund?")["status"] == "no_answer"


# ---- rung 2: a fixed workflow


@pytest.mark.parametrize("mode", ALL_MODES)
def test_rung_2_does_two_searches_and_gets_the_earbuds_right(mode: Mode) -> None:
    result = run(mode, compiled("offline", name="fixed_workflow"), EARBUDS)
    assert calls(result) == [
        ("search_products", "who acquired Acme"),
        ("search_products", "What is the warranty on the earbuds made by Globex?"),
    ]
    assert "2-year limited warranty" in result["answer"]
    assert "Globex" in result["answer"]
    assert result["status"] == "answered"


def test_the_workflow_s_route_is_the_same_every_time_whatever_the_model_says() -> None:
    replies = [{"text": "I know it already."}, {"text": "Still do."}, {"text": "30 days."}]
    model = ScriptedModel(replies=replies)
    result = run("invoke", compiled(model, name="fixed_workflow"), "Refund?")
    assert (result["status"], result["answer"]) == ("answered", "30 days.")
    assert [offered(model, n) for n in range(3)] == [["search_policy", "search_products"]] * 2 + [
        []
    ]
    assert [request.tool_choice for request in model.requests] == ["any", "any", None]


def test_each_step_has_a_prompt_of_its_own_and_reads_what_was_found() -> None:
    model = ScriptedModel(
        replies=[
            call("search_products", query="who acquired Acme"),
            call("search_products", "c2", query="Globex earbuds warranty"),
            {"text": "Two years."},
        ]
    )
    run("invoke", compiled(model, name="fixed_workflow"), EARBUDS)
    assert "first step of a fixed workflow" in sent(model, 0)
    assert "with what was found" in sent(model, 1)
    assert "Acme Corp was acquired by Globex" in sent(model, 1)
    assert "last step of a fixed workflow" in sent(model, 2)
    assert "2-year limited warranty" in sent(model, 2)


def test_on_a_one_hop_question_the_workflow_does_a_pointless_second_search() -> None:
    result = run("invoke", compiled("offline", name="fixed_workflow"), ONE_HOP)
    assert "1-year limited warranty" in result["answer"]
    assert len(calls(result)) == 2
    first = run("invoke", compiled("offline", name="one_call"), ONE_HOP)
    assert len(calls(first)) == 1
    assert first["answer"] == result["answer"]


def test_on_a_three_hop_question_the_workflow_stops_one_hop_short_and_says_so() -> None:
    result = run("invoke", compiled("offline", name="fixed_workflow"), THREE_HOPS)
    assert [argument for _, argument in calls(result)] == [
        "who makes the Tempo watch",
        "who acquired Norvik",
    ]
    assert "speaker made by Umbrella" in result["answer"]
    assert "3-year" not in result["answer"]
    assert (result["status"], result["answer"][:11]) == ("tool_limit", "Incomplete:")
    assert "a workflow of 3 steps was not enough" in result["stop_reason"]


def test_its_author_may_wire_another_route_which_fits_three_hops() -> None:
    route = ("retrieve", "retrieve_again", "retrieve_again", "synthesize")
    graph = fixed_workflow.build(model="offline", steps=route).compile()
    result = run("invoke", graph, THREE_HOPS)
    assert "3-year limited warranty" in result["answer"]
    assert "retrieve_again_2" in graph.nodes


def test_a_step_of_one_s_own_has_its_prompt_and_its_tools() -> None:
    sum_up = Step("work_out", "Calculate for {{company}}.\n{{memory_notes}}", tools=("calculator",))
    model = ScriptedModel(replies=[call("calculator", expression="18% * 250"), {"text": "45"}])
    graph = fixed_workflow.build(model=model, steps=(sum_up, "synthesize")).compile()
    assert run("invoke", graph, SUM)["answer"] == "45"
    assert sent(model, 0).startswith("Calculate for Globex.")
    assert offered(model, 0) == ["calculator"]


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ((), "at least two steps"),
        (("synthesize",), "at least two steps"),
        (("retrieve", "retrieve_again"), "must write the answer"),
        (("retreive", "synthesize"), "one of retrieve, retrieve_again, synthesize"),
        ((Step("run_tools", "workflow_retrieve"), "synthesize"), "can't be called 'run_tools'"),
        ((Step("__start__", "workflow_retrieve"), "synthesize"), "can't be called '__start__'"),
        ((Step("__error__", "workflow_retrieve"), "synthesize"), "can't be called '__error__'"),
        ((Step("a|b", "workflow_retrieve"), "synthesize"), r"can't be called 'a\|b'"),
        ((Step(5, "workflow_retrieve"), "synthesize"), "can't be called 5"),  # type: ignore[arg-type]
        (
            ("retrieve", "retrieve", Step("retrieve_2", "workflow_retrieve"), "synthesize"),
            "two steps are called 'retrieve_2'",
        ),
        ("retrieve", "at least two steps"),
        (5, "steps is 5"),
    ],
)
def test_steps_that_are_no_workflow_are_refused_when_the_graph_is_built(
    steps: Any, reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        read_steps(steps)


def test_a_step_with_a_tool_or_a_prompt_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no tool 'search_web'"):
        fixed_workflow.build(
            steps=(Step("look", "workflow_retrieve", ("search_web",)), "synthesize")
        )
    with pytest.raises(TemplateError, match="no_such"):
        fixed_workflow.build(steps=(Step("look", "no_such"), "synthesize"))


def test_over_http_the_steps_that_look_up_demand_a_call_and_the_last_has_no_tools(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = [
        completion(tool_calls=[http_call("search_products", '{"query": "Acme"}', f"c{n}")])
        for n in range(2)
    ]
    with serving([*looked, completion("Two years.")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        result = run("invoke", compiled("openai:m", name="fixed_workflow"), EARBUDS)
        bodies = [request.json for request in server.requests]
    assert result["answer"] == "Two years."
    assert [body.get("tool_choice") for body in bodies] == ["required", "required", None]
    assert ["tools" in body for body in bodies] == [True, True, False]


# ---- rung 3: the full agent


@pytest.mark.parametrize("mode", ALL_MODES)
def test_rung_3_reads_the_acquirer_and_uses_the_name_to_phrase_the_second_search(
    mode: Mode,
) -> None:
    result = run(mode, compiled("offline", name="full_agent"), EARBUDS)
    assert calls(result)[:2] == [
        ("search_products", "who acquired Acme"),
        ("search_products", "What is the warranty on the earbuds made by Globex?"),
    ]
    assert calls(result)[2][0] == "finish"
    assert "2-year limited warranty" in result["answer"]
    assert (result["status"], result["stop_reason"]) == ("answered", "the model called finish")


@pytest.mark.parametrize(("question", "searches"), [(ONE_HOP, 1), (EARBUDS, 2), (THREE_HOPS, 3)])
def test_nobody_wired_the_number_of_hops_the_agent_discovers_it(
    question: str, searches: int
) -> None:
    result = run("invoke", compiled("offline", name="full_agent"), question)
    assert [name for name, _ in calls(result)] == ["search_products"] * searches + ["finish"]
    assert "limited warranty" in result["answer"]


def test_the_agent_reaches_for_the_calculator_and_searches_nothing() -> None:
    result = run("invoke", compiled("offline", name="full_agent"), SUM)
    assert [name for name, _ in calls(result)] == ["calculator", "finish"]


def test_every_step_of_the_agent_is_another_model_call() -> None:
    costs = {
        question: run("invoke", compiled("offline", name="full_agent"), question)["usage"]
        for question in (ONE_HOP, EARBUDS, THREE_HOPS)
    }
    assert [usage["model_calls"] for usage in costs.values()] == [2, 3, 4]


@pytest.mark.parametrize("mode", MODES)
def test_the_loop_ends_through_finish_without_another_model_call(mode: Mode) -> None:
    model = ScriptedModel(replies=[call("finish", answer=" It is 45. ")])
    result = run(mode, compiled(model, name="full_agent"), SUM)
    assert (result["answer"], result["status"]) == ("It is 45.", "answered")
    assert len(model.requests) == 1
    assert result["usage"]["tool_calls"] == 1


def test_a_finish_that_breaks_its_contract_does_not_end_the_loop() -> None:
    bad = [
        call("finish", text="45"),
        call("finish", "c2", answer=" "),
        call("finish", "c3", answer="45"),
    ]
    model = ScriptedModel(replies=bad)
    result = run("invoke", compiled(model, name="full_agent"), SUM)
    assert result["answer"] == "45"
    assert "missing required argument 'answer'" in sent(model, 1)
    assert "the answer is empty" in sent(model, 2)


@pytest.mark.parametrize("mode", MODES)
def test_the_step_budget_guarantees_the_end_of_a_loop_that_never_finishes(mode: Mode) -> None:
    steps = [call("search_policy", f"c{n}", query=f"refund {n}") for n in range(10)]
    model = ScriptedModel(replies=[*steps, {"text": "I looked ten times."}])
    result = run(mode, compiled(model, name="full_agent"), "Refund?")
    assert len(model.requests) == 11
    assert offered(model, 9)[-1] == "finish"
    assert offered(model, 10) == []
    assert (result["status"], result["answer"]) == ("tool_limit", "I looked ten times.")
    assert "the limit of 10 steps was reached" in result["stop_reason"]


def test_the_step_budget_is_a_setting_with_bounds() -> None:
    model = ScriptedModel(replies=[call("calculator", expression="1"), {"text": "One."}])
    result = run("invoke", compiled(model, name="full_agent"), "?1", context={"max_steps": 1})
    assert result["status"] == "tool_limit"
    with pytest.raises(ValueError, match="max_steps"):
        run("invoke", compiled("offline", name="full_agent"), SUM, context={"max_steps": 0})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "reply", [{"text": "Incomplete: no price."}, call("finish", answer="**Incomplete:** no price.")]
)
def test_an_agent_that_calls_its_answer_incomplete_has_hit_its_limit(
    reply: dict[str, Any], mode: Mode
) -> None:
    model = ScriptedModel(replies=[call("calculator", expression="1"), reply])
    result = run(mode, compiled(model, name="full_agent"), "?", context={"max_steps": 2})
    assert result["status"] == "tool_limit"
    assert result["answer"].endswith("no price.")
    assert result["stop_reason"] == (
        "the agent's loop was not enough: the answer says that it is incomplete"
    )


def test_a_plain_answer_without_finish_is_taken_too() -> None:
    model = ScriptedModel(replies=[{"text": "Hello."}])
    assert run("invoke", compiled(model, name="full_agent"), "Hi")["status"] == "answered"


def test_tools_of_one_s_own_get_a_finish_and_may_bring_their_own() -> None:
    def look(word: str) -> str:
        """Look a word up."""
        return word

    def finish(verdict: str) -> str:
        """End with a verdict."""
        return f"verdict: {verdict}"

    model = ScriptedModel(replies=[call("look", word="x"), call("finish", "c2", answer="done")])
    result = run("invoke", compiled(model, [look], name="full_agent"), "x?")
    assert result["answer"] == "done"
    model = ScriptedModel(replies=[call("finish", verdict="guilty")])
    result = run("invoke", compiled(model, [look, finish], name="full_agent"), "x?")
    assert result["answer"] == "verdict: guilty"


# ---- the tool contract


def test_the_four_sample_calls_are_accepted_and_rejected_with_reasons() -> None:
    tools = {tool.name: tool for tool in load_tools(LADDER_FILE)}
    assert list(tools) == ["search_policy", "search_products", "calculator", "finish"]
    assert tools["search_products"].check({"query": "who acquired Acme"}).error is None
    unknown = unknown_tool("search_web", tools.values())
    assert unknown.startswith("Tool 'search_web' does not exist.")
    assert "search_policy, search_products, calculator, finish" in unknown
    missing = tools["calculator"].check({"expr": "0.18 * 250"}).error or ""
    assert missing.startswith("calculator is missing required argument 'expression'")
    wrong = tools["calculator"].check({"expression": 42}).error
    assert wrong == "calculator argument 'expression' must be string, got integer 42"


@pytest.mark.parametrize("mode", MODES)
def test_each_rejection_is_an_observation_the_loop_reads_and_recovers_from(mode: Mode) -> None:
    model = ScriptedModel(
        replies=[
            call("search_web", "c1", query="Acme"),
            call("calculator", "c2", expr="0.18 * 250"),
            call("calculator", "c3", expression=42),
            call("calculator", "c4", expression="0.18 * 250"),
            call("finish", "c5", answer="45"),
        ]
    )
    result = run(mode, compiled(model, name="full_agent"), SUM)
    assert "Tool 'search_web' does not exist." in sent(model, 1)
    assert "missing required argument 'expression'" in sent(model, 2)
    assert "must be string, got integer 42" in sent(model, 3)
    assert "\n45" in sent(model, 4)
    assert [m.status for m in results(result["messages"])] == ["error"] * 3 + ["success"] * 2
    assert (result["status"], result["usage"]["tool_calls"]) == ("answered", 2)


def test_an_invented_tool_never_yields_data_the_failure_is_loud_on_the_first_run() -> None:
    model = ScriptedModel(replies=[call("get_metrics", month="May"), {"text": "Incomplete: none."}])
    result = run("invoke", compiled(model, name="one_call"), "Metrics?")
    (observation,) = results(result["messages"])
    assert observation.status == "error"
    assert "'get_metrics' does not exist" in observation.text


def test_the_schema_that_is_shown_is_the_one_that_is_checked() -> None:
    model = ScriptedModel(replies=[{"text": "Hi."}])
    run("invoke", compiled(model, name="full_agent"), "Hi")
    shown = {
        s["function"]["name"]: s["function"]["parameters"] for s in model.requests[0].tool_schemas
    }
    assert shown == {tool.name: tool.parameters for tool in load_tools(LADDER_FILE)}


# ---- rising cost, and what steers


def test_on_the_same_question_every_rung_costs_more_than_the_one_below() -> None:
    steps = []
    for name in RUNGS:
        usage = run("invoke", compiled("offline", name=name), EARBUDS)["usage"]
        steps.append(usage["model_calls"] + usage["tool_calls"])
    assert steps == sorted(set(steps))


def test_the_description_decides_which_search_is_called() -> None:
    def made(name: str, about: str) -> Any:
        schema = {"type": "object", "properties": {"query": {"type": "string"}}}
        return contract(
            {
                "name": name,
                "description": about,
                "parameters": {**schema, "required": ["query"]},
                "function": lambda query: f"No match for {query}.",
            },
            effect="read_only",
        )

    birds, ships = "Search the bird index: nests and eggs.", "Search the ship index: masts, sails."
    for first, second, called in ((birds, ships, "search_one"), (ships, birds, "search_two")):
        tools = [made("search_one", first), made("search_two", second)]
        result = run("invoke", compiled("offline", tools, "one_call"), "How many eggs in nests?")
        assert [name for name, _ in calls(result)] == [called]


# ---- retrieval is one tool among several


def test_the_two_searches_cover_parts_of_the_help_centre_that_share_no_document() -> None:
    policy, products = search_policy("warranty"), search_products("warranty")
    assert "File: warranty.md" in policy
    assert "File: warranty.md" not in products
    assert "File: globex-earbuds.md" in search_products("Globex earbuds warranty")
    assert "File: globex-earbuds.md" not in search_policy("Globex earbuds warranty")
    assert "File: error-e-4042.md" in search_policy("E-4042")
    assert "No match" in search_products("E-4042")


def test_the_parts_of_a_folder_of_one_s_own_are_declared_in_it(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNGS_DOCS", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    (tmp_path / "tea.md").write_text("# Tea\n\nTea is hot.", encoding="utf-8")
    (tmp_path / "rules.md").write_text("# Rules\n\nTea is served at five.", encoding="utf-8")
    assert "2 documents" in search_policy("tea")
    parts = tmp_path / "parts.toml"
    parts.write_text('products = ["tea.md"]\npolicy = ["*"]\n', encoding="utf-8")
    assert "File: rules.md" in search_policy("tea")
    assert "File: tea.md" not in search_policy("tea")
    assert "1 document," in search_products("tea")
    parts.write_text('products = ["x*"]\npolicy = "*"\n', encoding="utf-8")
    with pytest.raises(DocsFolderError, match="policy must be a list"):
        search_products("tea")
    parts.write_text('products = ["x*"]\n', encoding="utf-8")
    with pytest.raises(DocsFolderError, match=r"no document in .* belongs to its part 'products'"):
        search_products("tea")
    with pytest.raises(DocsFolderError, match="has no part 'policy'"):
        search_policy("tea")
    parts.write_text("products = [", encoding="utf-8")
    folder = ("--docs", str(tmp_path), "--db", str(tmp_path / "m"))
    said = rungs("ask", "Tea?", "--graph", "one_call", *folder)
    assert said.code == 2
    assert "parts.toml can't be read" in said.error
    with pytest.raises(DocsFolderError, match=r"parts\.toml can't be read"):
        search_products("tea")


# ---- what every graph owes


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", RUNGS)
def test_a_call_that_changes_state_waits_for_a_yes_on_every_rung(name: str, mode: Mode) -> None:
    done: list[str] = []

    def search_and_mark(order: str) -> str:
        """Mark an order."""
        done.append(order)
        return "marked"

    tool = contract(search_and_mark, effect="state_changing")
    replies = [call("search_and_mark", order="7"), {"text": "Marked."}, {"text": "Marked."}]
    graph = compiled(ScriptedModel(replies=replies), [tool], name, checkpointer=InMemorySaver())
    paused = run(mode, graph, "Mark order 7")
    assert paused["__interrupt__"]
    assert done == []
    result = run(mode, graph, Command(resume={"decisions": [{"type": "approve"}]}))  # type: ignore[arg-type]
    assert done == ["7"]
    assert result["answer"] == "Marked."


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", RUNGS)
def test_a_second_question_of_the_thread_is_a_run_of_its_own(name: str, mode: Mode) -> None:
    graph = compiled("offline", name=name, checkpointer=InMemorySaver())
    first = run(mode, graph, EARBUDS)
    second = run(mode, graph, ONE_HOP)
    assert "1-year limited warranty" in second["answer"]
    alone = run(mode, compiled("offline", name=name), ONE_HOP)
    assert second["usage"]["model_calls"] == alone["usage"]["model_calls"]
    assert len(second["messages"]) > len(first["messages"])


@pytest.mark.parametrize("name", RUNGS)
def test_a_model_that_fails_ends_the_run_with_the_reason(name: str) -> None:
    model = ScriptedModel(replies=[ValueError("the server is on fire")])
    result = run("invoke", compiled(model, name=name), SUM)
    assert result["status"] == "no_answer"
    assert "on fire" in result["stop_reason"]
    assert result["usage"]["model_calls"] == 1


@pytest.mark.parametrize("name", ["one_call", "fixed_workflow"])
def test_a_model_that_fails_at_the_answer_leaves_what_was_found_recorded(name: str) -> None:
    looked = [call("search_policy", f"c{n}", query="refund") for n in range(2)]
    before = looked[:1] if name == "one_call" else looked
    model = ScriptedModel(replies=[*before, ValueError("gone")])
    result = run("invoke", compiled(model, name=name), "Refund?")
    assert result["status"] == "no_answer"
    assert all(isinstance(m, ToolMessage) and m.text for m in results(result["messages"]))
    assert len(results(result["messages"])) == len(before)


def test_finish_is_no_tool_of_the_rungs_without_a_loop() -> None:
    given = as_contracts(load_tools(LADDER_FILE))
    model = ScriptedModel(replies=[{"text": "Hi."}])
    run("invoke", compiled(model, given, "one_call"), "Hi")
    assert "finish" not in offered(model, 0)
