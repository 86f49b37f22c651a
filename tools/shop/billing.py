"""Tools about invoices and credit."""

import sqlite3
from typing import Any, Final

from tools.shop.calendar import today
from tools.shop.changes import record
from tools.shop.database import changing, reading
from tools.shop.errors import ShopError
from tools.shop.money import cents_of, credit_of, dollars
from tools.shop.records import customer_of, numbered, reason_of

MOST_CREDIT: Final = 100_00
"""Cents of credit that may be given at once."""


def list_invoices(customer_id: str) -> dict[str, Any]:
    """List a customer's invoices, newest first: what was charged, what is paid, what is open.

    Args:
        customer_id: The customer's id, such as C-1001, as find_customer gives it.

    Returns:
        `customer_id`, `invoices`, each with `invoice_id`, `about`, `issued`, `due`, `amount` and
        `open`, and `open_in_all`.

    Raises:
        ShopError: There is no such customer.
    """
    with reading() as connection:
        number = customer_of(connection, customer_id)["customer_id"]
        rows = connection.execute(
            "SELECT * FROM invoices WHERE customer_id = ? ORDER BY issued DESC, number DESC",
            (number,),
        ).fetchall()
    return {
        "customer_id": number,
        "invoices": [_told(row) for row in rows],
        "open_in_all": dollars(sum(row["cents"] - row["paid"] for row in rows)),
    }


def get_invoice(invoice_id: str) -> dict[str, Any]:
    """Look up one invoice: what it is for, when it is due, and how much of it is paid.

    Args:
        invoice_id: The invoice's id, such as I-6006, as list_invoices gives it.

    Returns:
        `invoice_id`, `customer_id`, `about`, `issued`, `due`, `amount`, `paid`, `open` and whether
        it is `overdue`.

    Raises:
        ShopError: There is no such invoice.
    """
    with reading() as connection:
        row = numbered(connection, "I", "invoices", invoice_id)
    left = row["cents"] - row["paid"]
    return {
        "customer_id": row["customer_id"],
        **_told(row),
        "paid": dollars(row["paid"]),
        "overdue": left > 0 and row["due"] < today(),
    }


def list_overdue_invoices() -> dict[str, Any]:
    """List all unpaid invoices whose day has passed, over all customers, the oldest first.

    Returns:
        `today`, `invoices`, each with `customer_id` and what list_invoices tells, and
        `open_in_all`.
    """
    with reading() as connection:
        rows = connection.execute(
            "SELECT * FROM invoices WHERE paid < cents AND due < ? ORDER BY due, number", (today(),)
        ).fetchall()
    return {
        "today": today(),
        "invoices": [{"customer_id": row["customer_id"], **_told(row)} for row in rows],
        "open_in_all": dollars(sum(row["cents"] - row["paid"] for row in rows)),
    }


def credit_balance(customer_id: str) -> dict[str, Any]:
    """Tell how much goodwill credit a customer has, and how it came about.

    Args:
        customer_id: The customer's id, such as C-1006, as find_customer gives it.

    Returns:
        `customer_id`, the `credit` and its `entries`, newest first.

    Raises:
        ShopError: There is no such customer.
    """
    with reading() as connection:
        number = customer_of(connection, customer_id)["customer_id"]
        rows = connection.execute(
            "SELECT * FROM credits WHERE customer_id = ? ORDER BY number DESC", (number,)
        ).fetchall()
        credit = credit_of(connection, number)
    entries = [
        {
            "amount": f"{'-' if row['cents'] < 0 else ''}{dollars(abs(row['cents']))}",
            "reason": row["reason"],
            "made": row["made"],
        }
        for row in rows
    ]
    return {"customer_id": number, "credit": dollars(credit), "entries": entries}


def add_credit(customer_id: str, amount: str | float, reason: str) -> dict[str, Any]:
    """Give a customer goodwill credit, to make up for trouble; it is no refund of a payment.

    Args:
        customer_id: The customer's id, such as C-1006, as find_customer gives it.
        amount: Dollars with at most two decimals, such as "10.00"; at most $100 at once.
        reason: What it makes up for, in a sentence; it is kept with the credit.

    Returns:
        `customer_id`, `added`, the new `credit` and the `change_id` that undo_change takes.

    Raises:
        ShopError: There is no such customer, or the amount is wrong or above $100.
    """
    cents, why = cents_of(amount), reason_of(reason)
    if cents > MOST_CREDIT:
        raise ShopError(f"at most {dollars(MOST_CREDIT)} credit may be given at once")
    with changing() as connection:
        number = customer_of(connection, customer_id)["customer_id"]
        _enter(connection, number, cents, why)
        change = record(
            connection,
            number,
            f"{dollars(cents)} credit given to {number}: {why}",
            "credit",
            number,
            before={},
            after={"cents": cents},
        )
        credit = credit_of(connection, number)
    return {
        "customer_id": number,
        "added": dollars(cents),
        "credit": dollars(credit),
        "change_id": change,
    }


def apply_credit(invoice_id: str) -> dict[str, Any]:
    """Pay an open invoice from the customer's credit, as far as the credit goes; can't be undone.

    Args:
        invoice_id: The invoice's id, such as I-6006.

    Returns:
        `invoice_id`, what was `paid_from_credit`, what is still `open`, and the `credit` left.

    Raises:
        ShopError: There is no such invoice, it is paid already, or there is no credit.
    """
    with changing() as connection:
        row = numbered(connection, "I", "invoices", invoice_id)
        number, customer = f"I-{row['number']}", row["customer_id"]
        left = row["cents"] - row["paid"]
        if not left:
            raise ShopError(f"{number} is paid in full already: {dollars(row['cents'])}")
        credit = credit_of(connection, customer) if customer else 0
        if not credit:
            raise ShopError(f"there is no credit to pay {number} from: {dollars(left)} stay open")
        cents = min(left, credit)
        _enter(connection, customer, -cents, f"paid {number}")
        connection.execute(
            "UPDATE invoices SET paid = paid + ? WHERE number = ?", (cents, row["number"])
        )
    return {
        "invoice_id": number,
        "paid_from_credit": dollars(cents),
        "open": dollars(left - cents),
        "credit": dollars(credit - cents),
    }


def _enter(connection: sqlite3.Connection, customer_id: str, cents: int, reason: str) -> None:
    connection.execute(
        "INSERT INTO credits (customer_id, cents, reason, made) VALUES (?, ?, ?, ?)",
        (customer_id, cents, reason, today()),
    )


def _told(row: sqlite3.Row | dict[str, Any]) -> dict[str, Any]:
    return {
        "invoice_id": f"I-{row['number']}",
        "about": row["about"],
        "issued": row["issued"],
        "due": row["due"],
        "amount": dollars(row["cents"]),
        "open": dollars(row["cents"] - row["paid"]),
    }
