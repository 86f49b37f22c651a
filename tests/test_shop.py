"""The demo shop: what its tools allow, and that a change happens whole or not at all."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tools import load_tools
from tools.shop import (
    ShopError,
    cancel_order,
    delete_customer,
    find_customer,
    get_order,
    issue_refund,
    list_orders,
)
from tools.shop.money import cents_of, dollars

TOOLS_FILE = Path(__file__).parent.parent / "tools" / "shop.toml"


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "shop.sqlite"
    monkeypatch.setenv("RUNGS_SHOP", str(file))
    return file


def refused(call: Callable[..., Any], *arguments: Any) -> str:
    """Return why a call is refused: one line."""
    with pytest.raises(ShopError) as caught:
        call(*arguments)
    said = str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert said.isprintable()
    return said


def test_a_customer_is_found_by_address_in_any_case() -> None:
    found = find_customer("  Ana.Torres@MAIL.example ")
    assert found == {
        "customer_id": "C-1001",
        "name": "Ana Torres",
        "email": "ana.torres@mail.example",
        "since": "2024-02-11",
        "orders": 3,
    }


def test_an_address_that_is_nearly_right_reveals_no_other_customer() -> None:
    said = refused(find_customer, "ana.tores@mail.example")
    assert "ana.torres" not in said
    assert "Torres" not in said
    assert "ask for the one that the order was placed with" in said


@pytest.mark.parametrize("email", ["", "Ana Torres", "ana@", "@mail.example", "C-1001", "a b@c.d"])
def test_what_is_no_address_is_said_to_be_none(email: str) -> None:
    assert "is no e-mail address" in refused(find_customer, email)


def test_orders_are_listed_newest_first_with_items_and_money() -> None:
    listed = list_orders("C-1001")
    assert listed["customer_id"] == "C-1001"
    assert [order["order_id"] for order in listed["orders"]] == ["O-2010", "O-2005", "O-2001"]
    assert listed["orders"][0] == {
        "order_id": "O-2010",
        "status": "placed",
        "placed": "2026-11-27",
        "items": ["1 x Umbrella portable speaker", "2 x USB-C cable, 2 m"],
        "paid": "$114.98",
        "refunded": "$0.00",
    }


def test_a_customer_without_orders_has_an_empty_list() -> None:
    assert list_orders("C-1012") == {"customer_id": "C-1012", "orders": []}


def test_an_order_tells_its_dates_items_and_refunds() -> None:
    assert get_order("O-2002") == {
        "order_id": "O-2002",
        "customer_id": "C-1002",
        "status": "delivered",
        "placed": "2026-08-21",
        "shipped": "2026-08-22",
        "delivered": "2026-08-26",
        "items": [
            {"name": "Globex wireless earbuds", "quantity": 1, "price": "$129.00"},
            {"name": "Ear tips, set of 3", "quantity": 2, "price": "$7.50"},
        ],
        "paid": "$144.00",
        "refunded": "$7.50",
        "refundable": "$136.50",
        "refunds": [
            {
                "refund_id": "R-3002",
                "amount": "$7.50",
                "issued": "2026-08-29",
                "reason": "one set of ear tips was missing",
            }
        ],
    }
    assert get_order("O-2012")["cancel_reason"] == "found it cheaper"


@pytest.mark.parametrize("given", ["o-2001", "O2001", "2001", "#2001", "order 2001", "O_2001"])
def test_an_id_in_another_spelling_is_answered_with_the_right_one(given: str) -> None:
    said = refused(get_order, given)
    assert "an id looks like 'O-2001'" in said
    assert "list_orders(customer_id)" in said


@pytest.mark.parametrize("given", ["O-2999", "O-20011", "", "banana", "O-200", "O-2001' OR 1=1 --"])
def test_an_unknown_id_is_answered_with_how_to_look_it_up_and_no_other_row(given: str) -> None:
    said = refused(get_order, given)
    assert "list_orders(customer_id) gives" in said
    assert "looks like" not in said
    assert "find_customer(email) gives" in refused(list_orders, given)


def test_an_id_of_the_wrong_kind_is_named_as_such() -> None:
    assert "that is a customer's id" in refused(get_order, "C-1001")
    assert "that is an order's id" in refused(delete_customer, "O-2001")


@pytest.mark.parametrize(
    ("amount", "cents"),
    [
        ("19.99", 1999),
        (19.99, 1999),
        (0.07, 7),
        (20, 2000),
        (20.0, 2000),
        ("20", 2000),
        ("$1,250.5", 125_050),
        ("$ 5", 500),
        (" 0.01\n", 1),
        ("1000000", 100_000_000),
    ],
)
def test_an_amount_is_read_to_the_cent(amount: str | float, cents: int) -> None:
    assert cents_of(amount) == cents


@pytest.mark.parametrize(
    "amount",
    [
        *("", "0", "-5", "19.999", "20,50", "1,25", "5 dollars", "1e2", "nan", "٣", "9" * 5000),
        *("1000000.01", 0, 0.0, -1, 0.001, 19.999, 1e16, float("nan"), float("inf"), True),
    ],
)
def test_what_is_no_exact_amount_above_zero_is_refused(amount: str | float) -> None:
    said = refused(issue_refund, "O-2001", amount, "faulty")
    assert "amount" in said
    assert len(said) < 200
    assert get_order("O-2001")["refundable"] == "$89.00"


def test_every_cent_can_be_written_and_read_back() -> None:
    for cents in range(1, 20_000):
        assert cents_of(cents / 100) == cents_of(dollars(cents)) == cents


def test_refunds_add_up_to_what_was_paid_and_not_a_cent_more() -> None:
    first = issue_refund("O-2001", "20.00", "  scratched\non arrival ")
    assert first == {
        "refund_id": "R-3004",
        "order_id": "O-2001",
        "amount": "$20.00",
        "refundable": "$69.00",
    }
    said = refused(issue_refund, "O-2001", 69.01, "again")
    assert "$69.01 is more than O-2001 has left to refund: $69.00 ($89.00 paid" in said
    assert issue_refund("O-2001", 69, "the rest")["refundable"] == "$0.00"
    assert "refunded in full already: $89.00" in refused(issue_refund, "O-2001", "0.01", "more")
    assert [r["reason"] for r in get_order("O-2001")["refunds"]] == [
        "scratched on arrival",
        "the rest",
    ]


@pytest.mark.parametrize("reason", ["", " \n", "x" * 501])
def test_a_reason_is_needed_and_short(reason: str) -> None:
    assert "the reason" in refused(issue_refund, "O-2001", 1, reason)
    assert "the reason" in refused(cancel_order, "O-2010", reason)
    assert get_order("O-2001")["refunded"] == "$0.00"
    assert get_order("O-2010")["status"] == "placed"


def test_a_placed_order_can_be_cancelled_once_and_its_money_is_a_refund_of_its_own() -> None:
    assert cancel_order("O-2010", "changed my mind") == {
        "order_id": "O-2010",
        "status": "cancelled",
        "change_id": "U-9001",
        "refundable": "$114.98",
    }
    order = get_order("O-2010")
    assert (order["status"], order["cancel_reason"]) == ("cancelled", "changed my mind")
    assert "cancelled already, since" in refused(cancel_order, "O-2010", "again")
    assert issue_refund("O-2010", "114.98", "cancelled")["refundable"] == "$0.00"


@pytest.mark.parametrize("order_id", ["O-2007", "O-2001"])
def test_an_order_that_has_shipped_can_not_be_cancelled(order_id: str) -> None:
    before = get_order(order_id)
    said = refused(cancel_order, order_id, "too late")
    assert f"{order_id} shipped on {before['shipped']} and can't be cancelled" in said
    assert get_order(order_id) == before


@pytest.mark.parametrize(
    ("customer_id", "order"), [("C-1001", "O-2010 (placed)"), ("C-1006", "O-2007 (shipped)")]
)
def test_a_customer_with_open_orders_is_not_deleted(customer_id: str, order: str) -> None:
    assert f"can't be deleted: {order}" in refused(delete_customer, customer_id)
    assert list_orders(customer_id)["orders"]


def test_a_deleted_customer_is_gone_and_the_orders_stay_for_the_books() -> None:
    told = delete_customer("C-1002")
    assert told == {"customer_id": "C-1002", "deleted": True, "orders_kept": 1}
    assert "there is no customer 'C-1002'" in refused(list_orders, "C-1002")
    assert "no customer has" in refused(find_customer, "ben.okafor@mail.example")
    assert "there is no customer" in refused(delete_customer, "C-1002")
    order = get_order("O-2002")
    assert (order["customer_id"], order["refundable"]) == (None, "$136.50")


def test_two_refunds_at_once_never_pay_back_more_than_was_paid() -> None:
    start = threading.Barrier(8)

    def refund(number: int) -> bool:
        start.wait()
        try:
            issue_refund("O-2001", "40", f"number {number}")
        except ShopError as error:
            assert "more than O-2001 has left" in str(error)  # noqa: PT017 - both ends are right
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        paid = list(pool.map(refund, range(8)))
    assert sum(paid) == 2
    assert get_order("O-2001")["refundable"] == "$9.00"


def test_the_tools_file_offers_each_tool_with_its_effect_and_confirmation() -> None:
    offered = {c.name: (c.effect, c.requires_confirmation) for c in load_tools(TOOLS_FILE)}
    assert offered == {
        "search_docs": ("read_only", False),
        "calculator": ("read_only", False),
        "find_customer": ("read_only", False),
        "list_orders": ("read_only", False),
        "get_order": ("read_only", False),
        "refund_quote": ("read_only", False),
        "list_changes": ("read_only", False),
        "save_note": ("state_changing", False),
        "issue_refund": ("state_changing", True),
        "cancel_order": ("state_changing", True),
        "undo_change": ("state_changing", True),
        "delete_customer": ("state_changing", True),
    }


def test_every_argument_is_described_and_an_amount_may_be_text_or_a_number() -> None:
    contracts = {c.name: c for c in load_tools(TOOLS_FILE)}
    for made in contracts.values():
        assert all(field["description"] for field in made.parameters["properties"].values())
    for amount in ("19.99", 19.99, 20):
        given = {"order_id": "O-2001", "amount": amount, "reason": "faulty"}
        assert contracts["issue_refund"].check(given).arguments == given
    assert contracts["issue_refund"].check({**given, "amount": True}).error


def test_the_file_and_its_log_are_the_owners_alone(shop: Path) -> None:
    umask = os.umask(0)
    try:
        get_order("O-2001")
        with closing(sqlite3.connect(shop)) as other:
            assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            other.execute("SELECT count(*) FROM orders").fetchone()
            issue_refund("O-2001", 1, "faulty")
            files = sorted(shop.parent.iterdir())
            assert [f.name[len(shop.name) :] for f in files] == ["", "-shm", "-wal"]
            assert {f.stat().st_mode & 0o777 for f in files} == {0o600}
    finally:
        os.umask(umask)


def test_without_a_named_file_it_lies_in_the_users_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNGS_SHOP", " ")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    get_order("O-2001")
    assert (tmp_path / "data/rungs/shop.sqlite").stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    get_order("O-2001")
    assert (tmp_path / "home/.local/share/rungs/shop.sqlite").is_file()
    assert (tmp_path / "home/.local/share/rungs").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("content", [b"x", b"no database at all\n" * 100])
def test_a_file_that_is_no_database_is_named_and_left_alone(shop: Path, content: bytes) -> None:
    shop.write_bytes(content)
    said = refused(get_order, "O-2001")
    assert f"the shop's file {shop} can't be used: it is not a SQLite database" in said
    assert shop.read_bytes() == content


def test_another_applications_database_is_left_alone(shop: Path) -> None:
    with closing(sqlite3.connect(shop)) as other:
        other.execute("CREATE TABLE theirs (x)")
    before = shop.read_bytes()
    assert "is another application's database" in refused(issue_refund, "O-2001", 1, "faulty")
    assert shop.read_bytes() == before


def test_a_newer_layout_a_folder_and_a_missing_folder_are_one_line_each(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    get_order("O-2001")
    with closing(sqlite3.connect(shop)) as newer:
        newer.execute("PRAGMA user_version = 3")
    assert "newer version of rungs" in refused(get_order, "O-2001")
    monkeypatch.setenv("RUNGS_SHOP", str(shop.parent))
    assert "is a folder" in refused(get_order, "O-2001")
    monkeypatch.setenv("RUNGS_SHOP", str(shop.parent / "none" / "shop.sqlite"))
    assert "there is no folder" in refused(get_order, "O-2001")
    assert not (shop.parent / "none").exists()


def test_a_shop_that_another_process_holds_for_too_long_says_that_nothing_was_done(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    get_order("O-2001")
    monkeypatch.setattr("tools.shop.database.BUSY_SECONDS", 0.01)
    with closing(sqlite3.connect(shop, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        said = refused(issue_refund, "O-2001", 1, "faulty")
        assert get_order("O-2001")["refunded"] == "$0.00"
    assert said == "the shop is busy, nothing was done: try again in a moment"


# Forks children that kill themselves at the start of each statement in turn, in a file each or in
# one, until one lives: every point of the work is met. Prints the kills and what was seen between.
KILLER = """
import json, os, signal, sqlite3, sys
from tools.shop import get_order, issue_refund

