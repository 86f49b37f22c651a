"""Tools that change a customer's plan, by the help centre's pages on plans."""

import sqlite3
from typing import Any, Literal

from tools.shop.calendar import today
from tools.shop.changes import record
from tools.shop.database import changing
from tools.shop.errors import ShopError
from tools.shop.money import dollars
from tools.shop.plans import (
    Period,
    Plan,
    end_of,
    offer_of,
    paid_plan_of,
    plan_of,
    refund_of,
)
from tools.shop.records import customer_of


def change_plan(customer_id: str, plan: Plan, period: Period = "month") -> dict[str, Any]:
    """Move a customer to another plan, up at once and down at the period's end; quote it first.

    Args:
        customer_id: The customer's id, such as C-1003, as find_customer gives it.
        plan: The plan to move to; cancel_plan ends a paid one.
        period: Whether it is paid by the month or by the year.

    Returns:
        `customer_id`, `plan`, `period`, when it `takes_effect`, and either what was `charged`, the
        `invoice_id` and when it `ends`, or the `change_id` that undo_change takes until then.

    Raises:
        ShopError: There is no such customer, nothing would change, or the old plan is not paid.
    """
    with changing() as connection:
        number = customer_of(connection, customer_id)["customer_id"]
        offer = offer_of(connection, number, plan, period)
        told = {"customer_id": number, "plan": plan, "period": period}
        if offer["at_once"]:
            if plan_of(connection, number):
                paid_plan_of(connection, number)
            return told | _begin(connection, number, plan, period, offer)
        return told | _plan_next(connection, paid_plan_of(connection, number), plan, period)


def cancel_plan(customer_id: str, when: Literal["end of period", "now"]) -> dict[str, Any]:
    """Cancel a customer's paid plan, at the period's end or now with the prorated refund.

    Args:
        customer_id: The customer's id, such as C-1001, as find_customer gives it.
        when: At the end of the period it can be undone until then; now pays the refund, for good.

    Returns:
        `customer_id`, `plan`, when it `ends`, and the `change_id` that undo_change takes, or the
        `refund_id` and the `refund`.

    Raises:
        ShopError: There is no such customer, no paid plan, or it is cancelled already.
    """
    with changing() as connection:
        number = customer_of(connection, customer_id)["customer_id"]
        plan = paid_plan_of(connection, number)
        told = {"customer_id": number, "plan": plan["plan"]}
        if when == "end of period":
            done = _plan_next(connection, plan, "Basic", "month")
            return {**told, "ends": plan["ends"], "change_id": done["change_id"]}
        unused, refund = refund_of(plan)
        connection.execute("DELETE FROM subscriptions WHERE customer_id = ?", (number,))
        told |= {"ends": today(), "refund": dollars(refund)}
        if refund:
            done_refund = connection.execute(
                "INSERT INTO plan_refunds (invoice, cents, reason, issued) VALUES (?, ?, ?, ?)",
                (plan["invoice"], refund, f"cancelled with {unused} unused days", today()),
            )
            told["refund_id"] = f"P-{done_refund.lastrowid}"
    return told


def _begin(
    connection: sqlite3.Connection,
    customer_id: str,
    plan: Plan,
    period: Period,
    offer: dict[str, Any],
) -> dict[str, Any]:
    """Begin a period today: the old plan's rest and the payment method on file settle it."""
    ends = end_of(period)
    about = f"{plan}, {'a year' if period == 'year' else '30 days'} from {today()}"
    if offer["credit"]:
        about += f"; {dollars(offer['credit'])} of it settled by the rest of the old plan"
    invoice = connection.execute(
        "INSERT INTO invoices (customer_id, about, issued, due, cents, paid)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (customer_id, about, today(), today(), offer["price"], offer["price"]),
    ).lastrowid
    connection.execute(
        "INSERT INTO subscriptions VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)"
        " ON CONFLICT (customer_id) DO UPDATE SET plan = excluded.plan, period = excluded.period,"
        " began = excluded.began, ends = excluded.ends, invoice = excluded.invoice,"
        " next_plan = NULL, next_period = NULL",
        (customer_id, plan, period, today(), ends, invoice),
    )
    return {
        "takes_effect": today(),
        "charged": dollars(offer["to_pay"]),
        "invoice_id": f"I-{invoice}",
        "ends": ends,
    }


def _plan_next(
    connection: sqlite3.Connection, plan: dict[str, Any], then: Plan, period: Period
) -> dict[str, Any]:
    """Let another plan follow at the end of the period."""
    after = {"next_plan": then, "next_period": period}
    before = {column: plan[column] for column in after}
    customer, ends = plan["customer_id"], plan["ends"]
    if before == after:
        raise ShopError(f"{customer} moves from {plan['plan']} to {then} on {ends} already")
    connection.execute(
        "UPDATE subscriptions SET next_plan = ?, next_period = ? WHERE customer_id = ?",
        (then, period, customer),
    )
    what = f"{plan['plan']} of {customer} to be followed by {then} on {ends}"
    change = record(connection, customer, what, "plan", customer, before=before, after=after)
    return {"takes_effect": ends, "change_id": change}
