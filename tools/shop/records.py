"""Rows of the shop by their ids, and what is said where there is none."""

import re
import sqlite3
from typing import Any, Final

from tools.shop.errors import ShopError
from tools.text import one_line, shorten

REASON_CHARACTERS: Final = 500

_FIND_CUSTOMER = "find_customer(email) gives a customer's id"
_LIST_ORDERS = "list_orders(customer_id) gives a customer's order ids"


def customer_of(connection: sqlite3.Connection, customer_id: str) -> dict[str, Any]:
    """Return a customer's row; ShopError says how to find the id."""
    row = connection.execute(
        "SELECT * FROM customers WHERE customer_id = ?", (one_line(customer_id),)
    ).fetchone()
    if row is None:
        raise _unknown("customer", customer_id, "C", _FIND_CUSTOMER)
    return dict(row)


def order_of(connection: sqlite3.Connection, order_id: str) -> dict[str, Any]:
    """Return an order's row with `paid` and `refunded` in cents; ShopError says how to find it."""
    row = connection.execute(f"{ORDERS} WHERE order_id = ?", (one_line(order_id),)).fetchone()
    if row is None:
        raise _unknown("order", order_id, "O", _LIST_ORDERS)
    return dict(row)


ORDERS: Final = """SELECT *,
    (SELECT coalesce(sum(quantity * cents), 0) FROM items
     WHERE items.order_id = orders.order_id) AS paid,
    (SELECT coalesce(sum(cents), 0) FROM refunds
     WHERE refunds.order_id = orders.order_id) AS refunded
FROM orders"""


def reason_of(reason: str) -> str:
    """Return a reason on one line; ShopError where it is blank or too long."""
    told = one_line(reason)
    if not told:
        raise ShopError("the reason is empty: say in a sentence why this is done")
    if len(told) > REASON_CHARACTERS:
        raise ShopError(
            f"the reason has {len(told):,} characters, at most {REASON_CHARACTERS} are allowed"
        )
    return told


def _unknown(kind: str, given: str, letter: str, look_up: str) -> ShopError:
    """Name the id that was meant if only its spelling is off: other digits are another's row."""
    written = one_line(given)
    said = f"there is no {kind} {shorten(written, 40)!r}"
    found = re.fullmatch(r"#?\s?([a-z]*)[\s_-]*(?:no\.?\s?|#)?(\d{4})", written.lower(), re.ASCII)
    if found is None:
        return ShopError(f"{said}: {look_up}")
    prefix, digits = found.groups()
    if prefix in {"c", "o", "r"} and prefix != letter.lower():
        other = {"c": "a customer's", "o": "an order's", "r": "a refund's"}[prefix]
        return ShopError(f"{said}: that is {other} id; {look_up}")
    meant = f"{letter}-{digits}"
    if meant == written:
        return ShopError(f"{said}: {look_up}")
    return ShopError(f"{said}: an id looks like {meant!r}; {look_up}")
