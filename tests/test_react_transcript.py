"""`react_transcript`: seed 003, Transcript only, requirement by requirement."""

import json
import logging
import threading
from typing import Any

import pytest
from langgraph.types import Command
from langchain_core.exceptions import ContextOverflowError
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from pydantic import ValidationError

from graphs import GRAPHS
from graphs.models import ScriptedModel
from graphs.models.quirks import answer_text
from tests.reacting import Log, acting, is_well_formed, number_of_turns, observations, sent
from tests.support import ALL_MODES, MODES, Mode, compiled, results, run
from tools import contract

NAME = "react_transcript"


@pytest.mark.parametrize("mode", ALL_MODES)
def test_the_seeds_four_model_calls_and_three_tool_calls_end_in_48(mode: Mode) -> None:
    log = Log()
    built = {"Eiffel Tower": "completed in 1889", "Golden Gate": "completed in 1937"}
    search = log.tool("search", lambda text: built[text])
    calculator = log.tool("calculator", lambda text: str(1937 - 1889))
    model = acting(
        "Thought: when was it built?\nAction: search[Eiffel Tower]",
        "Thought: and the bridge?\nAction: search[Golden Gate]",
        "Thought: the difference.\nAction: calculator[1937-1889]",
        "Thought: I now have enough information.\nFinal Answer: 48",
    )
    output = run(mode, compiled(model, [search, calculator], NAME), "How many years between them?")
    assert len(model.requests) == 4
    assert log == [
        ("search", "Eiffel Tower"),
        ("search", "Golden Gate"),
        ("calculator", "1937-1889"),
    ]
    assert (output["answer"], output["status"]) == ("48", "answered")
    assert output["usage"]["model_calls"] == 4
    assert output["usage"]["tool_calls"] == 3
    assert observations(model.requests[3].messages) == [
        "completed in 1889",
        "completed in 1937",
        "48",
    ]
    assert all(is_well_formed(request) for request in model.requests)


def test_the_prompt_is_the_seeds_with_actions_and_question_filled_in() -> None:
    def move(start: str, end: str, speed: int = 1) -> str:
        """Move it."""
        return ""

    log = Log()
    model = acting("Final Answer: 1")
    run("invoke", compiled(model, [log.tool("search"), move], NAME), "Where?")
    system, question = model.requests[0].messages
    assert str(system.text).startswith(
        "Answer the question by interleaving Thought, Action and Observation.\n\n"
        "Available actions:\n- search[text]: Do search.\n"
        '- move[{"start": string, "end": string, "speed": integer?}]: Move it.\n\nUse exactly'
    )
    assert str(system.text).endswith("verify the fact.")
    assert question.text == "Question: Where?"
    assert model.requests[0].tools == []


@pytest.mark.parametrize("mode", MODES)
def test_generation_stops_at_the_observation(mode: Mode) -> None:
    model = acting("Action: search[a]", "Final Answer: 1")
    run(mode, compiled(model, [Log().tool("search")], NAME), "?")
    assert [request.stop for request in model.requests] == [["Observation:"]] * 2
    assert sent(model.requests[1]).count("Observation: ") == 2  # the rules', and the real one


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_fails_or_times_out_becomes_the_observation(mode: Mode) -> None:
    def fail(text: str) -> str:
        """Fail."""
        raise ValueError("no such thing")

    def hang(text: str) -> str:
        """Hang until the test is over."""
        over.wait(60)
        return "late"

    over = threading.Event()
    model = acting("Action: fail[a]", "Action: hang[b]", "Final Answer: 1")
    # On a busy machine the one that does not hang may take longer than that.
    failing = contract(fail, requires_confirmation=False, timeout=60)
    try:
        graph = compiled(model, [failing, hang], NAME)
        output = run(mode, graph, "?", context={"tool_timeout": 0.05})
    finally:
        over.set()
    first, second = observations(model.requests[2].messages)
    assert "no such thing" in first
    assert "within 0.05 s" in second
    assert output["answer"] == "1"


def test_the_turn_cap_and_the_tool_timeout_are_parameters_with_the_seeds_defaults() -> None:
    context = GRAPHS[NAME].Context
    assert (context().max_turns, context().tool_timeout) == (10, 10.0)
    assert (context().observation_limit, context().stuck_after) == (2000, 3)
    for wrong in ({"max_turns": 0}, {"observation_limit": 99}):
        with pytest.raises(ValidationError, match="greater than or equal to"):
            context(**wrong)


