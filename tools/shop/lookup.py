"""The read-only tools of the shop: customers, and their orders."""

import sqlite3
from typing import Any

from tools.shop.database import reading
from tools.shop.errors import ShopError
from tools.shop.money import dollars
from tools.shop.records import ORDERS, customer_of, order_of
from tools.text import one_line, shorten

_DATES = ("placed", "shipped", "delivered", "cancelled")


def find_customer(email: str) -> dict[str, Any]:
    """Find a customer by e-mail address; call it first, to get the id that other tools need.

    Args:
        email: The whole address that the customer gave, such as ana.torres@mail.example.

    Returns:
        `customer_id`, `name`, `email`, `since` and the number of `orders`.

    Raises:
        ShopError: Nobody has that address, or it is none.
    """
    address = one_line(email)
    name, at, host = address.rpartition("@")
    if not (name and at and host) or " " in address:
        raise ShopError(f"{shorten(address, 80)!r} is no e-mail address: ask the customer for it")
    with reading() as connection:
        row = connection.execute(
            "SELECT *, (SELECT count(*) FROM orders o WHERE o.customer_id = customers.customer_id)"
            " AS orders FROM customers WHERE email = ?",
            (address,),
        ).fetchone()
    if row is None:
        raise ShopError(
            f"no customer has the e-mail address {shorten(address, 80)!r}: "
            "ask for the one that the order was placed with"
        )
    return dict(row)


def list_orders(customer_id: str) -> dict[str, Any]:
    """List a customer's orders, newest first; use it to learn an order's id or status.

    Args:
        customer_id: The customer's id, such as C-1001, as find_customer gives it.

    Returns:
        `customer_id` and `orders`, each with `order_id`, `status`, `placed`, `items`, `paid` and
        `refunded`.

    Raises:
        ShopError: There is no such customer.
    """
    with reading() as connection:
        customer = customer_of(connection, customer_id)["customer_id"]
        rows = connection.execute(
            f"{ORDERS} WHERE customer_id = ? ORDER BY placed DESC, order_id DESC", (customer,)
        ).fetchall()
        orders = [
            {
                "order_id": row["order_id"],
                "status": row["status"],
                "placed": row["placed"],
                "items": [f"{i['quantity']} x {i['name']}" for i in _items(connection, row)],
                "paid": dollars(row["paid"]),
                "refunded": dollars(row["refunded"]),
            }
            for row in rows
        ]
    return {"customer_id": customer, "orders": orders}


def get_order(order_id: str) -> dict[str, Any]:
    """Look up one order, its status and payments; call it before a refund or a cancellation.

    Args:
        order_id: The order's id, such as O-2001, as list_orders gives it.

    Returns:
        `order_id`, `customer_id` (none once the customer is deleted), `status`, the dates so far,
        `items`, what is `paid`, `refunded` and still `refundable`, and the `refunds`.

    Raises:
        ShopError: There is no such order.
    """
    with reading() as connection:
        order = order_of(connection, order_id)
        items = _items(connection, order)
        refunds = connection.execute(
            "SELECT number, cents, reason, issued FROM refunds WHERE order_id = ? ORDER BY number",
            (order["order_id"],),
        ).fetchall()
    told = {
        "order_id": order["order_id"],
        "customer_id": order["customer_id"],
        "status": order["status"],
        **{date: order[date] for date in _DATES if order[date]},
        "items": [
            {"name": i["name"], "quantity": i["quantity"], "price": dollars(i["cents"])}
            for i in items
        ],
        "paid": dollars(order["paid"]),
        "refunded": dollars(order["refunded"]),
        "refundable": dollars(order["paid"] - order["refunded"]),
    }
    if order["cancel_reason"]:
        told["cancel_reason"] = order["cancel_reason"]
    if refunds:
        told["refunds"] = [
            {
                "refund_id": f"R-{row['number']}",
                "amount": dollars(row["cents"]),
                "issued": row["issued"],
                "reason": row["reason"],
            }
            for row in refunds
        ]
    return told


def _items(
    connection: sqlite3.Connection, order: dict[str, Any] | sqlite3.Row
) -> list[sqlite3.Row]:
    return connection.execute(
        "SELECT name, quantity, cents FROM items WHERE order_id = ? ORDER BY rowid",
        (order["order_id"],),
    ).fetchall()
