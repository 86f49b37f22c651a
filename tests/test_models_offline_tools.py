"""The offline controller finds tools, calls what it found, and tells what came of it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command
from langgraph.checkpoint.memory import InMemorySaver

from graphs import GRAPHS
from graphs.models.offline_examples import shaped_in, values_in, without_values
from graphs.models.offline_record_step import queries
from graphs.models.offline_records import RecordTool, choose
from graphs.models.offline_told import told
from tests.support import results, run
from tools import contract

VARIANTS = ("deferred_tool_search", "tool_search_toolkit")


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNGS_SHOP", str(tmp_path / "shop.sqlite"))


def trail(output: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """List what was really called, in order, `tool_call` looked through."""
    calls = [call for m in output["messages"] if m.type == "ai" for call in m.tool_calls]
    made = [(call["name"], call["args"]) for call in calls]
    return [(a["name"], a["input"]) if n == "tool_call" else (n, a) for n, a in made]


def asking(name: str, question: str, tools: Sequence[Any] | None = None) -> dict[str, Any]:
    built = GRAPHS[name].build(model="offline", tools=tools)
    graph = built.compile(checkpointer=InMemorySaver())
    output = run("invoke", graph, question)
    if "__interrupt__" in output:
        yes: Any = Command(resume={"decisions": [{"type": "approve"}]})
        paused, output = output, run("invoke", graph, yes)
        output["paused"] = paused["__interrupt__"][0].value["action_requests"]
    return output


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize(
    ("question", "calls", "says"),
    [
        (
            "What refund is due for order O-2008?",
            [("refund_quote", {"order_id": "O-2008"})],
            "due $101.60",
        ),
        ("Where is my order O-2007?", [("track_order", {"order_id": "O-2007"})], "S-4006"),
        (
            "Which orders does ana.torres@mail.example have?",
            [
                ("find_customer", {"email": "ana.torres@mail.example"}),
                ("list_orders", {"customer_id": "C-1001"}),
            ],
            "O-2005",
        ),
        ("Which invoices are overdue?", [("list_overdue_invoices", {})], "$14.95"),
        (
            "What does shipping to Japan cost for a $40 order?",
            [("shipping_quote", {"country": "Japan", "order_total": 40})],
            "$24.00",
        ),
        (
            "How much is 18% of a $250 order?",
            [("calculator", {"expression": "18% * 250"})],
            "= 45.",
        ),
    ],
)
def test_a_question_leads_to_a_search_and_the_tool_that_it_finds(
    name: str, question: str, calls: list[Any], says: str
) -> None:
    output = asking(name, question)
    made = trail(output)
    assert made[0][0] == "tool_search"
    assert [call for call in made if call[0] != "tool_search"] == calls
    assert says in output["answer"]
    assert output["status"] == "answered"


@pytest.mark.parametrize("name", VARIANTS)
def test_an_order_to_change_something_pauses_and_is_then_told(name: str) -> None:
    output = asking(name, "Refund $20 of order O-2001 because it was faulty.")
    (request,) = output["paused"]
    assert request["name"] == "issue_refund"
    assert (request["args"]["order_id"], request["args"]["amount"]) == ("O-2001", "20")
    assert "refundable $69.00" in output["answer"]
    undone = asking(name, "Cancel order O-2010, it was ordered twice.")
    assert undone["paused"][0]["name"] == "cancel_order"
    back = asking(name, "Undo change U-9001.")
    assert "now status placed" in back["answer"]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_question_about_a_policy_goes_to_the_documents_that_a_search_finds(name: str) -> None:
    output = asking(name, "How long is the warranty on Globex wireless earbuds?")
    assert [call for call, _ in trail(output)][-1] == "search_docs"
    assert "2-year" in output["answer"]


@pytest.mark.parametrize("name", VARIANTS)
def test_what_a_search_tells_of_tools_is_no_answer(name: str) -> None:
    assert "inputSchema" not in asking(name, "How many customers do we have?")["answer"]


def test_tool_calling_with_the_shop_calls_what_it_is_told_to() -> None:
    output = asking("tool_calling", "Cancel order O-2010, it was ordered twice.")
    assert output["paused"][0]["args"]["order_id"] == "O-2010"
    assert "status cancelled" in output["answer"]
    assert [m.name for m in results(output["messages"])] == ["cancel_order"]


def test_what_a_question_does_not_give_is_said_and_nothing_is_made_up() -> None:
    output = asking("deferred_tool_search", "Open a return for order O-2008.")
    assert "open_return" in output["answer"]
    assert "item, quantity" in output["answer"]
    assert "open_return" not in [call for call, _ in trail(output)]


def test_a_refusal_of_the_tool_is_told_as_it_is() -> None:
    output = asking("deferred_tool_search", "Cancel order O-2007, it is late.")
    assert "could not be done" in output["answer"]
    assert "shipped on 2026-11-18" in output["answer"]


@pytest.mark.parametrize("name", VARIANTS)
def test_the_rules_know_nothing_of_the_shop(name: str) -> None:
    """Another library, with ids of another look, is served by the same rules."""
    ran: list[Any] = []

    def find_reader(card: str) -> dict[str, str]:
        """Find a reader of the library by the number of their card.

        Args:
            card: The card's number, such as K12345.
        """
        ran.append(("find_reader", card))
        return {"reader": "RD_7", "name": "Mo"}

    def list_loans(reader: str) -> dict[str, Any]:
        """List the books that a reader has on loan.

        Args:
            reader: The reader, such as RD_1, as find_reader gives it.
        """
        ran.append(("list_loans", reader))
        return {"loans": [{"title": "Emma", "due": "2027-01-05"}]}

    def renew_loan(loan: str) -> dict[str, str]:
        """Renew the loan of a book.

        Args:
            loan: The loan's number, such as LN-100.
        """
        ran.append(("renew_loan", loan))
        return {"loan": loan, "due": "2027-02-05"}

    tools = [
        contract(find_reader, effect="read_only"),
        contract(list_loans, effect="read_only"),
        contract(renew_loan, effect="state_changing"),
    ]
    output = asking(name, "Which loans does the reader with card K55512 have?", tools)
    assert ran == [("find_reader", "K55512"), ("list_loans", "RD_7")]
    assert "Emma" in output["answer"]
    ran.clear()
    output = asking(name, "Please renew loan LN-204.", tools)
    assert output["paused"][0]["name"] == "renew_loan"
    assert ran == [("renew_loan", "LN-204")]
    ran.clear()
    asking(name, "Is loan LN-204 overdue?", tools)
    assert ran == []


def test_values_are_read_by_the_look_of_an_example() -> None:
    order = {"description": "The order's id, such as O-2001, as list_orders gives it."}
    assert shaped_in("Refund O-2008 please", "order_id", order) == "O-2008"
    assert shaped_in("Refund O-20085 please", "order_id", order) is None
    assert shaped_in("O-2008 or O-2009?", "order_id", order) is None
    land = {"description": "The country, such as United States or Japan."}
    assert shaped_in("a parcel to japan", "country", land) == "Japan"
    assert shaped_in("a parcel to Peru", "country", land) is None
    words = {"description": "What to look for, such as E-4042."}
    assert shaped_in("What is E-4042?", "query", words) is None
    assert values_in("O-2008 of ann@mail.example") == ["ann@mail.example", "O-2008"]
    assert without_values("Refund $5 of O-2008 to ann@mail.example") == "Refund of to"


def test_a_search_is_for_what_is_to_be_done() -> None:
    assert queries("Which invoices are overdue?") == ["list invoices overdue", "invoices overdue"]
    assert queries("Where is order O-2007?") == ["track order", "order"]
    assert queries("Give C-1006 $5 credit.") == ["give credit", "credit"]
    assert queries("Cancel order O-2010.") == ["Cancel order"]


def test_a_tool_that_acts_is_not_chosen_by_a_question_that_lacks_its_verb() -> None:
    parameters = {
        "type": "object",
        "properties": {"order_id": {"type": "string", "description": "Such as O-1: such as O-1."}},
        "required": ["order_id"],
    }
    cancel = RecordTool("cancel_order", "Cancel an order.", parameters)
    assert choose("Where is order O-2?", [cancel], []) is None
    chosen = choose("Cancel order O-2.", [cancel], [])
    assert chosen is not None
    assert chosen.arguments == {"order_id": "O-2"}


def test_data_is_told_in_its_own_names_and_values() -> None:
    data = {"order_id": "O-1", "late": True, "note": None, "items": [{"name": "Case", "left": 2}]}
    said = told("get_order", json.dumps(data))
    assert said == "get_order: order id O-1, late yes, note none.\nitems: 1\n- name Case, left 2"
    assert told("x", "plain text") == "plain text"
    assert told("x", json.dumps({"items": []})) == "x:\nitems: none"
    assert told("x", json.dumps({"n": list(range(20))})).endswith("- and 8 more")
    assert told("x", "3") == "x: 3."


@pytest.mark.parametrize(
    ("question", "asked", "says"),
    [
        ("When is the shop in Berlin open?", ["Berlin"], "Open from 9 in Berlin"),
        ('When is the shop "old mill" open?', ["old mill"], "Open from 9 in old mill"),
        ("What are the opening hours in New York?", ["New York"], "Open from 9 in New York"),
        ("What are the opening hours in Europe/Berlin?", ["Europe/Berlin"], "in Europe/Berlin"),
        ("What are the opening hours?", [], "your question does not give: city"),
        ("When are the shops in Berlin and Paris open?", [], "nothing that answers"),
    ],
)
def test_a_tool_of_one_s_own_is_called_with_the_name_in_the_question(
    question: str, asked: list[str], says: str
) -> None:
    ran: list[str] = []

    def get_opening_hours(city: str) -> str:
        """Look up when the shop in a city is open; use it for questions about a visit.

        Args:
            city: The city's name.
        """
        ran.append(city)
        return f"Open from 9 in {city}."

    output = asking("tools_in_context", question, [contract(get_opening_hours, effect="read_only")])
    assert ran == asked
    assert says in output["answer"]
