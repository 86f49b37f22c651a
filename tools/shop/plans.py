"""Tools that look at plans: prices, a customer's plan, what a change or a refund would come to."""

import sqlite3
from datetime import date
from typing import Any, Literal

from tools.shop.calendar import PLAN_DAYS, days_later, days_used, today, year_later
from tools.shop.database import reading
from tools.shop.errors import ShopError
from tools.shop.money import dollars, share_of
from tools.shop.records import customer_of

Plan = Literal["Basic", "Plus", "Business"]
Period = Literal["month", "year"]


def list_plans() -> dict[str, Any]:
    """List the plans that there are, with their prices a month and a year and what they hold.

    Returns:
        `plans`, each with `plan`, `month`, `year`, `storage` and `people`.
    """
    with reading() as connection:
        rows = connection.execute("SELECT * FROM plans ORDER BY rank").fetchall()
    return {
        "plans": [
            {
                "plan": row["name"],
                "month": dollars(row["month_cents"]),
                "year": dollars(row["year_cents"]),
                "storage": row["storage"],
                "people": row["people"],
            }
            for row in rows
        ]
    }


def get_plan(customer_id: str) -> dict[str, Any]:
    """Show which plan a customer is on, since when, until when, and what follows it.

    Args:
        customer_id: The customer's id, such as C-1003, as find_customer gives it.

    Returns:
        `customer_id` and `plan`; of a paid one also its `period`, `began`, `ends`, `price`, whether
        it is `paid`, and what follows: the plan `then`, paid for `then_by_the` month or year.

    Raises:
        ShopError: There is no such customer.
    """
    with reading() as connection:
        number = customer_of(connection, customer_id)["customer_id"]
        plan = plan_of(connection, number)
    if plan is None:
        return {"customer_id": number, "plan": "Basic"}
    return {
        "customer_id": number,
        "plan": plan["plan"],
        "period": plan["period"],
        "began": plan["began"],
        "ends": plan["ends"],
        "price": dollars(plan["cents"]),
        "paid": plan["paid"] == plan["cents"],
        "then": plan["next_plan"] or plan["plan"],
        "then_by_the": plan["next_period"] or plan["period"],
    }


def plan_refund_quote(customer_id: str) -> dict[str, Any]:
    """Work out what a customer gets back if their paid plan is cancelled today.

    Args:
        customer_id: The customer's id, such as C-1004, as find_customer gives it.

    Returns:
        `customer_id`, `plan`, the `unused_days` of 30, the `price_paid` and the `refund`.

    Raises:
        ShopError: There is no such customer, or no paid plan to cancel.
    """
    with reading() as connection:
        plan = paid_plan_of(connection, customer_of(connection, customer_id)["customer_id"])
    unused, refund = refund_of(plan)
    return {
        "customer_id": plan["customer_id"],
        "plan": plan["plan"],
        "unused_days": unused,
        "price_paid": dollars(plan["paid"]),
        "refund": dollars(refund),
    }


def plan_change_quote(customer_id: str, plan: Plan, period: Period = "month") -> dict[str, Any]:
    """Work out what moving a customer to another plan costs and when it takes effect.

    Args:
        customer_id: The customer's id, such as C-1003, as find_customer gives it.
        plan: The plan to move to.
        period: Whether it is paid by the month or by the year.

    Returns:
        `customer_id`, `plan`, `period`, the new `price`, the `credit` for the unused part of the
        old plan, `to_pay` now, and the day it `takes_effect`.

    Raises:
        ShopError: There is no such customer, or it is the plan they have.
    """
    with reading() as connection:
        number = customer_of(connection, customer_id)["customer_id"]
        offer = offer_of(connection, number, plan, period)
    return {
        "customer_id": number,
        "plan": plan,
        "period": period,
        "price": dollars(offer["price"]),
        "credit": dollars(offer["credit"]),
        "to_pay": dollars(offer["to_pay"]),
        "takes_effect": offer["takes_effect"],
    }


def plan_of(connection: sqlite3.Connection, customer_id: str) -> dict[str, Any] | None:
    """Return a customer's paid plan with its invoice's `cents` and `paid`; None on Basic."""
    row = connection.execute(
        "SELECT s.*, i.cents, i.paid FROM subscriptions s JOIN invoices i ON i.number = s.invoice"
        " WHERE s.customer_id = ? AND ends > ?",
        (customer_id, today()),
    ).fetchone()
    return dict(row) if row else None


def paid_plan_of(connection: sqlite3.Connection, customer_id: str) -> dict[str, Any]:
    """Return a customer's paid plan; ShopError where there is none, or it is not paid for."""
    plan = plan_of(connection, customer_id)
    if plan is None:
        raise ShopError(f"{customer_id} is on Basic, which is free: there is nothing to cancel")
    if plan["paid"] < plan["cents"]:
        raise ShopError(
            f"the invoice I-{plan['invoice']} of this period is not paid: "
            f"{dollars(plan['cents'] - plan['paid'])} are open, and nothing can be paid back"
        )
    return plan


def refund_of(plan: dict[str, Any]) -> tuple[int, int]:
    """Return the unused days of 30, and the cents that they are worth ("Prorated refunds")."""
    unused = max(0, PLAN_DAYS - days_used(plan["began"]))
    return unused, share_of(plan["paid"], unused, PLAN_DAYS)


def offer_of(
    connection: sqlite3.Connection, customer_id: str, plan: Plan, period: Period
) -> dict[str, Any]:
    """Work out a change of plan ("Changing your plan").

    Up, or from months to a year, it takes effect at once, less what the old plan has left; down, or
    from a year to months, when the paid period ends, and nothing is paid now.

    Returns:
        `price`, `credit` and `to_pay` in cents, `takes_effect`, and `at_once`.

    Raises:
        ShopError: Nothing would change.
    """
    ranks = {row["name"]: row for row in connection.execute("SELECT * FROM plans")}
    old = plan_of(connection, customer_id)
    old_name = old["plan"] if old else "Basic"
    same_period = old is None or old["period"] == period
    if plan == old_name and (same_period or plan == "Basic"):
        raise ShopError(f"{customer_id} is on {plan} already; nothing was changed")
    price = int(ranks[plan][f"{period}_cents"])
    up = ranks[plan]["rank"] > ranks[old_name]["rank"] or plan == old_name
    shorter = old is not None and (old["period"], period) == ("year", "month")
    if up and not shorter:
        credit = _unused_worth(old) if old else 0
        return {
            "price": price,
            "credit": credit,
            "to_pay": price - credit,
            "takes_effect": today(),
            "at_once": True,
        }
    ends = old["ends"] if old else today()
    return {"price": price, "credit": 0, "to_pay": 0, "takes_effect": ends, "at_once": False}


def _unused_worth(plan: dict[str, Any]) -> int:
    """Return the cents that the rest of a paid period is worth; today counts as used."""
    began, ends = date.fromisoformat(plan["began"]), date.fromisoformat(plan["ends"])
    whole = (ends - began).days
    return share_of(plan["paid"], max(0, whole - days_used(plan["began"])), whole)


def end_of(period: Period) -> str:
    """Return the day on which a period that begins today ends."""
    return year_later(today()) if period == "year" else days_later(today(), PLAN_DAYS)
