"""Tools about products: price, stock and warranty."""

from typing import Any

from tools.shop.calendar import months_later, today
from tools.shop.database import reading
from tools.shop.errors import ShopError
from tools.shop.money import dollars
from tools.shop.records import order_of, text_of


def find_product(words: str) -> dict[str, Any]:
    """Look up what a product costs and whether it is in stock, by words of its name.

    Args:
        words: Words of the product's name, such as wireless earbuds.

    Returns:
        `products`, each with `name`, `price`, `in_stock` and `warranty_months`.

    Raises:
        ShopError: No product has these words in its name.
    """
    wanted = text_of(words, "product's name").casefold().split()
    with reading() as connection:
        rows = connection.execute("SELECT * FROM products ORDER BY name").fetchall()
    found = [
        {
            "name": row["name"],
            "price": dollars(row["cents"]),
            "in_stock": row["stock"],
            "warranty_months": row["warranty_months"],
        }
        for row in rows
        if all(word.rstrip("s") in row["name"].casefold() for word in wanted)
    ]
    if not found:
        sold = "; ".join(row["name"] for row in rows)
        raise ShopError(f"no product has all the words {' '.join(wanted)!r}; there are: {sold}")
    return {"products": found}


def check_warranty(order_id: str) -> dict[str, Any]:
    """Tell until when each item of an order is under warranty; use it for a fault or a repair.

    Args:
        order_id: The order's id, such as O-2001, as list_orders gives it.

    Returns:
        `order_id`, `delivered` and `items`, each with `name`, `covered` and, where there is a
        warranty, its last day `until`.

    Raises:
        ShopError: There is no such order, or it was never delivered: a warranty starts on that day.
    """
    with reading() as connection:
        order = order_of(connection, order_id)
        number, delivered = order["order_id"], order["delivered"]
        if not delivered:
            raise ShopError(
                f"{number} is {order['status']}: a warranty starts on the day of delivery"
            )
        rows = connection.execute(
            "SELECT items.name, coalesce(warranty_months, 0) AS months FROM items"
            " LEFT JOIN products ON products.name = items.name"
            " WHERE order_id = ? ORDER BY items.rowid",
            (number,),
        ).fetchall()
    items = []
    for row in rows:
        until = months_later(delivered, row["months"]) if row["months"] else None
        covered = until is not None and until >= today()
        items.append(
            {"name": row["name"], "covered": covered, **({"until": until} if until else {})}
        )
    return {"order_id": number, "delivered": delivered, "items": items}