@pytest.mark.parametrize("mode", MODES)
def test_at_the_cap_it_is_told_that_it_must_answer_now_and_the_answer_is_flagged(
    mode: Mode,
) -> None:
    log = Log()
    actions = [f"Action: search[{n}]" for n in range(10)]
    model = acting(*actions, "Thought: so be it\nFinal Answer: about 7")
    output = run(mode, compiled(model, [log.tool("search")], NAME), "?")
    assert len(model.requests) == 11
    assert len(log) == 10
    assert (output["answer"], output["status"]) == ("about 7", "turn_limit")
    assert "10 turns" in output["stop_reason"]
    last = model.requests[10]
    assert str(last.messages[-1].text).endswith("\nYou must answer now.")
    assert is_well_formed(last)
    assert "You must answer now." not in sent(model.requests[9])


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Action: search[x]", None),
        ("Thought: I think 7\nAction: search[x]", None),
        ("Thought: hmm", None),
        ("", None),
        ("It is 7.", "It is 7."),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_the_last_reply_runs_nothing_and_shows_no_scaffold(
    mode: Mode, reply: str, answer: str | None
) -> None:
    log = Log()
    model = acting("Action: search[a]", reply)
    graph = compiled(model, [log.tool("search")], NAME)
    output = run(mode, graph, "?", context={"max_turns": 1})
    assert log == [("search", "a")]
    assert output["status"] == "turn_limit"
    if answer is None:
        assert "couldn't complete" in output["answer"]
    else:
        assert output["answer"] == answer


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", ["x" * 5000, "line\n" * 3000, "\n" * 5000, "日" * 3000])
def test_an_observation_is_cut_to_its_limit_and_names_its_true_size(mode: Mode, text: str) -> None:
    model = acting("Action: search[a]", "Final Answer: 1")
    tools = [Log().tool("search", lambda _: text)]
    output = run(mode, compiled(model, tools, NAME), "?", context={"tool_result_limit": 4000})
    (shown,) = observations(model.requests[1].messages)
    assert 1000 < len(shown) <= 2000 or text.isspace()
    assert len(shown) <= 2000
    if not text.isspace():
        assert f"{len(text):,} characters in all" in shown
    assert len(results(output["messages"])[0].text) == min(len(text), 4000) or text.isspace()


@pytest.mark.parametrize("mode", MODES)
def test_the_same_action_three_times_in_a_row_is_stuck(mode: Mode) -> None:
    log = Log()
    model = acting(*["Thought: again\nAction: search[a]"] * 3)
    output = run(mode, compiled(model, [log.tool("search")], NAME), "?")
    assert len(model.requests) == 3
    assert log == [("search", "a")] * 2
    assert (output["answer"], output["status"]) == (None, "stuck")
    assert "search[a]" in output["stop_reason"]
    assert number_of_turns(output["messages"]) == 3


@pytest.mark.parametrize("mode", MODES)
def test_other_actions_between_and_other_inputs_are_not_stuck(mode: Mode) -> None:
    log = Log()
    texts = ["a", "a", "b", "a", "a", "c"]
    model = acting(*[f"Action: search[{text}]" for text in texts], "Final Answer: 1")
    output = run(mode, compiled(model, [log.tool("search")], NAME), "?")
    assert [text for _, text in log] == texts
    assert output["answer"] == "1"
    stuck = acting(*["Action: search[a]"] * 2)
    graph = compiled(stuck, [log.tool("search")], NAME)
    assert run(mode, graph, "?", context={"stuck_after": 2})["status"] == "stuck"


@pytest.mark.parametrize("mode", ALL_MODES)
@pytest.mark.parametrize(
    "text", ["bob@example.org", "mail bob@example.org: hi", '{"text": "bob@example.org"}']
)
def test_the_same_input_is_the_same_where_the_record_has_it_redacted(mode: Mode, text: str) -> None:
    log = Log()
    model = acting(*[f"Action: search[{text}]"] * 4)
    output = run(mode, compiled(model, [log.tool("search")], NAME), "?")
    assert (output["status"], len(model.requests), len(log)) == ("stuck", 3, 2)
    assert "bob@" in log[0][1]
    assert "bob@" not in repr(output)


