"""The library of support tools: what each allows, to the cent, and what can be taken back."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.test_shop import refused, shop
from tools import load_tools
from tools import shop as shop_tools
from tools.shop import (
    ShopError,
    add_credit,
    apply_credit,
    cancel_order,
    cancel_plan,
    change_address,
    change_delivery_address,
    change_plan,
    check_return,
    check_warranty,
    credit_balance,
    delete_customer,
    find_product,
    find_shipment,
    get_customer,
    get_invoice,
    get_order,
    get_plan,
    get_refund,
    issue_refund,
    list_changes,
    list_invoices,
    list_late_shipments,
    list_orders,
    list_overdue_invoices,
    list_plans,
    list_refunds,
    list_returns,
    open_return,
    plan_change_quote,
    plan_refund_quote,
    refund_quote,
    report_lost_parcel,
    send_replacement,
    shipping_quote,
    track_order,
    undo_change,
)
from tools.shop.calendar import (
    business_days_later,
    last_return_day,
    months_later,
    year_later,
)
from tools.shop.money import share_of

__all__ = ["shop"]

FOLDER = Path(__file__).parent.parent / "tools"
LIBRARY = FOLDER / "library.toml"


def test_the_library_has_forty_tools_a_third_of_which_change_something() -> None:
    offered = load_tools(LIBRARY)
    changing = [tool for tool in offered if tool.effect == "state_changing"]
    assert len(offered) == 40
    assert 12 <= len(changing) <= 15
    assert [tool.name for tool in changing if not tool.requires_confirmation] == ["save_note"]
    of_the_shop = {tool.name for tool in offered} - {"search_docs", "calculator", "save_note"}
    assert of_the_shop == {name for name in shop_tools.__all__ if name != "ShopError"}


@pytest.mark.parametrize("tool", load_tools(LIBRARY), ids=lambda tool: tool.name)
def test_each_tool_says_in_a_line_what_it_does_and_describes_each_parameter(tool: Any) -> None:
    assert 40 < len(tool.description) <= 100
    assert tool.description.endswith(".")
    assert tool.parameters["additionalProperties"] is False
    for field in tool.parameters["properties"].values():
        assert len(field["description"]) > 10


def test_the_small_file_offers_a_part_of_the_library_in_the_same_way() -> None:
    library = {
        t.name: (t.effect, t.requires_confirmation, t.fingerprint) for t in load_tools(LIBRARY)
    }
    for tool in load_tools(FOLDER / "shop.toml"):
        assert library[tool.name] == (tool.effect, tool.requires_confirmation, tool.fingerprint)


def test_an_account_shows_address_plan_credit_and_open_orders() -> None:
    assert get_customer("C-1001") == {
        "customer_id": "C-1001",
        "name": "Ana Torres",
        "email": "ana.torres@mail.example",
        "since": "2024-02-11",
        "address": "12 Alder Street, Portland, OR 97205, United States",
        "plan": "Plus",
        "credit": "$14.50",
        "orders": 3,
        "open_orders": ["O-2010"],
    }
    assert get_customer("C-1012")["plan"] == "Basic"


def test_a_new_address_is_kept_and_can_be_undone_once() -> None:
    moved = change_address("C-1002", " 5 Elm\nRoad ", "Evanston", "IL 60201", "United States")
    assert moved["address"] == "5 Elm Road, Evanston, IL 60201, United States"
    assert get_customer("C-1002")["address"] == moved["address"]
    assert "already; nothing was changed" in refused(
        change_address, "C-1002", "5 Elm Road", "Evanston", "IL 60201", "United States"
    )
    assert list_changes("C-1002")["changes"] == [
        {"change_id": "U-9001", "what": "address of C-1002 changed", "made": "2026-11-30"}
    ]
    assert undo_change("U-9001")["now"]["street"] == "480 Lake Avenue"
    assert get_customer("C-1002")["address"].startswith("480 Lake Avenue")
    assert "was undone already" in refused(undo_change, "U-9001")
    assert list_changes("C-1002")["changes"] == []


def test_a_change_on_top_of_another_is_undone_first() -> None:
    first = change_delivery_address("O-2010", "1 First Street, Salem, OR 97301, United States")
    second = change_delivery_address("O-2010", "2 Second Street, Salem, OR 97301, United States")
    assert "something else changed it since" in refused(undo_change, first["change_id"])
    assert undo_change(second["change_id"])["now"] == {"address": first["deliver_to"]}
    assert undo_change(first["change_id"])["now"] == {}
    home = get_customer("C-1001")["address"]
    assert "goes to that address already" in refused(change_delivery_address, "O-2010", home)


@pytest.mark.parametrize("order_id", ["O-2007", "O-2001", "O-2003"])
def test_an_order_that_left_or_was_cancelled_keeps_its_address(order_id: str) -> None:
    assert "can't be changed any more" in refused(change_delivery_address, order_id, "1 First St")


def test_a_cancellation_is_undone_unless_its_money_was_paid_back() -> None:
    change = cancel_order("O-2010", "ordered twice")["change_id"]
    assert undo_change(change)["now"] == {"status": "placed"}
    assert "cancel_reason" not in get_order("O-2010")
    again = cancel_order("O-2010", "ordered twice")["change_id"]
    issue_refund("O-2010", "1.00", "cancelled")
    assert "money of O-2010 was paid back since" in refused(undo_change, again)
    assert get_order("O-2010")["status"] == "cancelled"


def test_a_product_tells_price_stock_and_warranty() -> None:
    assert find_product("Globex earbuds")["products"] == [
        {
            "name": "Globex wireless earbuds",
            "price": "$129.00",
            "in_stock": 12,
            "warranty_months": 24,
        }
    ]
    assert len(find_product("earbuds")["products"]) == 2
    assert "there are: Carrying case;" in refused(find_product, "bicycle")


def test_a_warranty_starts_on_delivery_and_ends_to_the_day() -> None:
    assert check_warranty("O-2002")["items"] == [
        {"name": "Globex wireless earbuds", "covered": True, "until": "2028-08-26"},
        {"name": "Ear tips, set of 3", "covered": False},
    ]
    assert "starts on the day of delivery" in refused(check_warranty, "O-2010")
    assert months_later("2026-08-31", 6) == "2027-02-28"
    assert months_later("2026-12-15", 12) == "2027-12-15"
    assert year_later("2028-02-29") == "2029-02-28"


@pytest.mark.parametrize(
    ("order_id", "due", "why"),
    [
        ("O-2003", "$0.00", "cancelled on"),
        ("O-2012", "$24.50", "cancelled on"),
        ("O-2010", "$0.00", "cancel_order comes first"),
        ("O-2007", "$0.00", "on its way"),
        ("O-2001", "$0.00", "could be returned until 2026-09-06"),
        ("O-2008", "$101.60", "less $11.90 for labels"),
    ],
)
def test_a_refund_is_quoted_by_the_policy(order_id: str, due: str, why: str) -> None:
    quote = refund_quote(order_id)
    assert quote["due"] == due
    assert why in quote["why"]


def test_a_quote_takes_off_what_was_paid_back_and_never_exceeds_it() -> None:
    issue_refund("O-2008", "100", "partly back")
    assert refund_quote("O-2008")["due"] == "$1.60"
    issue_refund("O-2008", "13.50", "the rest")
    assert refund_quote("O-2008")["due"] == "$0.00"


def test_refunds_of_orders_and_plans_are_listed_and_dated() -> None:
    refund = cancel_plan("C-1001", "now")
    assert refund["refund"] == "$80.00"
    listed = list_refunds("C-1001")
    assert listed["total"] == "$80.00"
    assert listed["refunds"][0]["of"] == "I-6003"
    told = get_refund(refund["refund_id"])
    assert (told["amount"], told["from"], told["to"]) == ("$80.00", "2026-12-07", "2026-12-14")
    assert get_refund("R-3003")["overdue"]
    assert list_refunds("C-1012")["refunds"] == []
    assert "that is an order's id" in refused(get_refund, "O-2001")


def test_the_return_window_is_longer_before_the_holidays() -> None:
    assert last_return_day("2026-10-31", "2026-11-05") == "2026-12-05"
    assert last_return_day("2026-11-01", "2026-11-05") == "2027-01-31"
    assert last_return_day("2026-12-24", "2027-01-10") == "2027-02-09"
    assert check_return("O-2008")["until"] == "2027-01-31"
    assert not check_return("O-2005")["may_return"]
    assert "only what arrived is sent back" in refused(check_return, "O-2009")


def test_a_return_takes_no_more_than_is_left_and_charges_a_label_where_one_is_due() -> None:
    opened = open_return("O-2008", "umbrella portable SPEAKER", 1, "unwanted")
    assert (opened["return_id"], opened["label"]) == ("T-5002", "$5.95")
    assert "0 of Umbrella portable speaker are left" in refused(
        open_return, "O-2008", "Umbrella portable speaker", 1, "faulty"
    )
    assert [r["status"] for r in list_returns("C-1007")["returns"]] == ["open", "open"]
    undo_change(opened["change_id"])
    assert [r["status"] for r in list_returns("C-1007")["returns"]] == ["cancelled", "open"]
    assert open_return("O-2008", "Umbrella portable speaker", 1, "faulty")["label"] == "$0.00"
    for quantity in (0, -1, 2):
        assert "left to return" in refused(
            open_return, "O-2008", "Carrying case", quantity, "faulty"
        )
    assert "it holds Umbrella" in refused(open_return, "O-2008", "bicycle", 1, "faulty")
    assert "that day is over" in refused(open_return, "O-2001", "Carrying case", 1, "faulty")


def test_a_label_is_free_on_a_paid_plan_and_hygiene_parts_stay(shop: Path) -> None:
    get_order("O-2001")
    with closing(sqlite3.connect(shop)) as other:
        other.execute("UPDATE orders SET delivered = '2026-11-20' WHERE customer_id = 'C-1001'")
        other.execute("UPDATE orders SET delivered = '2026-11-20' WHERE order_id = 'O-2002'")
        other.commit()
    assert open_return("O-2001", "Umbrella portable speaker", 1, "unwanted")["label"] == "$0.00"
    tips = "Ear tips, set of 3"
    assert "seal is broken" in refused(open_return, "O-2002", tips, 1, "unwanted")
    assert open_return("O-2002", tips, 1, "wrong item")["label"] == "$0.00"


def test_a_parcel_is_tracked_by_order_and_by_number() -> None:
    (parcel,) = track_order("O-2007")["shipments"]
    assert (parcel["shipment_id"], parcel["late"]) == ("S-4006", True)
    assert parcel["scans"][0] == "2026-11-21 Salt Lake City: left the sorting centre"
    assert find_shipment("px 100307") == {"order_id": "O-2007", **parcel}
    assert track_order("O-2013")["shipments"] == []
    assert "no parcel has the tracking number" in refused(find_shipment, "PX1")
    assert [s["shipment_id"] for s in list_late_shipments()["shipments"]] == ["S-4006"]


def test_business_days_leave_out_weekends_and_holidays() -> None:
    assert business_days_later("2026-11-25", 1) == "2026-11-27"
    assert business_days_later("2026-11-25", 2) == "2026-11-30"
    assert business_days_later("2026-11-27", 0) == "2026-11-27"


def test_a_lost_parcel_is_replaced_once_from_stock_and_not_paid_back_too() -> None:
    assert "is in transit: report_lost_parcel comes first" in refused(send_replacement, "S-4006")
    assert "is delivered" in refused(report_lost_parcel, "S-4001")
    assert "can be reported as lost from 2026-12-14 on" in refused(report_lost_parcel, "S-4008")
    lost = report_lost_parcel("S-4006")
    assert refund_quote("O-2007")["due"] == "$129.00"
    sent = send_replacement("S-4006")
    assert (sent["shipment_id"], sent["tracking"], sent["due"]) == (
        "S-4009",
        "PX100307R",
        "2026-12-02",
    )
    assert find_product("Globex")["products"][0]["in_stock"] == 11
    assert "is replaced" in refused(send_replacement, "S-4006")
    assert "something else changed it since" in refused(undo_change, lost["change_id"])
    assert refund_quote("O-2007")["due"] == "$0.00"


def test_what_is_paid_back_or_out_of_stock_is_not_sent_again(shop: Path) -> None:
    lost = report_lost_parcel("S-4006")
    issue_refund("O-2007", "129", "lost")
    assert "by money or by goods, not by both" in refused(send_replacement, "S-4006")
    assert undo_change(lost["change_id"])["now"] == {"status": "in transit"}
    with closing(sqlite3.connect(shop)) as other:
        other.execute("UPDATE shipments SET status = 'lost' WHERE number = 4008")
        other.commit()
    assert "are not in stock" in refused(send_replacement, "S-4008")
    assert len(track_order("O-2009")["shipments"]) == 1


@pytest.mark.parametrize(
    ("country", "total", "service", "cost"),
    [
        ("United States", "49.99", "standard", "$4.95"),
        ("USA", 50, "standard", "$0.00"),
        ("us", "500", "overnight", "$29.95"),
        ("Canada", "500", "standard", "$12.00"),
        ("the United Kingdom", "10", "standard", "$19.00"),
        ("Japan", "10", "standard", "$24.00"),
    ],
)
def test_shipping_costs_what_the_help_centre_says(
    country: str, total: Any, service: Any, cost: str
) -> None:
    assert shipping_quote(country, total, service)["cost"] == cost


def test_where_we_do_not_ship_no_price_is_made_up() -> None:
    assert "we don't ship to 'Brazil'" in refused(shipping_quote, "Brazil", "10")
    assert "in the United States only" in refused(shipping_quote, "Japan", "10", "express")


def test_invoices_tell_what_is_open_and_overdue() -> None:
    assert list_invoices("C-1006")["open_in_all"] == "$14.95"
    assert get_invoice("I-6006")["overdue"]
    assert not get_invoice("I-6007")["overdue"]
    assert [i["invoice_id"] for i in list_overdue_invoices()["invoices"]] == ["I-6006"]
    assert "an id looks like 'I-6006'" in refused(get_invoice, "6006")


def test_credit_pays_an_invoice_as_far_as_it_goes_to_the_cent() -> None:
    assert apply_credit("I-6006") == {
        "invoice_id": "I-6006",
        "paid_from_credit": "$10.00",
        "open": "$4.95",
        "credit": "$0.00",
    }
    assert "there is no credit" in refused(apply_credit, "I-6006")
    add_credit("C-1006", "20.01", "late again")
    assert apply_credit("I-6006")["credit"] == "$15.06"
    assert "paid in full already: $14.95" in refused(apply_credit, "I-6006")
    entries = [entry["amount"] for entry in credit_balance("C-1006")["entries"]]
    assert entries == ["-$4.95", "$20.01", "-$10.00", "$10.00"]


def test_credit_is_taken_back_unless_it_was_spent() -> None:
    given = add_credit("C-1006", 5, "a long wait")
    assert given["credit"] == "$15.00"
    assert undo_change(given["change_id"])["now"] == {"credit": "$10.00"}
    spent = add_credit("C-1006", 5, "a long wait")
    apply_credit("I-6006")
    assert "only $0.05 is left" in refused(undo_change, spent["change_id"])
    assert "at most $100.00 credit" in refused(add_credit, "C-1006", 100.01, "too much")


def test_a_plan_refund_is_the_unused_part_of_thirty_days() -> None:
    assert plan_refund_quote("C-1004")["refund"] == "$24.00"
    assert plan_refund_quote("C-1003") == {
        "customer_id": "C-1003",
        "plan": "Plus",
        "unused_days": 13,
        "price_paid": "$24.00",
        "refund": "$10.40",
    }
    assert plan_refund_quote("C-1005")["refund"] == "$0.00"
    assert "which is free" in refused(plan_refund_quote, "C-1002")
    assert "is not paid: $600.00 are open" in refused(plan_refund_quote, "C-1008")


def test_shares_are_rounded_to_the_nearest_cent_half_a_cent_up() -> None:
    assert [share_of(cents, 1, 2) for cents in (0, 1, 2, 3)] == [0, 1, 1, 2]
    assert share_of(100, 1, 3) == 33
    assert share_of(200, 1, 3) == 67
    for part in range(31):
        assert abs(share_of(2400, part, 30) * 30 - 2400 * part) * 2 <= 30


def test_a_move_up_takes_effect_at_once_less_the_rest_of_the_old_plan() -> None:
    quote = plan_change_quote("C-1003", "Business")
    assert (quote["credit"], quote["to_pay"]) == ("$10.40", "$49.60")
    done = change_plan("C-1003", "Business")
    assert (done["charged"], done["ends"]) == ("$49.60", "2026-12-30")
    plan = get_plan("C-1003")
    assert (plan["plan"], plan["price"], plan["paid"]) == ("Business", "$60.00", True)
    assert "on Business already" in refused(change_plan, "C-1003", "Business")
    assert change_plan("C-1002", "Plus", "year")["charged"] == "$240.00"
    assert list_invoices("C-1002")["invoices"][0]["amount"] == "$240.00"


def test_a_move_down_waits_for_the_period_s_end_and_can_be_undone() -> None:
    planned = change_plan("C-1004", "Plus", "year")
    assert planned["takes_effect"] == "2026-12-13"
    plan = get_plan("C-1004")
    assert (plan["plan"], plan["then"], plan["then_by_the"]) == ("Business", "Plus", "year")
    assert "already" in refused(change_plan, "C-1004", "Plus", "year")
    undo_change(planned["change_id"])
    assert get_plan("C-1004")["then"] == "Business"


def test_a_year_is_not_cut_short_by_a_move_to_months() -> None:
    quote = plan_change_quote("C-1001", "Business", "month")
    assert (quote["takes_effect"], quote["to_pay"]) == ("2027-11-11", "$0.00")
    assert plan_change_quote("C-1001", "Business", "year")["credit"] == "$226.85"


def test_a_plan_ends_later_and_can_be_kept_or_now_for_good() -> None:
    later = cancel_plan("C-1003", "end of period")
    assert later["ends"] == "2026-12-14"
    assert get_plan("C-1003")["then"] == "Basic"
    assert "already" in refused(cancel_plan, "C-1003", "end of period")
    undo_change(later["change_id"])
    assert get_plan("C-1003")["then"] == "Plus"
    again = cancel_plan("C-1003", "end of period")
    now = cancel_plan("C-1003", "now")
    assert (now["refund"], now["refund_id"]) == ("$10.40", "P-7001")
    assert get_plan("C-1003") == {"customer_id": "C-1003", "plan": "Basic"}
    assert "can't be undone" in refused(undo_change, again["change_id"])
    assert "nothing to cancel" in refused(cancel_plan, "C-1003", "now")
    assert [plan["month"] for plan in list_plans()["plans"]] == ["$0.00", "$24.00", "$60.00"]


def test_a_customer_with_a_plan_or_an_open_invoice_is_not_deleted() -> None:
    assert "cancel_plan comes first" in refused(delete_customer, "C-1003")
    change_plan("C-1002", "Plus")
    assert "is on Plus" in refused(delete_customer, "C-1002")
    cancel_plan("C-1002", "now")
    change_address("C-1002", "1 New Street", "Chicago", "IL 60601", "United States")
    delete_customer("C-1002")
    assert "there is no change" in refused(undo_change, "U-9001")


def test_nothing_personal_of_a_deleted_customer_is_left(shop: Path) -> None:
    change_address("C-1002", "Secret Street 1", "Chicago", "IL 60601", "United States")
    delete_customer("C-1002")
    with closing(sqlite3.connect(shop)) as raw:
        text = "\n".join(raw.iterdump())
    assert "Secret Street" not in text
    assert "480 Lake Avenue" not in text
    assert "Okafor" not in text


CHANGES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (add_credit, ("C-1006", 5, "late")),
    (apply_credit, ("I-6006",)),
    (cancel_order, ("O-2010", "twice")),
    (cancel_plan, ("C-1003", "now")),
    (change_address, ("C-1002", "1 New Street", "Chicago", "IL 60601", "United States")),
    (change_delivery_address, ("O-2010", "1 First Street, Salem")),
    (change_plan, ("C-1003", "Business")),
    (change_plan, ("C-1004", "Plus")),
    (open_return, ("O-2008", "Umbrella portable speaker", 1, "faulty")),
    (report_lost_parcel, ("S-4006",)),
]


@pytest.mark.parametrize(("change", "arguments"), CHANGES, ids=lambda value: str(value)[:20])
def test_a_change_that_fails_at_any_statement_leaves_everything_as_it_was(
    shop: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[..., Any], arguments: Any
) -> None:
    get_order("O-2001")
    connect = sqlite3.connect
    with closing(connect(shop)) as raw:
        before = list(raw.iterdump())
    fail_at = 1
    while True:
        writes = 0

        def guard(action: int, *_: Any, at: int = fail_at) -> int:
            nonlocal writes
            if action in {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}:
                writes += 1
                if writes == at:
                    return sqlite3.SQLITE_DENY
            return sqlite3.SQLITE_OK

        def guarded(*args: Any, **kwargs: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*args, **kwargs)
            connection.set_authorizer(guard)
            return connection

        monkeypatch.setattr(sqlite3, "connect", guarded)
        try:
            change(*arguments)
        except ShopError as error:
            assert "not authorized" in str(error)  # noqa: PT017 - the guard's word
        else:
            break
        finally:
            monkeypatch.setattr(sqlite3, "connect", connect)
        with closing(connect(shop)) as raw:
            assert list(raw.iterdump()) == before
        fail_at += 1
    assert fail_at > 1
    with closing(connect(shop)) as raw:
        assert list(raw.iterdump()) != before


def test_a_file_of_the_first_layout_is_brought_up_with_what_was_done_in_it(shop: Path) -> None:
    get_order("O-2001")
    with closing(sqlite3.connect(shop, isolation_level=None)) as old:
        tables = [n for (n,) in old.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in set(tables) - {"customers", "orders", "items", "refunds", "sqlite_sequence"}:
            old.execute(f"DROP TABLE {name}")
        old.execute("DELETE FROM customers WHERE customer_id = 'C-1003'")
        old.execute("UPDATE orders SET customer_id = NULL WHERE customer_id = 'C-1003'")
        old.execute("DELETE FROM sqlite_sequence WHERE name <> 'refunds'")
        old.execute("PRAGMA user_version = 1")
    assert get_customer("C-1001")["plan"] == "Plus"
    assert "there is no customer 'C-1003'" in refused(get_plan, "C-1003")
    assert list_orders("C-1001")["orders"][0]["order_id"] == "O-2010"
    assert add_credit("C-1001", 1, "thanks")["change_id"] == "U-9001"
    with closing(sqlite3.connect(shop)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (2,)
        assert not raw.execute("PRAGMA foreign_key_check").fetchall()


def test_the_first_rows_agree_with_each_other(shop: Path) -> None:
    get_order("O-2001")
    with closing(sqlite3.connect(shop)) as raw:
        assert not raw.execute("PRAGMA foreign_key_check").fetchall()
        wrong = raw.execute(
            "SELECT items.name FROM items JOIN products USING (name)"
            " WHERE items.cents <> products.cents"
        ).fetchall()
        assert wrong == []
        unknown = "SELECT name FROM items WHERE name NOT IN (SELECT name FROM products)"
        assert raw.execute(unknown).fetchall() == []
        sent = raw.execute(
            "SELECT order_id FROM orders WHERE shipped IS NOT NULL"
            " EXCEPT SELECT order_id FROM shipments"
        ).fetchall()
        assert sent == []


def test_ids_of_every_kind_name_the_tool_that_finds_them() -> None:
    for call, given in [
        (get_invoice, "I-1"),
        (get_refund, "R-1"),
        (report_lost_parcel, "S-9999"),
        (undo_change, "U-1234"),
    ]:
        assert re.search(r": (?:list|track|find)_\w+\(\w+\) gives ", refused(call, given))
