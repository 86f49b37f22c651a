"""Tools for parcels that don't arrive, by the help centre's "Tracking an order"."""

import sqlite3
from typing import Any, Final

from tools.shop.calendar import business_days_later, today
from tools.shop.changes import record
from tools.shop.database import changing
from tools.shop.errors import ShopError
from tools.shop.money import dollars
from tools.shop.records import address_of, numbered, order_of

LATE_DAYS: Final = 2
"""Business days after the date due from which a parcel counts as missing."""

_DAYS_EXPRESS: Final = 2
_DAYS_ABROAD: Final = 12


def report_lost_parcel(shipment_id: str) -> dict[str, Any]:
    """Report a parcel that is overdue by two business days as lost, so that it can be made good.

    Args:
        shipment_id: The shipment's id, such as S-4006, as track_order gives it.

    Returns:
        `shipment_id`, `order_id`, `status`, `next`: what may follow, and the `change_id` that
        undo_change takes if the parcel turns up.

    Raises:
        ShopError: There is no such shipment, it arrived, is lost already, or is not late enough.
    """
    with changing() as connection:
        row = numbered(connection, "S", "shipments", shipment_id)
        number, missing = f"S-{row['number']}", missing_from(row["due"])
        if row["status"] != "in transit":
            raise ShopError(f"{number} is {row['status']}: only a parcel in transit can be lost")
        if missing > today():
            raise ShopError(
                f"{number} is due on {row['due']}: it can be reported as lost from {missing} on"
            )
        connection.execute(
            "UPDATE shipments SET status = 'lost' WHERE number = ?", (row["number"],)
        )
        change = record(
            connection,
            order_of(connection, row["order_id"])["customer_id"],
            f"parcel {number} of {row['order_id']} reported as lost",
            "shipment",
            row["number"],
            before={"status": "in transit"},
            after={"status": "lost"},
        )
    return {
        "shipment_id": number,
        "order_id": row["order_id"],
        "status": "lost",
        "next": "send_replacement, or refund_quote and issue_refund",
        "change_id": change,
    }


def send_replacement(shipment_id: str) -> dict[str, Any]:
    """Send the items of a lost parcel again, free of charge; report_lost_parcel comes first.

    Args:
        shipment_id: The id of the lost shipment, such as S-4006.

    Returns:
        `replaced`, the new `shipment_id`, `order_id`, `carrier`, `tracking` and `due`.

    Raises:
        ShopError: There is no such shipment, it is not lost, its money was paid back, or an item
            is out of stock.
    """
    with changing() as connection:
        row = numbered(connection, "S", "shipments", shipment_id)
        number, order = f"S-{row['number']}", order_of(connection, row["order_id"])
        if row["status"] != "lost":
            raise ShopError(f"{number} is {row['status']}: report_lost_parcel comes first")
        if order["refunded"]:
            raise ShopError(
                f"{dollars(order['refunded'])} of {order['order_id']} was paid back already: "
                "it is made good by money or by goods, not by both"
            )
        _take_from_stock(connection, order["order_id"])
        home = (address_of(connection, order["customer_id"] or "") or "").endswith("United States")
        due = business_days_later(today(), _DAYS_EXPRESS if home else _DAYS_ABROAD)
        done = connection.execute(
            "INSERT INTO shipments (order_id, carrier, tracking, status, sent, due)"
            " VALUES (?, ?, ?, 'packed', ?, ?)",
            (order["order_id"], row["carrier"], f"{row['tracking']}R", today(), due),
        )
        connection.execute(
            "UPDATE shipments SET status = 'replaced' WHERE number = ?", (row["number"],)
        )
    return {
        "replaced": number,
        "shipment_id": f"S-{done.lastrowid}",
        "order_id": order["order_id"],
        "carrier": row["carrier"],
        "tracking": f"{row['tracking']}R",
        "due": due,
    }


def _take_from_stock(connection: sqlite3.Connection, order_id: str) -> None:
    """Take an order's items from stock, all of them or, by an error, none."""
    items = connection.execute(
        "SELECT name, sum(quantity) AS quantity FROM items WHERE order_id = ? GROUP BY name",
        (order_id,),
    ).fetchall()
    for item in items:
        done = connection.execute(
            "UPDATE products SET stock = stock - ? WHERE name = ? AND stock >= ?",
            (item["quantity"], item["name"], item["quantity"]),
        )
        if not done.rowcount:
            raise ShopError(
                f"{item['quantity']} x {item['name']} are not in stock: pay it back instead, "
                "by refund_quote and issue_refund"
            )


def missing_from(due: str) -> str:
    """Return the day from which a parcel that was due on a day counts as missing."""
    return business_days_later(due, LATE_DAYS)
