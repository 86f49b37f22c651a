"""Tools about returns, by the help centre's "Returning an item" and "Refund policy"."""

import sqlite3
from typing import Any, Final, Literal

from tools.shop.calendar import last_return_day, today
from tools.shop.changes import record
from tools.shop.database import changing, reading
from tools.shop.errors import ShopError
from tools.shop.money import dollars
from tools.shop.records import customer_of, order_of, text_of

LABEL: Final = 5_95
"""Cents that a return label costs."""

Reason = Literal["unwanted", "faulty", "damaged", "wrong item"]


def label_of(connection: sqlite3.Connection, customer_id: str | None, reason: Reason) -> int:
    """Return the cents of a label: it is free for a fault of ours, and on Plus and Business."""
    if reason != "unwanted":
        return 0
    paying = connection.execute(
        "SELECT 1 FROM subscriptions WHERE customer_id = ? AND ends > ?", (customer_id, today())
    ).fetchone()
    return 0 if paying else LABEL


def returnable(connection: sqlite3.Connection, order: dict[str, Any]) -> list[dict[str, Any]]:
    """List an order's items: `name`, `cents`, `quantity`, `left` (not yet sent back), `hygiene`."""
    rows = connection.execute(
        "SELECT items.name AS name, items.cents AS cents, coalesce(hygiene, 0) AS hygiene,"
        " quantity, quantity - (SELECT coalesce(sum(quantity), 0) FROM returns"
        "  WHERE returns.order_id = items.order_id AND returns.item = items.name"
        "  AND returns.status <> 'cancelled') AS left"
        " FROM items LEFT JOIN products ON products.name = items.name"
        " WHERE order_id = ? ORDER BY items.rowid",
        (order["order_id"],),
    ).fetchall()
    return [dict(row) for row in rows]


def check_return(order_id: str) -> dict[str, Any]:
    """Tell whether an order's items may still be sent back, until when, and what a label costs.

    Args:
        order_id: The order's id, such as O-2008, as list_orders gives it.

    Returns:
        `order_id`, `may_return`, the last day `until`, the `label` for an unwanted item, and
        `items` with `name`, how many are `left` to return and, where none may be, `why_not`.

    Raises:
        ShopError: There is no such order, or it was not delivered.
    """
    with reading() as connection:
        order = order_of(connection, order_id)
        until = _until(order)
        label = label_of(connection, order["customer_id"], "unwanted")
        items = [
            {
                "name": item["name"],
                "left": item["left"],
                **({"why_not": "not once its seal is broken"} if item["hygiene"] else {}),
            }
            for item in returnable(connection, order)
        ]
    return {
        "order_id": order["order_id"],
        "may_return": until >= today() and any(item["left"] for item in items),
        "until": until,
        "label": dollars(label),
        "items": items,
    }


def list_returns(customer_id: str) -> dict[str, Any]:
    """List what a customer sends back or has sent back, and how far each return is.

    Args:
        customer_id: The customer's id, such as C-1007, as find_customer gives it.

    Returns:
        `customer_id` and `returns`, newest first, each with `return_id`, `order_id`, `item`,
        `quantity`, `reason`, `status`, `opened` and the `label`'s price.

    Raises:
        ShopError: There is no such customer.
    """
    with reading() as connection:
        number = customer_of(connection, customer_id)["customer_id"]
        rows = connection.execute(
            "SELECT returns.* FROM returns JOIN orders USING (order_id) WHERE customer_id = ?"
            " ORDER BY number DESC",
            (number,),
        ).fetchall()
    return {
        "customer_id": number,
        "returns": [
            {
                "return_id": f"T-{row['number']}",
                "order_id": row["order_id"],
                "item": row["item"],
                "quantity": row["quantity"],
                "reason": row["reason"],
                "status": row["status"],
                "opened": row["opened"],
                "label": dollars(row["label_cents"]),
            }
            for row in rows
        ],
    }


def open_return(order_id: str, item: str, quantity: int, reason: Reason) -> dict[str, Any]:
    """Open a return for a delivered item, which makes the label; check_return says if it may be.

    Args:
        order_id: The order's id, such as O-2008, as list_orders gives it.
        item: The item's name as get_order gives it.
        quantity: How many of it are sent back.
        reason: Why; a label is free for all but unwanted.

    Returns:
        `return_id`, `order_id`, `item`, `quantity`, the `label`'s price, which is taken off the
        refund, and the `change_id` that undo_change takes.

    Raises:
        ShopError: There is no such order or item, it may not be returned (any more), or more are
            given than are left.
    """
    wanted = text_of(item, "item").casefold()
    with changing() as connection:
        order = order_of(connection, order_id)
        number, until = order["order_id"], _until(order)
        if until < today():
            raise ShopError(f"{number} could be returned until {until}; that day is over")
        items = returnable(connection, order)
        found = next((i for i in items if i["name"].casefold() == wanted), None)
        if found is None:
            names = "; ".join(i["name"] for i in items)
            raise ShopError(f"{number} has no item {item!r}: it holds {names}")
        if found["hygiene"] and reason == "unwanted":
            raise ShopError(f"{found['name']} can't be returned once the seal is broken")
        if not 0 < quantity <= found["left"]:
            raise ShopError(
                f"{found['left']} of {found['name']} are left to return, not {quantity}"
            )
        label = label_of(connection, order["customer_id"], reason)
        done = connection.execute(
            "INSERT INTO returns (order_id, item, quantity, reason, label_cents, status, opened)"
            " VALUES (?, ?, ?, ?, ?, 'open', ?)",
            (number, found["name"], quantity, reason, label, today()),
        )
        change = record(
            connection,
            order["customer_id"],
            f"return T-{done.lastrowid} of {quantity} x {found['name']} opened",
            "return",
            done.lastrowid or 0,
            before={"status": "cancelled"},
            after={"status": "open"},
        )
    return {
        "return_id": f"T-{done.lastrowid}",
        "order_id": number,
        "item": found["name"],
        "quantity": quantity,
        "label": dollars(label),
        "change_id": change,
    }


def _until(order: dict[str, Any]) -> str:
    if not order["delivered"]:
        raise ShopError(f"{order['order_id']} is {order['status']}: only what arrived is sent back")
    return last_return_day(order["placed"], order["delivered"])
