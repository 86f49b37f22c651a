"""Changes that can be taken back: each is written down with what was there before it.

A change is undone only while what it made is still there, so that undoing one never overwrites a
later one. Money that was paid out and parcels that were sent do not come back, and are not here.
"""

import json
import sqlite3
from typing import Any, Final

from tools.shop.calendar import today
from tools.shop.database import changing, reading
from tools.shop.errors import ShopError
from tools.shop.money import credit_of, dollars
from tools.shop.records import customer_of, numbered, order_of

_TABLES: Final = {
    "address": ("addresses", "customer_id"),
    "delivery": ("deliveries", "order_id"),
    "order": ("orders", "order_id"),
    "return": ("returns", "number"),
    "shipment": ("shipments", "number"),
    "plan": ("subscriptions", "customer_id"),
}
"""What a change is of: its table and key. Credit is not here: its entries are never altered."""


def record(
    connection: sqlite3.Connection,
    customer_id: str | None,
    what: str,
    kind: str,
    key: str | int,
    *,
    before: dict[str, Any],
    after: dict[str, Any],
) -> str:
    """Write a change down, in the transaction that makes it, and return its id.

    Args:
        connection: The transaction.
        customer_id: Whose it is.
        what: What was done, in words.
        kind: A key of the tables above, or `credit`.
        key: The row that changed.
        before: The changed columns as they were.
        after: The same columns as they are now.
    """
    done = connection.execute(
        "INSERT INTO changes (customer_id, what, kind, key, before, after, made)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (customer_id, what, kind, str(key), json.dumps(before), json.dumps(after), today()),
    )
    return f"U-{done.lastrowid}"


def list_changes(customer_id: str) -> dict[str, Any]:
    """List what was changed for a customer and can still be undone; use it before undo_change.

    Args:
        customer_id: The customer's id, such as C-1001, as find_customer gives it.

    Returns:
        `customer_id` and `changes`, newest first, each with `change_id`, `what` and `made`.

    Raises:
        ShopError: There is no such customer.
    """
    with reading() as connection:
        customer = customer_of(connection, customer_id)["customer_id"]
        rows = connection.execute(
            "SELECT number, what, made FROM changes WHERE customer_id = ? AND undone IS NULL"
            " ORDER BY number DESC",
            (customer,),
        ).fetchall()
    changes = [
        {"change_id": f"U-{row['number']}", "what": row["what"], "made": row["made"]}
        for row in rows
    ]
    return {"customer_id": customer, "changes": changes}


def undo_change(change_id: str) -> dict[str, Any]:
    """Undo one earlier change, such as a cancellation, a new address or a planned plan change.

    Args:
        change_id: The change's id, such as U-9001, as the change's result or list_changes gives it.

    Returns:
        `change_id`, `undone`: what was taken back, and `now`: what is there instead.

    Raises:
        ShopError: There is no such change, it is undone already, or something was built on it.
    """
    with changing() as connection:
        change = numbered(connection, "U", "changes", change_id)
        number, what = f"U-{change['number']}", change["what"]
        if change["undone"]:
            raise ShopError(f"{number} was undone already, on {change['undone']}: {what}")
        before, after = json.loads(change["before"]), json.loads(change["after"])
        if change["kind"] == "credit":
            now = _take_credit_back(connection, change, after["cents"])
        else:
            now = _put_back(connection, change, before, after)
        connection.execute(
            "UPDATE changes SET undone = ? WHERE number = ?", (today(), change["number"])
        )
    return {"change_id": number, "undone": what, "now": now}


def _put_back(
    connection: sqlite3.Connection,
    change: dict[str, Any],
    before: dict[str, Any],
    after: dict[str, Any],
) -> dict[str, Any]:
    table, key = _TABLES[change["kind"]]
    columns = ", ".join(after)
    found = connection.execute(
        f"SELECT {columns} FROM {table} WHERE {key} = ?",  # noqa: S608 - names of ours
        (change["key"],),
    ).fetchone()
    if found is None or dict(found) != after:
        raise ShopError(
            f"U-{change['number']} can't be undone, something else changed it since: "
            f"{change['what']}; list_changes(customer_id) gives later changes to undo first"
        )
    if change["kind"] == "order" and order_of(connection, change["key"])["refunded"]:
        raise ShopError(
            f"U-{change['number']} can't be undone: money of {change['key']} was paid back since"
        )
    places = ", ".join(f"{column} = ?" for column in before)
    connection.execute(
        f"UPDATE {table} SET {places} WHERE {key} = ?",  # noqa: S608 - names of ours
        (*before.values(), change["key"]),
    )
    return {column: value for column, value in before.items() if value is not None}


def _take_credit_back(
    connection: sqlite3.Connection, change: dict[str, Any], cents: int
) -> dict[str, Any]:
    customer = change["customer_id"]
    left = credit_of(connection, customer)
    if left < cents:
        raise ShopError(
            f"U-{change['number']} can't be undone: of {dollars(cents)} credit only "
            f"{dollars(left)} is left, the rest is spent"
        )
    connection.execute(
        "INSERT INTO credits (customer_id, cents, reason, made) VALUES (?, ?, ?, ?)",
        (customer, -cents, f"U-{change['number']} undone", today()),
    )
    return {"credit": dollars(left - cents)}
