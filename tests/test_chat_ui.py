"""LangChain's Agent Chat UI, unchanged, on the graphs: questions, approvals, threads.

Run by `make test-chat-ui`: it needs npm, Chromium and its driver, and some minutes the first time.
"""

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from graphs import GRAPHS
from tests.browsing import browser
from tests.chat_ui import COMMANDS, VERSION, Chat, chat_page
from tests.cli import ROOT
from tests.serving import served

__all__ = ["browser"]

pytestmark = [
    pytest.mark.chat_ui,
    pytest.mark.enable_socket,
    pytest.mark.filterwarnings("default"),
]

REFUND = "Refund ${} of order O-2002, it came late."
AMOUNTS = {name: f"2.{place:02}" for place, name in enumerate(GRAPHS)}
"""An amount a graph: whose refund it is can be read in the shop's database."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the server's files."""
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[str]:
    """The graphs on the offline model; every one has the tools of the demo shop."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("RUNGS_", "OPENAI_"))]:
            if name != "RUNGS_BROWSER":
                patch.delenv(name)
        patch.setenv("RUNGS_TOOLS", str(ROOT / "tools" / "shop.toml"))
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        with served(place, "--n-jobs-per-worker", "4") as url:
            yield url


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[str]:
    """The page, served; only where there is a browser for it."""
    with chat_page() as url:
        yield url


@pytest.fixture
def client(server: str) -> Iterator[SyncLangGraphClient]:
    """What the server itself says of threads and assistants."""
    with get_sync_client(url=server, timeout=60) as client:
        yield client


@pytest.fixture
def chat(browser: Any, page: str, server: str) -> Iterator[Chat]:
    """The page, whose browser must have no complaint at the end."""
    chat = Chat(browser, page, server)
    yield chat
    assert chat.complaints() == []


@pytest.fixture
def refunds(place: Path) -> Any:
    """Count the refunds of an amount in the shop's database."""
    path = place / "shop.sqlite"

    def count(dollars: str) -> int:
        if not path.exists():
            return 0
        with closing(sqlite3.connect(path)) as shop:
            cents = int(dollars.replace(".", ""))
            query = "SELECT count(*) FROM refunds WHERE order_id = 'O-2002' AND cents = ?"
            return int(shop.execute(query, (cents,)).fetchone()[0])

    return count


def scripted(client: SyncLangGraphClient, place: Path, graph: str, replies: list[Any]) -> str:
    """Make an assistant: the graph with a model that says these replies."""
    path = place / f"{graph}.json"
    path.write_text(json.dumps(replies), encoding="utf-8")
    made = client.assistants.create(graph, context={"model": f"scripted:{path}"})
    return str(made["assistant_id"])


def asked_for(amount: str, number: int = 1) -> dict[str, Any]:
    args = {"order_id": "O-2002", "amount": amount, "reason": "late"}
    return {"id": f"c{number}", "name": "issue_refund", "args": args}


def test_the_readme_names_the_version_that_is_tested() -> None:
    assert COMMANDS[0].startswith(f"npx --yes create-agent-chat-app@{VERSION} ")


@pytest.mark.parametrize("graph", list(GRAPHS))
def test_a_question_is_answered_in_the_chat(
    chat: Chat, client: SyncLangGraphClient, graph: str
) -> None:
    chat.open(graph)
    chat.ask("How much is 18% of a 250 order?")
    chat.shows("Agent Chat", "How much is 18% of a 250 order?")
    (thread,) = client.threads.search(metadata={"graph_id": graph}, limit=1)
    values: Any = client.threads.get_state(thread["thread_id"])["values"]
    assert values["status"]
    said = values["answer"] or values["messages"][-1]["content"]
    shown = chat.shows(*re.findall(r"\w+", said)[:20])
    if graph not in {"fixed_workflow", "forced_output"}:
        assert "18% * 250 = 45" in shown


def test_a_refund_waits_for_a_yes_and_is_carried_out_once(chat: Chat, refunds: Any) -> None:
    chat.open("tool_calling")
    chat.ask(REFUND.format("1.01"))
    chat.shows("issue_refund", "Edit/Accept", "Ignore", "Respond to assistant")
    assert refunds("1.01") == 0
    chat.click("Accept")
    chat.shows("Tool Result: issue_refund", "refund_id")
    assert refunds("1.01") == 1
    chat.ask("How much is 18% of a 250 order?")
    assert "Edit/Accept" not in chat.shows("18% * 250 = 45")
    assert refunds("1.01") == 1


