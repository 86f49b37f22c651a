"""The tools that change the shop; each is one transaction, which happens or does not."""

from datetime import UTC, datetime
from typing import Any

from tools.shop.database import changing
from tools.shop.errors import ShopError
from tools.shop.money import cents_of, dollars
from tools.shop.records import customer_of, order_of, reason_of


def issue_refund(order_id: str, amount: str | float, reason: str) -> dict[str, Any]:
    """Pay back all or part of an order to how it was paid; use it once a refund is due.

    Args:
        order_id: The order's id, such as O-2001.
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
            (number, cents, why, _today()),
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
        order_id: The order's id, such as O-2010.
        reason: Why it is cancelled, in a sentence; it is kept with the order.

    Returns:
        `order_id`, `status` and what is still `refundable`.

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
            (_today(), why, number),
        )
    return {
        "order_id": number,
        "status": "cancelled",
        "refundable": dollars(order["paid"] - order["refunded"]),
    }


def delete_customer(customer_id: str) -> dict[str, Any]:
    """Delete a customer's name and address for good; only when the customer asks for that.

    The orders stay, without a customer, for the books.

    Args:
        customer_id: The customer's id, such as C-1001.

    Returns:
        `customer_id`, `deleted` and the number of `orders_kept`.

    Raises:
        ShopError: There is no such customer, or an order is placed or on its way.
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
        connection.execute("DELETE FROM customers WHERE customer_id = ?", (customer,))
    return {"customer_id": customer, "deleted": True, "orders_kept": len(orders)}


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
