"""A model server that misbehaves: what a whole run makes of it, over HTTP."""

from pathlib import Path
from typing import Any

import pytest
import tenacity

from graphs import UsageError, open_graph
from graphs.models import retry
from graphs.models.openai import RungsChatOpenAI
from tests.stub_server import Recorded, Reply, Script, call, completion, serving
from tests.support import MODES, Mode, result_for, run

pytestmark = pytest.mark.parametrize("mode", MODES)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "_BACKOFF", tenacity.wait_none())


class Opened:
    """A graph whose model is a scripted server, and a tool whose runs are counted."""

    def __init__(self, db: Path) -> None:
        self.db = db
        self.paid: list[int] = []
        self.requests: list[Recorded] = []

    def run(self, mode: Mode, script: Script, question: str = "?") -> dict[str, Any]:
        def pay(amount: int) -> str:
            """Pay an amount."""
            self.paid.append(amount)
            return f"paid {amount}"

        def get_weather(city: str) -> str:
            """Tell the weather in a city."""
            return f"sunny in {city}"

        tools = [pay, get_weather]
        with serving(script) as server:
            model = RungsChatOpenAI(model="stub-1", base_url=server.base_url, api_key=KEY)
            self.requests = server.requests
            with open_graph("tools_in_context", db=self.db, model=model, tools=tools) as graph:
                return run(mode, graph, question)


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return Opened(tmp_path / "r.sqlite")


KEY: Any = "sk-test-key-0123456789"
PAY = completion(tool_calls=[call("pay", '{"amount": 5}')])
BUSY = Reply({"error": {"message": "slow down"}}, status=429, headers={"retry-after-ms": "1"})


def test_arguments_sent_as_an_object_run_once(mode: Mode, opened: Opened) -> None:
    """Case ARG-07."""
    weather = completion(tool_calls=[call("get_weather", {"city": "Oslo"})])
    output = opened.run(mode, [weather, completion("It is sunny.")])
    assert result_for(output["messages"], "c1").text == "sunny in Oslo"
    assert output["answer"] == "It is sunny."


def test_a_reply_without_choices_ends_in_no_answer_and_the_thread_goes_on(
    mode: Mode, opened: Opened
) -> None:
    """Case SRV-01."""
    output = opened.run(mode, [{**completion(), "choices": []}])
    assert output["status"] == "no_answer"
    assert output["answer"] is None
    assert "choices" in output["stop_reason"]
    assert len(opened.requests) == retry.ATTEMPTS
    assert opened.run(mode, [completion("Hello.")])["answer"] == "Hello."


def test_a_busy_server_is_asked_again_and_no_tool_runs_again(mode: Mode, opened: Opened) -> None:
    """Case SRV-03."""
    output = opened.run(mode, [PAY, BUSY, BUSY, completion("Paid.")])
    assert opened.paid == [5]
    assert output["answer"] == "Paid."
    assert output["messages"][-1].response_metadata["attempts"] == 3


def test_a_server_that_stays_busy_leaves_the_tools_result_in_the_thread(
    mode: Mode, opened: Opened
) -> None:
    """Case SRV-03."""
    output = opened.run(mode, [PAY, BUSY])
    assert opened.paid == [5]
    assert output["status"] == "no_answer"
    assert "429" in output["stop_reason"] or "slow down" in output["stop_reason"]
    assert result_for(output["messages"], "c1").text == "paid 5"
    after = opened.run(mode, [completion("You paid 5.")], "What did I pay?")
    assert after["answer"] == "You paid 5."
    sent = opened.requests[0].json["messages"]
    assert [message["role"] for message in sent] == [
        "system",
        "user",
        "assistant",
        "tool",
        "user",
    ]


def test_a_strict_server_is_sent_text_and_nothing_that_is_not_configured(
    mode: Mode, opened: Opened
) -> None:
    """Case SRV-05."""
    known = {"model", "messages", "tools", "stream"}

    def strict(request: Any) -> Any:
        body = request.json
        for message in body["messages"]:
            if message["role"] == "tool" and not isinstance(message["content"], str):
                return Reply({"error": {"message": "content must be text"}}, status=400)
        if extra := set(body) - known:
            return Reply({"error": {"message": f"unknown {sorted(extra)}"}}, status=400)
        called = any(message["role"] == "tool" for message in body["messages"])
        return completion("Done.") if called else PAY

    output = opened.run(mode, strict)
    assert output["answer"] == "Done."
    assert opened.paid == [5]


def test_refused_credentials_are_the_callers_and_are_told_without_the_key(
    mode: Mode, opened: Opened
) -> None:
    refusal = Reply({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status=401)
    with pytest.raises(UsageError) as caught:
        opened.run(mode, [refusal])
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert opened.run(mode, [completion("Hello.")])["answer"] == "Hello."


def test_missing_usage_is_unknown(mode: Mode, opened: Opened) -> None:
    output = opened.run(mode, [completion("Hello.")])
    assert output["usage"]["input_tokens"] is None


def test_a_request_that_the_content_filter_refuses_is_not_made_again_nor_quoted(
    mode: Mode, opened: Opened
) -> None:
    error = {"message": "filtered: swordfish", "code": "content_filter"}
    output = opened.run(mode, [Reply({"error": error}, status=400)], "My word is swordfish.")
    assert len(opened.requests) == 1
    assert (output["status"], output["answer"]) == ("refused", None)
    assert "content filter" in output["stop_reason"]
    assert "swordfish" not in output["stop_reason"]
