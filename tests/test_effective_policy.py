"""Policy on the effective call: made directly or through a wrapper, the decision is the same."""

import json
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from graphs import open_graph
from graphs.audit import events
from graphs.calls import Call
from graphs.ledger import UNKNOWN, Ledger
from graphs.models import ScriptedModel
from graphs.waiting import run as wait_for
from tests.support import ALL_MODES, MODES, Mode, compiled, result_for, results, run
from tests.wrapping import WAYS, Way, calling, offered, wrapper
from tools import Contract, ContractError, Wrapper, contract

SECRET = "sk-live-4242424242424242"


class Bench:
    """One tool with counted effects, reached in one way, on a memory file."""

    def __init__(self, way: Way, mode: Mode, folder: Path, log: pytest.LogCaptureFixture) -> None:
        self.way, self.mode, self.db, self.log = way, mode, folder / "r.sqlite", log
        self.ran: list[Any] = []

    def tool(self, said: Callable[[], Any] = lambda: "done", **policy: Any) -> Contract:
        def act(n: int, note: str = "") -> Any:
            """Do it."""
            self.ran.append(n)
            return said()

        return contract(act, **policy)

    def call(self, call_id: str, **args: Any) -> dict[str, Any]:
        return calling(self.way, call_id, "act", args)

    def run(self, given: Any, tool: Contract, replies: Sequence[Any], **context: Any) -> Any:
        self.model = ScriptedModel(replies=list(replies))
        tools = offered(self.way, [tool])
        with open_graph("tool_calling", db=self.db, model=self.model, tools=tools) as graph:
            return run(self.mode, graph, given, context=context or None)

    def told(self, output: dict[str, Any], call_id: str) -> tuple[str, str]:
        result = result_for(output["messages"], call_id)
        assert result.name == ("act" if self.way == "direct" else "tool_call")
        return result.status, result.text


def approval(bench: Bench) -> Any:
    tool = bench.tool(effect="state_changing")
    paused = bench.run("?", tool, [bench.call("a", n="5")])
    ((pause,),) = (paused["__interrupt__"],)
    request = pause.value["action_requests"][0]
    before = list(bench.ran)
    edit = {"type": "edit", "edited_action": {"name": "act", "args": {"n": "lots"}}}
    again = bench.run(Command(resume={"decisions": [edit]}), tool, [])
    problem = again["__interrupt__"][0].value["problem"]
    edit["edited_action"] = {"name": "act", "args": {"n": 4}}
    output = bench.run(Command(resume={"decisions": [edit]}), tool, ["Done."])
    shown = request["name"], request["args"], "changes state" in request["description"]
    return shown, before, "'n'" in problem, bench.ran, bench.told(output, "a")


def rejection(bench: Bench) -> Any:
    tool = bench.tool(effect="state_changing")
    bench.run("?", tool, [bench.call("a", n=5)])
    no = {"decisions": [{"type": "reject", "message": "too much"}]}
    output = bench.run(Command(resume=no), tool, ["Done."])
    return bench.ran, bench.told(output, "a")


def read_only(bench: Bench) -> Any:
    tool = bench.tool(effect="state_changing", requires_confirmation=False)
    output = bench.run("?", tool, [bench.call("a", n=5), "Done."], read_only=True)
    return bench.ran, bench.told(output, "a")


def cache(bench: Bench) -> Any:
    tool = bench.tool(effect="read_only", cache_seconds=60)
    replies = [bench.call("a", n=5), bench.call("b", n="5"), "Done."]
    output = bench.run("?", tool, replies)
    kept = result_for(output["messages"], "b").additional_kwargs.get("cached")
    return bench.ran, kept, bench.told(output, "b")


def timeout(bench: Bench) -> Any:
    tool = bench.tool(lambda: time.sleep(0.3), effect="read_only", timeout=0.05)
    output = bench.run("?", tool, [bench.call("a", n=5), "Done."])
    return bench.ran, bench.told(output, "a")


def repeats(bench: Bench) -> Any:
    tool = bench.tool(effect="read_only")
    replies = [*(bench.call(call_id, n=5) for call_id in "abcd"), "Done."]
    output = bench.run("?", tool, replies)
    blamed = [r.args for r in bench.log.records if r.name == "rungs"]
    return bench.ran, output["status"], bench.told(output, "c"), bench.told(output, "d"), blamed


