"""Rows of the shop by their ids, and what is said where there is none."""

import re
import sqlite3
from typing import Any, Final

from tools.shop.errors import ShopError
from tools.text import one_line, shorten

REASON_CHARACTERS: Final = 500

_LOOK_UP: Final = {
    "C": ("customer", "a customer's", "find_customer(email) gives a customer's id"),
    "O": ("order", "an order's", "list_orders(customer_id) gives a customer's order ids"),
    "R": ("refund", "a refund's", "list_refunds(customer_id) gives a customer's refunds"),
    "P": ("plan refund", "a plan refund's", "list_refunds(customer_id) gives a customer's refunds"),
    "S": ("shipment", "a shipment's", "track_order(order_id) gives an order's shipments"),
    "T": ("return", "a return's", "list_returns(customer_id) gives a customer's returns"),
    "I": ("invoice", "an invoice's", "list_invoices(customer_id) gives a customer's invoices"),
    "U": ("change", "a change's", "list_changes(customer_id) gives what can be undone"),
}
"""By the letter that an id begins with: what it is the id of, and how to find one."""


def customer_of(connection: sqlite3.Connection, customer_id: str) -> dict[str, Any]:
    """Return a customer's row; ShopError says how to find the id."""
    row = connection.execute(
        "SELECT * FROM customers WHERE customer_id = ?", (one_line(customer_id),)
    ).fetchone()
    if row is None:
        raise _unknown("C", customer_id)
    return dict(row)


def order_of(connection: sqlite3.Connection, order_id: str) -> dict[str, Any]:
    """Return an order's row with `paid` and `refunded` in cents; ShopError says how to find it."""
    row = connection.execute(f"{ORDERS} WHERE order_id = ?", (one_line(order_id),)).fetchone()
    if row is None:
        raise _unknown("O", order_id)
    return dict(row)


ORDERS: Final = """SELECT *,
    (SELECT coalesce(sum(quantity * cents), 0) FROM items
     WHERE items.order_id = orders.order_id) AS paid,
    (SELECT coalesce(sum(cents), 0) FROM refunds
     WHERE refunds.order_id = orders.order_id) AS refunded
FROM orders"""


def numbered(connection: sqlite3.Connection, letter: str, table: str, given: str) -> dict[str, Any]:
    """Return the row whose id is `letter`, a hyphen and its number; ShopError says how to find it.

    Args:
        connection: An open transaction.
        letter: What the ids of the table begin with.
        table: One of ours, never a word of a model's.
        given: The id as it was given.
    """
    written = one_line(given)
    found = re.fullmatch(rf"{letter}-(\d{{4,12}})", written, re.ASCII)
    row = (
        found
        and connection.execute(
            f"SELECT * FROM {table} WHERE number = ?",  # noqa: S608 - a table of ours
            (int(found[1]),),
        ).fetchone()
    )
    if not row:
        raise _unknown(letter, given)
    return dict(row)


def address_of(connection: sqlite3.Connection, customer_id: str) -> str | None:
    """Return a customer's address on one line, or None where there is none."""
    row = connection.execute(
        "SELECT street, city, postal_code, country FROM addresses WHERE customer_id = ?",
        (customer_id,),
    ).fetchone()
    return ", ".join(row) if row else None


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


def text_of(given: str, what: str, most: int = 100) -> str:
    """Return a text on one line; ShopError where it is blank or too long."""
    told = one_line(given)
    if not told:
        raise ShopError(f"the {what} is empty: ask the customer for it")
    if len(told) > most:
        raise ShopError(f"the {what} has {len(told):,} characters, at most {most} are allowed")
    return told


def _unknown(letter: str, given: str) -> ShopError:
    """Name the id that was meant if only its spelling is off: other digits are another's row."""
    kind, _, look_up = _LOOK_UP[letter]
    written = one_line(given)
    said = f"there is no {kind} {shorten(written, 40)!r}"
    found = re.fullmatch(r"#?\s?([a-z]*)[\s_-]*(?:no\.?\s?|#)?(\d{4})", written.lower(), re.ASCII)
    if found is None:
        return ShopError(f"{said}: {look_up}")
    prefix, digits = found.groups()
    other = _LOOK_UP.get(prefix.upper())
    if other and prefix.upper() != letter:
        return ShopError(f"{said}: that is {other[1]} id; {look_up}")
    meant = f"{letter}-{digits}"
    if meant == written:
        return ShopError(f"{said}: {look_up}")
    return ShopError(f"{said}: an id looks like {meant!r}; {look_up}")
