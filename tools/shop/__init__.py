"""A small shop on SQLite: tools that look things up, and tools that change what can't be undone.

`tools/shop.toml` offers them; the file comes to be, with its first rows, when a tool first runs.
"""

from tools.shop.actions import cancel_order, delete_customer, issue_refund
from tools.shop.errors import ShopError
from tools.shop.lookup import find_customer, get_order, list_orders

__all__ = [
    "ShopError",
    "cancel_order",
    "delete_customer",
    "find_customer",
    "get_order",
    "issue_refund",
    "list_orders",
]
