"""What the ranking understands: spelling, clauses, literal values, meaning; and its bounds."""

import time

import pytest

from tests.test_catalog import SHOP, names, tool
from tools.catalog import Catalog
from tools.ranking.query import clauses
from tools.ranking.spelling import slips_between

MANY = [
    *SHOP,
    tool("send_invitation", "Invite a colleague to a meeting."),
    tool("weather_forecast", "Tell tomorrow's weather at a place."),
    tool("convert_currency", "Change an amount of money from one currency into another."),
]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("wether forcast", "weather_forecast"),
        ("send an invitaiton", "send_invitation"),
        ("curency convertion", "convert_currency"),
        ("shipmnt", "track_parcel"),
    ],
)
def test_a_misspelt_word_finds_what_it_stands_for(query: str, name: str) -> None:
    assert names(Catalog(MANY), query)[0] == name


def test_a_word_of_a_tool_that_was_removed_is_no_neighbour_of_a_misspelt_one() -> None:
    catalog = Catalog(MANY)
    assert names(catalog, "forcast") == ["weather_forecast"]
    catalog.remove("weather_forecast")
    assert "weather_forecast" not in names(catalog, "forcast")


@pytest.mark.parametrize(
    ("one", "other", "slips"),
    [
        ("cat", "cat", 0),
        ("cta", "cat", 1),
        ("cats", "cat", 1),
        ("cot", "cat", 1),
        ("dog", "cat", 2),
    ],
)
def test_slips_are_counted_up_to_a_bound(one: str, other: str, slips: int) -> None:
    assert slips_between(one, other, 1) == slips


def test_each_clause_of_a_request_for_several_things_finds_its_tool() -> None:
    query = "Tell me tomorrow's weather, then cancel my order, and invite a colleague to a meeting."
    assert set(names(Catalog(MANY), query)) == {
        "weather_forecast",
        "cancel_order",
        "send_invitation",
    }


def test_clauses_hold_no_literal_values() -> None:
    query = 'Invite bob@example.com to "Weather report", and cancel order A-1001.'
    assert [clause.split() for clause in clauses(query)] == [["Invite", "to"], ["cancel", "order"]]
    assert clauses("Cancel my order now; invite Bob to lunch") == [
        "Cancel my order now",
        "invite Bob to lunch",
    ]


def test_words_that_mean_alike_are_found_without_a_word_in_common() -> None:
    assert names(Catalog(MANY), "exchange rate dollars euros")[0] == "convert_currency"


def test_nonsense_finds_nothing() -> None:
    found = Catalog(MANY).search("xqzvw kjhgf")
    assert (list(found), found.matched) == ([], 0)


@pytest.mark.parametrize(
    "query",
    [
        "order " * 20_000,
        "x" * 100_000,
        "a,b;" * 25_000,
        '"' * 100_000,
        "{" * 100_000,
        "法" * 100_000,
    ],
)
def test_a_query_of_100_000_characters_is_answered_in_time(query: str) -> None:
    began = time.process_time()
    Catalog(MANY).search(query)
    assert time.process_time() - began < 5  # seconds; a slip into quadratic time takes minutes


def test_the_same_search_answers_the_same_each_time() -> None:
    catalog = Catalog(MANY)
    first = [(m.tool.name, m.score) for m in catalog.search("invite a customer to an order", 20)]
    for _ in range(5):
        again = catalog.search("invite a customer to an order", 20)
        assert [(m.tool.name, m.score) for m in again] == first


def test_slots_of_tools_long_gone_are_given_back() -> None:
    catalog = Catalog(SHOP)
    for number in range(1_200):
        catalog.add(tool("passing", f"Pass number {number}."))
        catalog.remove("passing")
    assert catalog._ranking._postings.slots < 1_100
    assert names(catalog, "refund")[0] == "refund_quote"
    assert [m.tool.name for m in catalog.search("order", 20)] == [
        m.tool.name for m in Catalog(SHOP).search("order", 20)
    ]