def test_a_refund_that_is_ignored_is_not_carried_out(chat: Chat, refunds: Any) -> None:
    chat.open("tool_calling")
    chat.ask(REFUND.format("1.02"))
    chat.click("Ignore")
    assert "Edit/Accept" not in chat.shows("not executed, it was not approved")
    assert refunds("1.02") == 0


def test_a_refund_is_carried_out_as_it_was_edited(chat: Chat, refunds: Any) -> None:
    chat.open("tool_calling")
    chat.ask(REFUND.format("1.03"))
    chat.change("1.03", "1.04")
    chat.click("Submit")
    chat.shows("Tool Result: issue_refund", "$1.04")
    assert (refunds("1.03"), refunds("1.04")) == (0, 1)


def test_a_person_answers_in_the_place_of_the_tool(chat: Chat, refunds: Any) -> None:
    chat.open("tool_calling")
    chat.ask(REFUND.format("1.05"))
    chat.change("Your response here...", "it was paid by hand")
    chat.click("Send Response")
    chat.shows("Tool Result: issue_refund", "it was paid by hand")
    assert refunds("1.05") == 0


def test_a_message_typed_past_a_refund_that_waits_does_not_count_as_its_result(
    chat: Chat, refunds: Any, client: SyncLangGraphClient
) -> None:
    chat.open("tool_calling")
    chat.ask(REFUND.format("1.06"))
    chat.shows("Edit/Accept")
    chat.ask("Never mind. How much is 18% of a 250 order?")
    chat.shows("not executed: superseded by a new message", "18% * 250 = 45")
    (thread,) = client.threads.search(metadata={"graph_id": "tool_calling"}, limit=1)
    assert "Successfully handled" not in json.dumps(thread["values"])
    assert refunds("1.06") == 0


def test_two_refunds_are_shown_together_and_one_yes_is_for_both(
    chat: Chat, refunds: Any, client: SyncLangGraphClient, place: Path
) -> None:
    calls = [asked_for("1.07", 1), asked_for("1.08", 2)]
    chat.open(scripted(client, place, "tool_calling", [{"tool_calls": calls}, "Both done."]))
    chat.ask("Refund both.")
    chat.shows("2 calls", "1.07", "1.08")
    chat.click("Accept")
    chat.shows("Both done.")
    assert (refunds("1.07"), refunds("1.08")) == (1, 1)


@pytest.mark.parametrize("graph", ["react_transcript", "react_todo_notes", "react_compaction"])
def test_an_action_of_a_react_run_waits_for_a_yes(
    chat: Chat, refunds: Any, client: SyncLangGraphClient, place: Path, graph: str
) -> None:
    amount = AMOUNTS[graph]
    action = f"Thought: I pay.\nAction: issue_refund[{json.dumps(asked_for(amount)['args'])}]"
    done = "Thought: It is paid.\nFinal Answer: You have your money."
    chat.open(scripted(client, place, graph, [action, done]))
    chat.ask("Pay me.")
    chat.shows("Action: issue_refund", "Edit/Accept")
    assert refunds(amount) == 0
    chat.click("Accept")
    chat.shows("refund_id", "You have your money.")
    assert refunds(amount) == 1


@pytest.mark.parametrize("graph", ["one_call", "full_agent", "ladder"])
def test_a_call_of_a_rung_waits_for_a_yes(chat: Chat, refunds: Any, graph: str) -> None:
    amount = AMOUNTS[graph]
    chat.open(graph)
    chat.ask(REFUND.format(amount))
    chat.shows("Edit/Accept")
    assert refunds(amount) == 0
    chat.click("Accept")
    chat.shows("refund_id")
    assert refunds(amount) == 1


def test_threads_are_listed_and_one_that_waits_is_opened_and_answered(
    chat: Chat, refunds: Any
) -> None:
    chat.open("tool_calling")
    question = REFUND.format("1.09")
    chat.ask(question)
    chat.shows("Edit/Accept")
    chat.open("tool_calling", chatHistoryOpen="true")
    assert "Edit/Accept" not in chat.shows("Thread History", question)
    chat.click(question)
    chat.shows("Edit/Accept")
    chat.click("Accept")
    chat.shows("refund_id")
    assert refunds("1.09") == 1


def test_a_refund_that_was_made_is_not_made_again_when_its_reply_is_made_anew(
    chat: Chat, refunds: Any
) -> None:
    chat.open("tool_calling")
    chat.ask(REFUND.format("1.10"))
    chat.shows("Edit/Accept")
    chat.click("Accept")
    chat.shows("refund_id")
    chat.click("Refresh", place=0)
    chat.shows("Edit/Accept")
    assert refunds("1.10") == 1
