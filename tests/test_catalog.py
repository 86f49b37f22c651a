"""The catalog: what a search finds, in which order, and what stays true while it changes."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from tools import Contract, ContractError, contract
from tools.catalog import Catalog
from tools.errors import SearchError


def _nothing(**_: Any) -> None:
    """Stand in for what a tool does."""


def tool(name: str, description: str, **parameters: str) -> Contract:
    """Make a tool with described text parameters."""
    properties = {name: {"type": "string", "description": d} for name, d in parameters.items()}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return contract(
        {"name": name, "description": description, "parameters": schema, "function": _nothing}
    )


SHOP = [
    tool("refund_quote", "Work out what a customer would get back.", order="The order's number."),
    tool("track_parcel", "Tell where a shipment is now.", parcel="The tracking number."),
    tool("cancel_order", "Stop an order before it is sent.", order="The order's number."),
    tool("listInvoices", "List a customer's invoices, newest first.", customer="Who."),
]


def names(catalog: Catalog, query: str, limit: int = 3) -> list[str]:
    return [match.tool.name for match in catalog.search(query, limit)]


def test_a_search_finds_the_tool_by_its_name_its_description_and_its_parameters() -> None:
    catalog = Catalog(SHOP)
    assert names(catalog, "refund")[0] == "refund_quote"
    assert names(catalog, "where is my shipment")[0] == "track_parcel"
    assert names(catalog, "tracking number")[0] == "track_parcel"


def test_a_search_says_how_many_match_and_how_many_there_are() -> None:
    found = Catalog(SHOP).search("cancel", 1)
    assert len(found) == len(found.matches) == 1
    assert (found.matched, found.available) == (1, 4)
    assert found[0].score > 0


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_an_empty_query_is_an_error_that_asks_for_words(query: str) -> None:
    with pytest.raises(SearchError, match="say in a few words"):
        Catalog(SHOP).search(query)


@pytest.mark.parametrize("limit", [0, -1, 21, 1_000_000])
def test_a_limit_out_of_bounds_is_an_error_that_names_them(limit: int) -> None:
    with pytest.raises(SearchError, match=f"1 to 20, not {limit}"):
        Catalog(SHOP).search("order", limit)


@pytest.mark.parametrize("limit", ["5", 2.0, True, None])
def test_a_limit_that_is_no_whole_number_is_an_error_that_quotes_it(limit: Any) -> None:
    with pytest.raises(SearchError, match=f"1 to 20, not {limit!r}"):
        Catalog(SHOP).search("order", limit)


@pytest.mark.parametrize("query", [None, 5, ["order"]])
def test_a_query_that_is_no_text_is_an_error_that_says_so(query: Any) -> None:
    with pytest.raises(SearchError, match=f"the query is text, not {type(query).__name__}"):
        Catalog(SHOP).search(query)


def test_what_is_no_contract_is_refused_by_its_name() -> None:
    wrong: Any = _nothing
    with pytest.raises(ContractError, match=r"_nothing.*takes contracts"):
        Catalog([wrong])
    catalog = Catalog(SHOP)
    with pytest.raises(ContractError, match=r"_nothing.*takes contracts"):
        catalog.add(wrong)
    assert len(catalog) == 4


def test_what_may_not_be_found_is_no_match_and_leaves_its_place_to_others() -> None:
    found = Catalog(SHOP).search("order", 1, allowed=lambda tool: tool.name != "cancel_order")
    assert [match.tool.name for match in found] == ["refund_quote"]
    assert found.matched < Catalog(SHOP).search("order", 1).matched
    none = Catalog(SHOP).search("order", allowed=lambda _: False)
    assert (len(none), none.matched, none.available) == (0, 0, 4)


def test_a_limit_above_the_number_of_tools_returns_what_there_is() -> None:
    assert len(Catalog(SHOP).search("customer order number shipment invoices", 20)) == 4


def test_nothing_is_found_in_an_empty_catalog() -> None:
    found = Catalog().search("refund")
    assert (list(found), found.matched, found.available) == ([], 0, 0)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("create edge", "canvas_create_edge"),
        ("find customer", "crm-findCustomer"),
        ("delete", "x-delete-all"),
        ("http server", "startHTTPServer2"),
        ("startHTTPServer2", "startHTTPServer2"),
        ("canvas_create_edge", "canvas_create_edge"),
    ],
)
def test_the_words_of_a_name_find_it_however_they_are_joined(query: str, name: str) -> None:
    shapes = ["canvas_create_edge", "crm-findCustomer", "x-delete-all", "startHTTPServer2"]
    catalog = Catalog([tool(shape, "Do it.") for shape in shapes])
    assert names(catalog, query)[0] == name


def test_words_are_found_in_other_forms_and_with_or_without_accents() -> None:
    catalog = Catalog([tool("cafes", "Suche Cafés und Straßen."), tool("box", "Finds a box.")])
    assert names(catalog, "CAFE strasse")[0] == "cafes"
    assert names(catalog, "boxes finding")[0] == "box"


def test_a_word_with_accents_is_one_word_and_found_without_them() -> None:
    catalog = Catalog([tool("one", "Öffnet die Straßenkarte."), tool("two", "Cafe\u0301Crème")])
    assert names(catalog, "strassenkarte offnet") == ["one"]
    assert names(catalog, "cafe") == ["two"]
    assert names(catalog, "CRÈME") == ["two"]


@pytest.mark.parametrize("query", ["法令", "法令を調べて", "日本の法令"])
def test_text_without_spaces_between_its_words_is_found(query: str) -> None:
    catalog = Catalog(
        [tool("search_laws", "日本の法令を検索します"), tool("find_box", "finds a box")]
    )
    assert names(catalog, query)[0] == "search_laws"


def test_a_query_in_another_language_never_fails() -> None:
    catalog = Catalog(SHOP)
    for query in ("Karton finden", "найти коробку", "\ud800", "🦊", "\0", "a\u0301"):
        catalog.search(query)


def test_equal_tools_come_in_the_order_they_were_added_in() -> None:
    same = [tool(name, "Do it.") for name in ("copy_file", "copyFile", "file-copy", "Copy_File")]
    for tools in (same, same[::-1]):
        assert names(Catalog(tools), "copy a file", 4) == [same.name for same in tools]


def state(catalog: Catalog) -> list[list[tuple[str, float]]]:
    """What a catalog answers to some queries, with scores."""
    queries = ["order number", "customer", "refund", "list the invoices of a customer", "parcel"]
    return [[(m.tool.name, m.score) for m in catalog.search(q, 20)] for q in queries]


def test_what_was_added_and_removed_leaves_no_trace() -> None:
    """Whatever happened before, the same tools in the same order answer the same."""
    rng = random.Random(3)  # noqa: S311
    catalog = Catalog()
    for _ in range(300):
        present = [t.name for t in catalog]
        absent = [t for t in SHOP if t.name not in present]
        if absent and (not present or rng.random() < 0.5):
            catalog.add(rng.choice(absent))
        else:
            catalog.remove(rng.choice(present))
        if rng.random() < 0.2:
            assert state(catalog) == state(Catalog(catalog))


def test_a_tool_that_was_added_is_found_and_one_that_was_removed_is_not() -> None:
    catalog = Catalog(SHOP)
    catalog.add(tool("restock", "Order more of a product."))
    assert "restock" in names(catalog, "restock a product")
    assert catalog.remove("restock").name == "restock"
    assert "restock" not in names(catalog, "restock a product")
    assert len(catalog) == len(SHOP)


def test_tools_are_got_by_name_and_iterated_in_order() -> None:
    catalog = Catalog(SHOP)
    assert list(catalog) == SHOP
    assert catalog.get("refund_quote") is SHOP[0]
    assert catalog.get("nothing") is None
    assert "cancel_order" in catalog
    with pytest.raises(KeyError):
        catalog.remove("nothing")


def test_a_second_tool_of_one_name_is_refused_and_changes_nothing() -> None:
    catalog = Catalog(SHOP)
    before = state(catalog)
    with pytest.raises(ContractError, match="another tool has the same name"):
        catalog.add(tool("refund_quote", "Something else."))
    assert state(catalog) == before
    with pytest.raises(ContractError, match="same name"):
        Catalog([SHOP[0], SHOP[0]])


def test_reasons_say_which_words_matched_where_and_add_up_to_the_score() -> None:
    match = Catalog(SHOP).search("cancel my order", reasons=True)[0]
    assert match.tool.name == "cancel_order"
    assert {r.word for r in match.reasons if r.kind == "word"} == {"cancel", "order"}
    where: dict[str, Sequence[str]] = {reason.word: reason.fields for reason in match.reasons}
    assert set(where["order"]) == {"name", "description", "parameters", "details"}
    assert sum(reason.share for reason in match.reasons) == pytest.approx(match.score)
    assert Catalog(SHOP).search("cancel my order")[0].reasons == ()
