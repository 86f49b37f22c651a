"""Tools that look where parcels are."""

import sqlite3
from typing import Any

from tools.shop.calendar import today
from tools.shop.database import reading
from tools.shop.errors import ShopError
from tools.shop.lost_parcels import missing_from
from tools.shop.records import order_of, text_of


def track_order(order_id: str) -> dict[str, Any]:
    """Track an order's parcels: where each is, when it is due, and whether it is late.

    Args:
        order_id: The order's id, such as O-2007, as list_orders gives it.

    Returns:
        `order_id`, the order's `status`, and `shipments`, newest first, each with `shipment_id`,
        `carrier`, `tracking`, `status`, `sent`, `due` or `delivered`, `late` and the `scans`.

    Raises:
        ShopError: There is no such order.
    """
    with reading() as connection:
        order = order_of(connection, order_id)
        rows = connection.execute(
            "SELECT * FROM shipments WHERE order_id = ? ORDER BY number DESC", (order["order_id"],)
        ).fetchall()
        shipments = [_told(connection, dict(row)) for row in rows]
    return {"order_id": order["order_id"], "status": order["status"], "shipments": shipments}


def find_shipment(tracking_number: str) -> dict[str, Any]:
    """Find the parcel, and so the order, that a carrier's tracking number belongs to.

    Args:
        tracking_number: The carrier's number, such as PX100307.

    Returns:
        `order_id` and what track_order tells of one shipment.

    Raises:
        ShopError: No parcel has that number.
    """
    number = text_of(tracking_number, "tracking number").replace(" ", "").upper()
    with reading() as connection:
        row = connection.execute("SELECT * FROM shipments WHERE tracking = ?", (number,)).fetchone()
        if row is None:
            raise ShopError(
                f"no parcel has the tracking number {number!r}: ask for the number in the "
                "shipping e-mail, or use track_order(order_id)"
            )
        told = _told(connection, dict(row))
    return {"order_id": row["order_id"], **told}


def list_late_shipments() -> dict[str, Any]:
    """List every parcel that should have arrived by now, the longest overdue first.

    Returns:
        `today` and `shipments`, each with `shipment_id`, `order_id`, `due` and whether it
        `may_be_reported` as lost yet.
    """
    with reading() as connection:
        rows = connection.execute(
            "SELECT number, order_id, due FROM shipments"
            " WHERE status = 'in transit' AND due < ? ORDER BY due, number",
            (today(),),
        ).fetchall()
    return {
        "today": today(),
        "shipments": [
            {
                "shipment_id": f"S-{row['number']}",
                "order_id": row["order_id"],
                "due": row["due"],
                "may_be_reported": missing_from(row["due"]) <= today(),
            }
            for row in rows
        ],
    }


def _told(connection: sqlite3.Connection, row: dict[str, Any]) -> dict[str, Any]:
    scans = connection.execute(
        "SELECT day, place, what FROM scans WHERE shipment = ? ORDER BY day DESC, rowid DESC",
        (row["number"],),
    ).fetchall()
    arrived = {"delivered": row["delivered"]} if row["delivered"] else {"due": row["due"]}
    return {
        "shipment_id": f"S-{row['number']}",
        "carrier": row["carrier"],
        "tracking": row["tracking"],
        "status": row["status"],
        "sent": row["sent"],
        **arrived,
        "late": row["status"] == "in transit" and row["due"] < today(),
        "scans": [f"{scan['day']} {scan['place']}: {scan['what']}" for scan in scans],
    }
