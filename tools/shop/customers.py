"""Tools about a customer: the whole account at a glance, and where parcels go."""

from typing import Any

from tools.shop.calendar import today
from tools.shop.changes import record
from tools.shop.database import changing, reading
from tools.shop.errors import ShopError
from tools.shop.money import credit_of, dollars
from tools.shop.records import address_of, customer_of, order_of, text_of

_PARTS = ("street", "city", "postal_code", "country")


def get_customer(customer_id: str) -> dict[str, Any]:
    """Show a customer's account at a glance: name, e-mail, postal address, plan and credit.

    Args:
        customer_id: The customer's id, such as C-1001, as find_customer gives it.

    Returns:
        `customer_id`, `name`, `email`, `since`, `address` (where there is one), `plan`, `credit`,
        the number of `orders` and the ids of `open_orders`.

    Raises:
        ShopError: There is no such customer.
    """
    with reading() as connection:
        customer = customer_of(connection, customer_id)
        number = customer["customer_id"]
        plan = connection.execute(
            "SELECT plan FROM subscriptions WHERE customer_id = ? AND ends > ?", (number, today())
        ).fetchone()
        orders = connection.execute(
            "SELECT order_id, status FROM orders WHERE customer_id = ? ORDER BY order_id", (number,)
        ).fetchall()
        address, credit = address_of(connection, number), credit_of(connection, number)
    return {
        **customer,
        **({"address": address} if address else {}),
        "plan": plan["plan"] if plan else "Basic",
        "credit": dollars(credit),
        "orders": len(orders),
        "open_orders": [o["order_id"] for o in orders if o["status"] in {"placed", "shipped"}],
    }


def change_address(
    customer_id: str, street: str, city: str, postal_code: str, country: str
) -> dict[str, Any]:
    """Change a customer's own postal address, after a move; orders on their way keep theirs.

    Args:
        customer_id: The customer's id, such as C-1001, as find_customer gives it.
        street: Street and house number.
        city: The city or town.
        postal_code: The postal code, with the state where one is usual, such as OR 97205.
        country: The country, in English, such as United States.

    Returns:
        `customer_id`, the new `address` and the `change_id` that undo_change takes.

    Raises:
        ShopError: There is no such customer, a part is blank, or it is the address on file.
    """
    given = (street, city, postal_code, country)
    address = {
        part: text_of(text, part.replace("_", " "))
        for part, text in zip(_PARTS, given, strict=True)
    }
    with changing() as connection:
        number = customer_of(connection, customer_id)["customer_id"]
        row = connection.execute(
            "SELECT street, city, postal_code, country FROM addresses WHERE customer_id = ?",
            (number,),
        ).fetchone()
        if row is None:
            raise ShopError(f"{number} has no address on file that could be changed")
        if dict(row) == address:
            raise ShopError(f"that is the address of {number} already; nothing was changed")
        connection.execute(
            "UPDATE addresses SET street = ?, city = ?, postal_code = ?, country = ?"
            " WHERE customer_id = ?",
            (*address.values(), number),
        )
        change = record(
            connection,
            number,
            f"address of {number} changed",
            "address",
            number,
            before=dict(row),
            after=address,
        )
    return {
        "customer_id": number,
        "address": ", ".join(address.values()),
        "change_id": change,
    }


def change_delivery_address(order_id: str, address: str) -> dict[str, Any]:
    """Send one order to another address; only until it ships, afterwards the carrier redirects.

    Args:
        order_id: The order's id, such as O-2010, as list_orders gives it.
        address: The whole address on one line: street, city, postal code, country.

    Returns:
        `order_id`, `deliver_to` and the `change_id` that undo_change takes.

    Raises:
        ShopError: There is no such order, it has shipped or is cancelled, or nothing would change.
    """
    goal = text_of(address, "address", most=300)
    with changing() as connection:
        order = order_of(connection, order_id)
        number = order["order_id"]
        if order["status"] != "placed":
            day = order[order["status"]]
            raise ShopError(
                f"{number} is {order['status']} since {day}: its address can't be changed any more"
            )
        row = connection.execute(
            "SELECT address FROM deliveries WHERE order_id = ?", (number,)
        ).fetchone()
        before = row["address"] if row else None
        if goal == (before or address_of(connection, order["customer_id"] or "")):
            raise ShopError(f"{number} goes to that address already; nothing was changed")
        connection.execute(
            "INSERT INTO deliveries VALUES (?, ?)"
            " ON CONFLICT (order_id) DO UPDATE SET address = excluded.address",
            (number, goal),
        )
        change = record(
            connection,
            order["customer_id"],
            f"delivery address of {number} changed",
            "delivery",
            number,
            before={"address": before},
            after={"address": goal},
        )
    return {"order_id": number, "deliver_to": goal, "change_id": change}
