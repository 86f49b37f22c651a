"""The older form of a pause and its answers, which Agent Chat UI from npm and Agent Inbox speak."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from graphs import open_graph
from graphs.models import ScriptedModel
from tests.reacting import Log
from tests.support import MODES, Mode, result_for, run

APART = [
    {"id": "a", "name": "pay", "args": {"text": "5"}},
    {"id": "b", "name": "ship", "args": {"text": "x"}},
]


class Desk:
    """A thread that waits for a yes, in a file."""

    def __init__(self, mode: Mode, folder: Path, calls: list[dict[str, Any]]) -> None:
        self.mode, self.done = mode, Log()
        self.tools = [self.done.tool(name) for name in ("pay", "ship")]
        self.db = folder / "memory.sqlite"
        self.model = ScriptedModel(replies=[{"tool_calls": calls}, "Done."])
        self.asked = self.run("Do it")["__interrupt__"][0].value

    def run(self, given: Any) -> dict[str, Any]:
        with open_graph("tool_calling", db=self.db, model=self.model, tools=self.tools) as graph:
            return run(self.mode, graph, given)

    def answer(self, answer: Any) -> dict[str, Any]:
        return self.run(Command(resume=answer))


@pytest.mark.parametrize("mode", MODES)
def test_a_call_that_waits_is_asked_about_in_the_older_form_too(mode: Mode, tmp_path: Path) -> None:
    asked = Desk(mode, tmp_path, APART[:1]).asked
    assert asked["action_request"] == {"action": "pay", "args": {"text": "5"}}
    assert set(asked["config"].values()) == {True}
    assert "pay changes state" in asked["description"]
    assert [r["name"] for r in asked["action_requests"]] == ["pay"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("answer", "done", "result"),
    [
        ({"type": "accept", "args": None}, [("pay", "5")], "about 5"),
        (
            {"type": "accept", "args": {"action": "pay", "args": {"text": "5"}}},
            [("pay", "5")],
            "about 5",
        ),
        (
            {"type": "edit", "args": {"action": "pay", "args": {"text": "4"}}},
            [("pay", "4")],
            "about 4",
        ),
        ({"type": "response", "args": "it is paid"}, [], "it is paid"),
        ({"type": "ignore", "args": None}, [], "not approved"),
    ],
)
def test_an_answer_of_the_older_form_decides(
    mode: Mode, answer: Any, done: list[Any], result: str, tmp_path: Path
) -> None:
    desk = Desk(mode, tmp_path, APART[:1])
    ended = desk.answer([answer])
    assert ended["answer"] == "Done."
    assert desk.done == done
    assert result in str(result_for(ended["messages"], "a").text)


@pytest.mark.parametrize("mode", MODES)
def test_several_calls_are_shown_and_accepted_or_ignored_together(
    mode: Mode, tmp_path: Path
) -> None:
    desk = Desk(mode, tmp_path, APART)
    shown = desk.asked["action_request"]
    assert shown["args"] == {"1. pay": {"text": "5"}, "2. ship": {"text": "x"}}
    assert not desk.asked["config"]["allow_edit"]
    assert not desk.asked["config"]["allow_respond"]
    desk.answer([{"type": "accept", "args": shown}])
    assert sorted(desk.done) == [("pay", "5"), ("ship", "x")]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ([{"type": "accept", "args": {"action": "pay", "args": {"text": "6"}}}], "another call"),
        ([{"type": "edit", "args": None}], "edited_action"),
        ([{"type": "edit", "args": {"action": "ship", "args": {"text": "5"}}}], "not the tool"),
        ([{"type": "response", "args": ""}], "needs a message"),
        ([{"type": "response", "args": {"a": 1}}], "message is text"),
        ([{"type": "maybe", "args": None}], "an answer is"),
        ([], "an answer is"),
        ([{"type": "accept"}, {"type": "accept"}], "an answer is"),
    ],
)
def test_a_wrong_answer_of_the_older_form_decides_nothing_and_says_why(
    answer: Any, why: str, tmp_path: Path
) -> None:
    desk = Desk("invoke", tmp_path, APART[:1])
    (again,) = desk.answer(answer)["__interrupt__"]
    assert why in again.value["problem"]
    assert again.value["description"].startswith(again.value["problem"])
    assert desk.done == []
    assert desk.answer([{"type": "accept", "args": None}])["answer"] == "Done."


def test_an_edit_of_several_calls_at_once_decides_nothing(tmp_path: Path) -> None:
    desk = Desk("invoke", tmp_path, APART)
    edited = {"type": "edit", "args": {"action": "pay", "args": {"text": "1"}}}
    (again,) = desk.answer([edited])["__interrupt__"]
    assert "one decision is needed for each of 2 calls" in again.value["problem"]
    assert desk.done == []


@pytest.mark.parametrize(
    ("answer", "done"),
    [
        ({"type": "accept", "args": {"action": "send", "args": {"text": "a", "copies": 2}}}, 2),
        ({"type": "edit", "args": {"action": "send", "args": {"text": "a", "copies": "3"}}}, 3),
    ],
)
def test_an_argument_that_is_null_is_not_shown_and_stays_and_text_for_a_number_is_read(
    answer: Any, done: int, tmp_path: Path
) -> None:
    sent: list[Any] = []

    def send(text: str, copies: int, to: str | None = "everybody") -> str:
        """Send a text."""
        sent.append((text, copies, to))
        return "sent"

    args = {"text": "a", "copies": 2, "to": None}
    replies = [{"tool_calls": [{"id": "a", "name": "send", "args": args}]}, "Done."]
    model = ScriptedModel(replies=replies)
    resumed: Any = Command(resume=[answer])
    with open_graph("tool_calling", db=tmp_path / "m", model=model, tools=[send]) as graph:
        (pause,) = run("invoke", graph, "Send it")["__interrupt__"]
        assert pause.value["action_request"]["args"] == {"text": "a", "copies": 2}
        run("invoke", graph, resumed)
    assert sent == [("a", done, None)]


@pytest.mark.parametrize("mode", MODES)
def test_a_result_that_agent_chat_ui_makes_up_for_a_call_that_waits_is_none(
    mode: Mode, tmp_path: Path
) -> None:
    desk = Desk(mode, tmp_path, APART[:1])
    made_up = {
        "type": "tool",
        "id": "do-not-render-5",
        "tool_call_id": "a",
        "name": "pay",
        "content": "Successfully handled tool call.",
    }
    ended = desk.run({"messages": [made_up, {"role": "user", "content": "Is it paid?"}]})
    assert desk.done == []
    assert "not executed" in str(result_for(ended["messages"], "a").text)
    told = [str(message.text) for message in desk.model.requests[-1].messages]
    assert not any("Successfully" in text for text in told)
    assert any("not executed" in text for text in told)