def redaction(bench: Bench) -> Any:
    tool = bench.tool(lambda: f"the key is {SECRET}", effect="state_changing")
    paused = bench.run("?", tool, [bench.call("a", n=5, note=f"key {SECRET}")])
    shown = paused["__interrupt__"][0].value["action_requests"][0]["args"]["note"]
    output = bench.run(Command(resume={"decisions": [{"type": "approve"}]}), tool, ["Done."])
    logged = [r.getMessage() for r in bench.log.records if r.name == "rungs.audit"]
    return shown, bench.told(output, "a"), any(SECRET in line for line in logged)


def ledger(bench: Bench) -> Any:
    """A call that was entered before a crash is not run again."""
    tool = bench.tool(effect="state_changing", requires_confirmation=False)
    with open_graph("tool_calling", db=bench.db, model="offline", tools=[tool]) as graph:
        call = Call(name="act", args={"n": 5, "note": ""}, id="a", type="tool_call")
        assert wait_for(Ledger(graph.memory.store, "t").enter(call))
    output = bench.run("?", tool, [bench.call("a", n=5), bench.call("b", n=6), "Done."])
    return bench.ran, bench.told(output, "a"), bench.told(output, "b")


def audit(bench: Bench) -> Any:
    tool = bench.tool(effect="read_only")
    output = bench.run("?", tool, [bench.call("a", n="5"), bench.call("b", n="x"), "Done."])
    lines = [json.loads(r.getMessage()) for r in bench.log.records if r.name == "rungs.audit"]
    logged = [e for e in lines if e["kind"] == "tool_call"]
    read = [json.loads(e.as_json()) for e in events(output["messages"]) if e.kind == "tool_call"]
    assert [e.get("via") for e in logged] == [None if bench.way == "direct" else "tool_call"] * 2
    told = ("tool", "call_id", "arguments", "status", "result")
    for event in (logged, read):
        assert [e["tool"] for e in event] == ["act", "act"]
    return [[[e.get(key) for key in told] for e in both] for both in (logged, read)]


NEVER_RAN: list[int] = []
WARNED = (
    "not executed: the same call gave the same result twice in a row; use that result, "
    "change the arguments, or answer. The tools end if it comes once more"
)
LATE = (
    "act gave no result within 0.05 s and is no longer waited for; it may still finish: "
    "its outcome is unknown"
)
ENDED = "not executed: the same call came for the fourth time in a row, and the tools are off now"
AUDITED = [
    ["act", "a", {"n": 5, "note": ""}, "success", "done"],
    [
        "act",
        "b",
        {"n": "x"},
        "error",
        "act argument 'n' must be integer, got string \"x\"",
    ],
]
DECISIONS: dict[Callable[[Bench], Any], Any] = {
    approval: (("act", {"n": 5, "note": ""}, True), [], True, [4], ("success", "done")),
    rejection: (NEVER_RAN, ("error", "not executed, it was not approved: too much")),
    read_only: (
        NEVER_RAN,
        ("error", "not executed: act changes state, and this run is read-only"),
    ),
    cache: ([5], True, ("success", "done")),
    timeout: (
        [5],
        (
            "error",
            LATE,
        ),
    ),
    repeats: ([5, 5], "stuck", ("error", WARNED), ("error", ENDED), [("was stuck on", "act", "t")]),
    redaction: ("key [redacted]", ("success", "the key is [redacted]"), False),
    ledger: (
        [6],
        (
            "error",
            UNKNOWN,
        ),
        ("success", "done"),
    ),
    audit: [AUDITED, AUDITED],
}


@pytest.mark.parametrize(
    ("way", "mode"),
    [*((way, mode) for way in WAYS[:2] for mode in ALL_MODES), (WAYS[2], "invoke")],
)
@pytest.mark.parametrize("policy", DECISIONS, ids=lambda policy: policy.__name__)
def test_each_policy_decides_the_same_about_a_direct_and_a_wrapped_call(
    policy: Callable[[Bench], Any],
    way: Way,
    mode: Mode,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, logger="rungs"):
        assert policy(Bench(way, mode, tmp_path, caplog)) == DECISIONS[policy]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_direct_and_a_wrapped_call_of_one_tool_are_the_same_call_again(mode: Mode) -> None:
    ran: list[int] = []

    def act(n: int) -> str:
        """Do it."""
        ran.append(n)
        return "same"

    tool = contract(act, effect="read_only")
    made: list[tuple[Way, Any]] = [
        ("direct", 1),
        ("wrapped", "1"),
        ("direct", 1),
        ("twice wrapped", 1),
    ]
    replies = [calling(way, f"c{n}", "act", {"n": given}) for n, (way, given) in enumerate(made)]
    graph = compiled(ScriptedModel(replies=[*replies, "."]), [tool, wrapper([tool])])
    output = run(mode, graph, "?")
    assert ran == [1, 1]
    assert output["status"] == "stuck"