@pytest.mark.parametrize("mode", MODES)
def test_other_secrets_are_other_inputs_though_the_record_shows_them_alike(mode: Mode) -> None:
    log = Log()
    names = ["bob", "ann", "eve", "bob"]
    model = acting(*[f"Action: search[{name}@example.org]" for name in names], "Final Answer: 1")
    output = run(mode, compiled(model, [log.tool("search")], NAME), "?")
    assert [text.partition("@")[0] for _, text in log] == names
    assert output["answer"] == "1"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("wrong", ["foo", "move"])
def test_other_secrets_are_other_inputs_where_the_action_comes_to_nothing(
    mode: Mode, wrong: str
) -> None:
    def move(start: str, end: str) -> str:
        """Move it."""
        return ""

    names = ["bob", "bob", "ann", "ann", "eve"]
    # In the first run two in a row are one too many, in the second one none are alike.
    for texts, status in ((names, "stuck"), (names[1:3], "answered")):
        actions = [f"Action: {wrong}[{name}@example.org]" for name in texts]
        model = acting(*actions, "Final Answer: 1")
        graph = compiled(model, [Log().tool("search"), contract(move)], NAME)
        output = run(mode, graph, "?", context={"stuck_after": 2})
        assert output["status"] == status
        assert len(model.requests) == (2 if status == "stuck" else 3)
        assert "@example" not in repr(output)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stuck_after", [2, 3])
@pytest.mark.parametrize("action", ["foo[x]", "foo[bob@example.org]", "foo[]"])
def test_the_same_action_of_an_unknown_tool_is_stuck_too(
    mode: Mode, stuck_after: int, action: str
) -> None:
    model = acting(*[f"Thought: again\nAction: {action}"] * 4)
    graph = compiled(model, [Log().tool("search")], NAME)
    output = run(mode, graph, "?", context={"stuck_after": stuck_after})
    assert (output["status"], output["answer"]) == ("stuck", None)
    assert len(model.requests) == stuck_after
    assert f"{stuck_after} times in a row: foo[" in output["stop_reason"]
    assert "bob@" not in repr(output)


@pytest.mark.parametrize("mode", MODES)
def test_unknown_actions_that_differ_end_with_no_answer(mode: Mode) -> None:
    model = acting(*[f"Action: foo[{n}]" for n in range(4)])
    output = run(mode, compiled(model, [Log().tool("search")], NAME), "?")
    assert (output["status"], len(model.requests)) == ("no_answer", 3)
    assert "3 times in a row" in output["stop_reason"]


@pytest.mark.parametrize("mode", MODES)
def test_an_unknown_tool_is_told_the_valid_names_and_the_run_goes_on(mode: Mode) -> None:
    log = Log()
    model = acting("Action: serch[red]", "Action: search[red]", "Final Answer: 1")
    output = run(mode, compiled(model, [log.tool("stock"), log.tool("search")], NAME), "?")
    (first, _) = observations(model.requests[2].messages)
    assert "'serch' does not exist" in first
    assert "stock, search" in first
    assert "Action: search[text]" in first
    assert log == [("search", "red")]
    assert output["answer"] == "1"


@pytest.mark.parametrize("reply", ["Action: search(red)", "Action: search[red", "search for red"])
def test_a_format_error_shows_how_the_action_that_was_meant_is_written(reply: str) -> None:
    model = acting(reply, "Final Answer: 1")
    run("invoke", compiled(model, [Log().tool("look"), Log().tool("search")], NAME), "?")
    (told,) = observations(model.requests[1].messages)
    assert "Write one line such as: Action: search[text] or, to answer: Final Answer" in told