folder, work = sys.argv[1:]
connect = sqlite3.connect

def fresh(number):
    os.environ["RUNGS_SHOP"] = f"{folder}/{number}.sqlite"
    return os.environ["RUNGS_SHOP"]

def child(kill_at, do):
    if pid := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    seen = 0
    def trace(_):
        nonlocal seen
        seen += 1
        if seen == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
    def traced(*args, **kwargs):
        connection = connect(*args, **kwargs)
        connection.set_trace_callback(trace)
        return connection
    sqlite3.connect = traced
    do()
    os._exit(0)

def tables(file):
    with connect(file) as raw:
        found = [n for n, in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return len(found) and [raw.execute(f"SELECT count(*) FROM {n}").fetchone()[0]
                               for n in ("customers", "orders", "items", "refunds")]

kills, seen = 0, []
if work == "seed":
    while True:
        file = fresh(kills)
        ended = child(kills + 1, lambda: get_order("O-2001"))
        between = tables(file)
        assert get_order("O-2006")["refundable"] == "$159.90"
        seen.append([between, tables(file)])
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        kills += 1
elif work == "refund":
    fresh("one")
    get_order("O-2013")
    while True:
        ended = child(kills + 1, lambda: issue_refund("O-2013", "0.01", f"{kills}"))
        seen.append(len(get_order("O-2013").get("refunds", [])))
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        kills += 1
else:
    for number in range(8):
        fresh(f"race-{number}")
        go, start = os.pipe()
        pids = []
        for _ in range(4):
            if not (pid := os.fork()):
                os.close(start)
                os.read(go, 1)  # ends for all when the parent closes its end
                try:
                    issue_refund("O-2013", "300", "all at once")
                    os._exit(0)
                except ValueError as error:
                    print(error, file=sys.stderr, flush=True)
                    os._exit(1)
            pids.append(pid)
        os.close(start)
        os.close(go)
        codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
        seen.append([sorted(codes), get_order("O-2013")["refundable"]])
print(json.dumps({"kills": kills, "seen": seen}))
"""

WHOLE = [12, 13, 17, 3]


def killer(tmp_path: Path, work: str) -> tuple[int, list[Any], str]:
    done = subprocess.run(
        [sys.executable, "-c", KILLER, str(tmp_path), work],
        capture_output=True,
        text=True,
        check=False,
        cwd=TOOLS_FILE.parent.parent,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return told["kills"], told["seen"], done.stderr


@pytest.mark.processes
def test_a_kill_at_any_statement_of_the_first_use_leaves_nothing_or_a_whole_shop(
    tmp_path: Path,
) -> None:
    kills, seen, _ = killer(tmp_path, "seed")
    assert kills > sum(WHOLE)
    assert {json.dumps(between) for between, _ in seen} == {"0", json.dumps(WHOLE)}
    assert all(after == WHOLE for _, after in seen)


@pytest.mark.processes
def test_a_kill_at_any_statement_of_a_refund_leaves_it_done_or_not_done(tmp_path: Path) -> None:
    kills, seen, _ = killer(tmp_path, "refund")
    assert kills >= 5
    assert seen == [0] * kills + [1]


@pytest.mark.processes
def test_processes_that_come_first_together_make_one_shop_and_refund_from_it(
    tmp_path: Path,
) -> None:
    """O-2013 was paid $1,068.00: three refunds of $300 fit, a fourth does not."""
    _, seen, said = killer(tmp_path, "race")
    assert seen == [[[0, 0, 0, 1], "$168.00"]] * 8, said
    assert said.count("$300.00 is more than O-2013 has left to refund: $168.00") == 8
