"""Tools that look at refunds: what is due, what was paid back, and when it arrives."""

import sqlite3
from typing import Any, Final

from tools.shop.calendar import business_days_later, last_return_day, today
from tools.shop.database import reading
from tools.shop.money import dollars
from tools.shop.records import customer_of, numbered, order_of
from tools.shop.returns import label_of, returnable

CARD_DAYS: Final = (5, 10)
"""Business days that a card takes ("Refund policy")."""


def refund_quote(order_id: str) -> dict[str, Any]:
    """Work out the refund that is due for an order by the refund policy, before issue_refund.

    Args:
        order_id: The order's id, such as O-2008, as list_orders gives it.

    Returns:
        `order_id`, the refund that is `due`, `why`, and the most that is `refundable`: what was
        paid less what was paid back. What is due is less the label of an unwanted item.

    Raises:
        ShopError: There is no such order.
    """
    with reading() as connection:
        order = order_of(connection, order_id)
        due, why = _due(connection, order)
    left = order["paid"] - order["refunded"]
    return {
        "order_id": order["order_id"],
        "due": dollars(max(0, min(due, left))),
        "why": why,
        "refundable": dollars(left),
    }


def _due(connection: sqlite3.Connection, order: dict[str, Any]) -> tuple[int, str]:
    left = order["paid"] - order["refunded"]
    if order["status"] == "cancelled":
        return left, f"cancelled on {order['cancelled']}: all that was paid goes back"
    if order["status"] == "placed":
        return 0, "not shipped yet: cancel_order comes first"
    if order["status"] == "shipped":
        lost = connection.execute(
            "SELECT 1 FROM shipments WHERE order_id = ? AND status = 'lost'", (order["order_id"],)
        ).fetchone()
        if lost:
            return left, "the parcel is lost: all that was paid goes back, or send_replacement"
        return 0, "on its way: nothing is due before it arrives or is lost"
    until = last_return_day(order["placed"], order["delivered"])
    if until < today():
        return 0, f"it could be returned until {until}"
    items = [item for item in returnable(connection, order) if not item["hygiene"]]
    worth = sum(item["cents"] * item["quantity"] for item in items)
    labels = _labels(connection, order)
    if any(item["left"] for item in items):
        labels += label_of(connection, order["customer_id"], "unwanted")
    less = f", less {dollars(labels)} for labels" if labels else ""
    due = worth - labels - order["refunded"]
    return due, f"once all that may be returned is back, sent by {until}{less}"


def _labels(connection: sqlite3.Connection, order: dict[str, Any]) -> int:
    """Return the cents of the labels that were made for an order."""
    row = connection.execute(
        "SELECT coalesce(sum(label_cents), 0) FROM returns"
        " WHERE order_id = ? AND status <> 'cancelled'",
        (order["order_id"],),
    ).fetchone()
    return int(row[0])


def list_refunds(customer_id: str) -> dict[str, Any]:
    """List every refund that a customer was paid, of orders and of plans, newest first.

    Args:
        customer_id: The customer's id, such as C-1002, as find_customer gives it.

    Returns:
        `customer_id`, `refunds`, each with `refund_id`, `of`, `amount`, `issued` and `reason`, and
        their `total`.

    Raises:
        ShopError: There is no such customer.
    """
    with reading() as connection:
        number = customer_of(connection, customer_id)["customer_id"]
        rows = connection.execute(
            "SELECT 'R-' || number AS refund_id, order_id AS of, cents, issued, reason"
            " FROM refunds JOIN orders USING (order_id) WHERE customer_id = ?"
            " UNION ALL SELECT 'P-' || r.number, 'I-' || i.number, r.cents, r.issued, r.reason"
            " FROM plan_refunds r JOIN invoices i ON i.number = r.invoice WHERE customer_id = ?"
            " ORDER BY issued DESC, refund_id DESC",
            (number, number),
        ).fetchall()
    refunds = [
        {
            "refund_id": row["refund_id"],
            "of": row["of"],
            "amount": dollars(row["cents"]),
            "issued": row["issued"],
            "reason": row["reason"],
        }
        for row in rows
    ]
    total = sum(row["cents"] for row in rows)
    return {"customer_id": number, "refunds": refunds, "total": dollars(total)}


def get_refund(refund_id: str) -> dict[str, Any]:
    """Tell when the money of one refund arrives; use it where a customer misses a refund.

    Args:
        refund_id: The refund's id, such as R-3003, as list_refunds gives it.

    Returns:
        `refund_id`, `of`, `amount`, `reason`, `issued`, and when a card shows it: `from` and `to`,
        with `overdue` where that day has passed.

    Raises:
        ShopError: There is no such refund.
    """
    plan = refund_id.strip().upper().startswith("P-")
    with reading() as connection:
        if plan:
            row = numbered(connection, "P", "plan_refunds", refund_id)
        else:
            row = numbered(connection, "R", "refunds", refund_id)
    first, last = (business_days_later(row["issued"], days) for days in CARD_DAYS)
    return {
        "refund_id": f"{'P' if plan else 'R'}-{row['number']}",
        "of": f"I-{row['invoice']}" if plan else row["order_id"],
        "amount": dollars(row["cents"]),
        "reason": row["reason"],
        "issued": row["issued"],
        "from": first,
        "to": last,
        "overdue": last < today(),
    }