@pytest.mark.parametrize("mode", MODES)
def test_the_input_is_the_one_required_argument_or_a_json_object(mode: Mode) -> None:
    seen: list[Any] = []

    def find(query: str, limit: int = 3) -> str:
        """Find it."""
        seen.append((query, limit))
        return "found"

    def move(start: str, end: str) -> str:
        """Move it."""
        seen.append((start, end))
        return "moved"

    def count(number: int) -> str:
        """Count."""
        seen.append(number)
        return "counted"

    def today() -> str:
        """Tell the date."""
        seen.append("today")
        return "30 Nov"

    model = acting(
        "Action: find[red]",
        'Action: find[{"query": "red", "limit": 5}]',
        'Action: find[{"not": "mine"}]',
        'Action: move[{"start": "a", "end": "b"}]',
        "Action: move[a to b]",
        "Action: count[4]",
        "Action: count[four]",
        "Action: today[]",
        'Action: move[{"start": "a"]',
        "Final Answer: 1",
    )
    run(mode, compiled(model, [find, move, count, today], NAME), "?")
    assert seen == [("red", 3), ("red", 5), ('{"not": "mine"}', 3), ("a", "b"), 4, "today"]
    told = observations(model.requests[-1].messages)
    assert 'Action: move[{"start": string, "end": string}]' in told[4]
    assert "count" in told[6]
    assert "move[" in told[8]