def failing() -> list[Contract]:
    def refund(amount: int) -> str:
        """Pay back."""
        raise ConnectionError("the bank is away")

    def wait() -> str:
        """Wait."""
        time.sleep(0.3)
        return "late"

    return [
        contract(refund, effect="state_changing", requires_confirmation=False),
        contract(refund, name="look", effect="read_only"),
        contract(wait, effect="read_only", timeout=0.05),
    ]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("refnd", {}, ("unknown_tool", "Did you mean 'refund'?", False)),
        ("refund", {}, ("invalid_arguments", "missing required argument 'amount'", False)),
        ("refund", {"amount": 1}, ("failed", "the bank is away", False)),
        ("look", {"amount": 1}, ("failed", "the bank is away", True)),
        ("wait", {}, ("timeout", "no result within 0.05 s", True)),
        (3, {}, ("invalid_arguments", "argument 'name' must be string", False)),
    ],
)
def test_errors_come_back_in_the_wrappers_own_shape(
    mode: Mode, name: Any, given: dict[str, Any], expected: tuple[str, str, bool]
) -> None:
    code, says, retryable = expected
    tool = wrapper(failing(), shaped=True)
    model = ScriptedModel(replies=[calling("wrapped", "a", name, given), "Done."])
    output = run(mode, compiled(model, [tool]), "?")
    (result,) = results(output["messages"])
    told = json.loads(result.text)
    assert (result.name, result.status) == ("tool_call", "error")
    assert (told["code"], told["retryable"]) == (code, retryable)
    assert says in told["message"]
    assert json.loads(model.requests[1].messages[-1].text) == told


@pytest.mark.parametrize("mode", MODES)
def test_a_wrapper_that_calls_itself_ends(mode: Mode) -> None:
    args: dict[str, Any] = {"name": "look", "input": {"amount": 1}}
    for _ in range(9):
        args = {"name": "tool_call", "input": args}
    call = {"tool_calls": [{"id": "a", "name": "tool_call", "args": args}]}
    model = ScriptedModel(replies=[call, "Done."])
    output = run(mode, compiled(model, [wrapper(failing())]), "?")
    assert "more than 3 tools in one another" in results(output["messages"])[0].text
    assert output["answer"] == "Done."


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_tool_behind_a_wrapper_that_is_gone_when_the_yes_comes_answers_its_call(
    mode: Mode, tmp_path: Path
) -> None:
    def ship(n: int) -> str:
        """Ship."""
        raise AssertionError

    def ask(tools: list[Contract], given: Any, *replies: Any) -> Any:
        model = ScriptedModel(replies=list(replies))
        with open_graph("tool_calling", db=tmp_path / "r", model=model, tools=tools) as graph:
            return run(mode, graph, given)

    ask([wrapper([contract(ship)])], "?", calling("wrapped", "a", "ship", {"n": 1}))
    yes: Any = Command(resume={"decisions": [{"type": "approve"}]})
    output = ask([wrapper([])], yes, "Done.")
    assert result_for(output["messages"], "a").text == "tool ship is no longer available"
    assert output["answer"] == "Done."


def test_a_wrapper_has_no_policy_of_its_own() -> None:
    def call(name: str) -> None:
        """Call."""

    wraps = Wrapper({}, lambda args: (args["name"], {}))
    assert contract(call, wrapper=wraps).requires_confirmation is False
    policies: tuple[dict[str, Any], ...] = (
        {"effect": "state_changing"},
        {"timeout": 1},
        {"cache_seconds": 1},
    )
    for policy in policies:
        with pytest.raises(ContractError, match="no policy of its own"):
            contract(call, wrapper=wraps, **policy)
