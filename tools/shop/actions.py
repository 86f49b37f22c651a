"""The tools that change the shop; each is one transaction, which happens or does not."""

import sqlite3
from typing import Any

from tools.shop.calendar import today
from tools.shop.changes import record
from tools.shop.database import changing
from tools.shop.errors import ShopError
from tools.shop.money import cents_of, dollars
from tools.shop.records import customer_of, order_of, reason_of


def issue_refund(order_id: str, amount: str | float, reason: str) -> dict[str, Any]:
    """Pay back all or part of an order to how it was paid; use it once a refund is due.

    Args:
        order_id: The order's id, such as O-2001, as list_orders gives it.
        amount: Dollars with at most two decimals, such as "19.99"; at most what get_order gives as
            refundable.
        reason: Why the money is paid back, in a sentence; it is kept with the refund.

    Returns:
        `refund_id`, `order_id`, the `amount` and what is still `refundable`.

    Raises:
        ShopError: There is no such order, or the amount is wrong or more than is left of it.
    """
    cents, why = cents_of(amount), reason_of(reason)
    with changing() as connection:
        order = order_of(connection, order_id)
        number, left = order["order_id"], order["paid"] - order["refunded"]
        if not left:
            raise ShopError(f"{number} is refunded in full already: {dollars(order['paid'])}")
        if cents > left:
            raise ShopError(
                f"{dollars(cents)} is more than {number} has left to refund: {dollars(left)} "
                f"({dollars(order['paid'])} paid, {dollars(order['refunded'])} refunded)"
            )
        done = connection.execute(
            "INSERT INTO refunds (order_id, cents, reason, issued) VALUES (?, ?, ?, ?)",
            (number, cents, why, today()),
        )
    return {
        "refund_id": f"R-{done.lastrowid}",
        "order_id": number,
        "amount": dollars(cents),
        "refundable": dollars(left - cents),
    }


def cancel_order(order_id: str, reason: str) -> dict[str, Any]:
    """Cancel an order that has not shipped; it pays nothing back, issue_refund does.

    Args:
        order_id: The order's id, such as O-2010, as list_orders gives it.
        reason: Why it is cancelled, in a sentence; it is kept with the order.

    Returns:
        `order_id`, `status`, the `change_id` that undo_change takes, and what is still
        `refundable`.

    Raises:
        ShopError: There is no such order, or it has shipped or is cancelled already.
    """
    why = reason_of(reason)
    with changing() as connection:
        order = order_of(connection, order_id)
        number, status = order["order_id"], order["status"]
        if status == "cancelled":
            raise ShopError(f"{number} is cancelled already, since {order['cancelled']}")
        if status != "placed":
            raise ShopError(
                f"{number} shipped on {order['shipped']} and can't be cancelled: "
                "it can be returned, and issue_refund pays it back"
            )
        connection.execute(
            "UPDATE orders SET status = 'cancelled', cancelled = ?, cancel_reason = ?"
            " WHERE order_id = ?",
            (today(), why, number),
        )
        after = {"status": "cancelled", "cancelled": today(), "cancel_reason": why}
        change = record(
            connection,
            order["customer_id"],
            f"{number} cancelled: {why}",
            "order",
            number,
            before={column: order[column] for column in after},
            after=after,
        )
    return {
        "order_id": number,
        "status": "cancelled",
        "change_id": change,
        "refundable": dollars(order["paid"] - order["refunded"]),
    }


def delete_customer(customer_id: str) -> dict[str, Any]:
    """Delete a customer's name and address for good; only when the customer asks for that.

    The orders stay, without a customer, for the books.

    Args:
        customer_id: The customer's id, such as C-1001, as find_customer gives it.

    Returns:
        `customer_id`, `deleted` and the number of `orders_kept`.

    Raises:
        ShopError: There is no such customer, an order is placed or on its way, a paid plan runs, or
            an invoice is open.
    """
    with changing() as connection:
        customer = customer_of(connection, customer_id)["customer_id"]
        orders = connection.execute(
            "SELECT order_id, status FROM orders WHERE customer_id = ? ORDER BY order_id",
            (customer,),
        ).fetchall()
        if still := [row for row in orders if row["status"] in {"placed", "shipped"}]:
            named = ", ".join(f"{row['order_id']} ({row['status']})" for row in still)
            raise ShopError(
                f"{customer} has open orders and can't be deleted: {named}; cancel what has not "
                "shipped, and wait for the rest to be delivered"
            )
        _check_nothing_is_owed(connection, customer)
        connection.execute("DELETE FROM customers WHERE customer_id = ?", (customer,))
    return {"customer_id": customer, "deleted": True, "orders_kept": len(orders)}


def _check_nothing_is_owed(connection: sqlite3.Connection, customer: str) -> None:
    """Refuse where a paid plan runs or an invoice is open: both would be lost without a trace."""
    plan = connection.execute(
        "SELECT plan, ends FROM subscriptions WHERE customer_id = ? AND ends > ?",
        (customer, today()),
    ).fetchone()
    if plan:
        raise ShopError(
            f"{customer} is on {plan['plan']} until {plan['ends']} and can't be deleted: "
            "cancel_plan comes first"
        )
    owed = connection.execute(
        "SELECT number FROM invoices WHERE customer_id = ? AND paid < cents", (customer,)
    ).fetchall()
    if owed:
        named = ", ".join(f"I-{row['number']}" for row in owed)
        raise ShopError(f"{customer} has open invoices and can't be deleted: {named}")