@pytest.mark.parametrize("mode", MODES)
def test_each_turn_is_logged_whole_with_latency_and_tokens(
    mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    usage = {"input_tokens": 11, "output_tokens": 7}
    replies = [{"text": "Thought: so\nAction: search[a]", "usage": usage}]
    model = acting(*replies, {"text": "Final Answer: 1", "usage": usage})
    with caplog.at_level(logging.INFO, logger="rungs.audit"):
        output = run(mode, compiled(model, [Log().tool("search")], NAME), "?")
    told = [json.loads(record.message) for record in caplog.records]
    assert [(one["kind"], one["step"]) for one in told] == [
        ("model_call", 1),
        ("tool_call", 1),
        ("model_call", 2),
    ]
    assert [one.get("input_tokens") for one in told] == [11, None, 11]
    assert told[0]["result"] == "Thought: so\nAction: search[a]"
    assert told[0]["output_tokens"] == 7
    assert told[1]["result"] == "about a"
    assert told[1]["seconds"] >= 0
    assert output["usage"]["input_tokens"] == 22


@pytest.mark.parametrize("mode", MODES)
def test_an_action_that_changes_something_waits_for_a_yes(mode: Mode) -> None:
    log = Log()
    effect = contract(log.tool("pay"), requires_confirmation=True)
    model = acting("Action: pay[5]", "Final Answer: paid")
    graph = compiled(model, [effect], NAME, checkpointer=InMemorySaver())
    paused = run(mode, graph, "?")
    assert paused["__interrupt__"][0].value["action_requests"][0]["args"] == {"text": "5"}
    assert log == []
    yes: Any = Command(resume={"decisions": [{"type": "approve"}]})
    assert run(mode, graph, yes)["answer"] == "paid"
    assert log == [("pay", "5")]


@pytest.mark.parametrize("mode", MODES)
def test_a_read_only_run_is_not_told_of_tools_that_change_state(mode: Mode) -> None:
    log = Log()
    effect = contract(log.tool("pay"), effect="state_changing", requires_confirmation=False)
    safe = contract(log.tool("look"), effect="read_only")
    model = acting("Action: pay[5]", "Final Answer: no")
    graph = compiled(model, [effect, safe], NAME)
    run(mode, graph, "?", context={"read_only": True})
    assert "pay" not in sent(model.requests[0])
    assert log == []
    told = observations(model.requests[1].messages)[0]
    assert told == "not executed: pay changes state, and this run is read-only"


@pytest.mark.parametrize("mode", MODES)
def test_an_earlier_question_is_shown_with_its_answer_and_not_as_open(mode: Mode) -> None:
    model = acting("Action: search[a]", "Final Answer: red", "", "", "", "Final Answer: blue")
    graph = compiled(model, [Log().tool("search")], NAME, checkpointer=InMemorySaver())
    run(mode, graph, "First?")
    assert run(mode, graph, "Second?")["status"] == "no_answer"
    output = run(mode, graph, "Third?")
    assert output["answer"] == "blue"
    _, *shown = model.requests[-1].messages
    assert [str(message.text) for message in shown] == ["First?", "red", "Question: Third?"]
    assert output["usage"]["model_calls"] == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("limit", [3, 4, 5, 6, 8, 11])
def test_a_low_recursion_limit_ends_in_a_last_answer(mode: Mode, limit: int) -> None:
    def reply(messages: Any, _: Any) -> str:
        last = str(messages[-1].text).endswith("You must answer now.")
        return "Final Answer: done" if last else f"Action: search[{len(messages)}]"

    model = ScriptedModel(replies=[reply] * 40)
    graph = compiled(model, [Log().tool("search")], NAME, checkpointer=InMemorySaver())
    output = run(mode, graph, "?", config={"recursion_limit": limit})
    assert (output["answer"], output["status"]) == ("done", "turn_limit")
    assert "recursion limit" in output["stop_reason"]
    assert number_of_turns(output["messages"]) == len(results(output["messages"]))


@pytest.mark.parametrize("mode", MODES)
def test_a_model_that_fails_ends_the_run_with_its_reason(mode: Mode) -> None:
    model = acting("Action: search[a]", ValueError("the server is gone"))
    output = run(mode, compiled(model, [Log().tool("search")], NAME), "?")
    assert output["status"] == "no_answer"
    assert "the server is gone" in output["stop_reason"]
    assert len(results(output["messages"])) == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_thread_may_go_on_in_another_variant(mode: Mode) -> None:
    saver = InMemorySaver()
    log = Log()
    model = acting("Thought: hm", "Action: search[a]", "Final Answer: red")
    run(mode, compiled(model, [log.tool("search")], NAME, checkpointer=saver), "First?")
    other = acting("Blue.")
    output = run(mode, compiled(other, [log.tool("search")], checkpointer=saver), "Second?")
    assert output["answer"] == "Blue."
    assert [answer_text(m) for m in other.requests[0].messages if m.type == "human"] == [
        "First?",
        "Second?",
    ]


@pytest.mark.parametrize("mode", MODES)
def test_a_request_too_long_for_the_model_is_an_exhausted_context(mode: Mode) -> None:
    model = acting("Action: search[a]", ContextOverflowError("too long"))
    output = run(mode, compiled(model, [Log().tool("search")], NAME), "?")
    assert (output["status"], output["answer"]) == ("context_exhausted", None)
    assert "too long" in output["stop_reason"]


@pytest.mark.parametrize("mode", MODES)
def test_a_native_tool_call_of_a_model_that_was_shown_no_tools_is_not_run(mode: Mode) -> None:
    log = Log()
    native = {"text": "", "tool_calls": [{"id": "c", "name": "search", "args": {"text": "a"}}]}
    model = acting(native, "Final Answer: 1")
    output = run(mode, compiled(model, [log.tool("look"), log.tool("search")], NAME), "?")
    assert log == []
    told = observations(model.requests[1].messages)[0]
    assert "made a tool call, but an action is written as a line of text" in told
    assert "Write one line such as: Action: search[text]" in told
    assert output["answer"] == "1"


@pytest.mark.parametrize("mode", MODES)
def test_an_image_of_the_question_is_sent_beside_its_text(mode: Mode) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    content = [{"type": "text", "text": "What is it?"}, image]
    model = acting("Action: search[a]", "Final Answer: a cat")
    given = {"messages": [{"role": "user", "content": content}]}
    run(mode, compiled(model, [Log().tool("search")], NAME), given)
    for request in model.requests:
        first = request.messages[1]
        assert first.content == [{"type": "text", "text": "Question: What is it?"}, image]


@pytest.mark.parametrize("mode", MODES)
def test_notes_of_earlier_conversations_are_told_below_the_rules(mode: Mode) -> None:
    store = InMemoryStore()
    model = acting(
        "Action: save_note[She prefers e-mail]", "Final Answer: noted", "Final Answer: 1"
    )
    graph = compiled(model, None, NAME, store=store)
    run(mode, graph, "Note it.", context={"user_id": "ann"})
    run(mode, graph, "And?", context={"user_id": "ann"})
    assert "earlier conversations" not in sent(model.requests[0])
    assert '- "She prefers e-mail"' in str(model.requests[2].messages[0].text)


@pytest.mark.parametrize("mode", MODES)
def test_a_systems_own_instructions_of_the_caller_stand_at_the_end_of_the_rules(mode: Mode) -> None:
    model = acting("Final Answer: 1")
    given = {"messages": [("system", "Speak Latin."), ("user", "?")]}
    run(mode, compiled(model, [Log().tool("search")], NAME), given)
    assert [message.type for message in model.requests[0].messages] == ["system", "human"]
    assert str(model.requests[0].messages[0].text).endswith("Speak Latin.")
