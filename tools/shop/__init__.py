"""A small shop on SQLite: tools that look things up, and tools that change what is there.

`tools/shop.toml` offers a few of them and `tools/library.toml` all; the file comes to be, with its
first rows, when a tool first runs.
"""

from tools.shop.actions import cancel_order, delete_customer, issue_refund
from tools.shop.billing import (
    add_credit,
    apply_credit,
    credit_balance,
    get_invoice,
    list_invoices,
    list_overdue_invoices,
)
from tools.shop.changes import list_changes, undo_change
from tools.shop.customers import change_address, change_delivery_address, get_customer
from tools.shop.errors import ShopError
from tools.shop.lookup import find_customer, get_order, list_orders
from tools.shop.lost_parcels import report_lost_parcel, send_replacement
from tools.shop.plan_actions import cancel_plan, change_plan
from tools.shop.plans import get_plan, list_plans, plan_change_quote, plan_refund_quote
from tools.shop.products import check_warranty, find_product
from tools.shop.refunds import get_refund, list_refunds, refund_quote
from tools.shop.returns import check_return, list_returns, open_return
from tools.shop.shipments import find_shipment, list_late_shipments, track_order
from tools.shop.shipping import shipping_quote

__all__ = [
    "ShopError",
    "add_credit",
    "apply_credit",
    "cancel_order",
    "cancel_plan",
    "change_address",
    "change_delivery_address",
    "change_plan",
    "check_return",
    "check_warranty",
    "credit_balance",
    "delete_customer",
    "find_customer",
    "find_product",
    "find_shipment",
    "get_customer",
    "get_invoice",
    "get_order",
    "get_plan",
    "get_refund",
    "issue_refund",
    "list_changes",
    "list_invoices",
    "list_late_shipments",
    "list_orders",
    "list_overdue_invoices",
    "list_plans",
    "list_refunds",
    "list_returns",
    "open_return",
    "plan_change_quote",
    "plan_refund_quote",
    "refund_quote",
    "report_lost_parcel",
    "send_replacement",
    "shipping_quote",
    "track_order",
    "undo_change",
]
