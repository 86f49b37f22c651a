"""What layout 2 of the shop's file adds: addresses, products, parcels, returns, plans, invoices.

A file of layout 1 is given these tables and the rows of those customers and orders that it has.
"""

import sqlite3
from typing import Final

from tools.shop.service_rows import ROWS

TABLES: Final = (
    """CREATE TABLE addresses (
        customer_id TEXT PRIMARY KEY REFERENCES customers ON DELETE CASCADE,
        street TEXT NOT NULL,
        city TEXT NOT NULL,
        postal_code TEXT NOT NULL,
        country TEXT NOT NULL
    )""",
    # Where an order goes, as far as it is not the customer's own address.
    """CREATE TABLE deliveries (
        order_id TEXT PRIMARY KEY REFERENCES orders,
        address TEXT
    )""",
    """CREATE TABLE products (
        name TEXT PRIMARY KEY,
        cents INTEGER NOT NULL CHECK (cents > 0),
        stock INTEGER NOT NULL CHECK (stock >= 0),
        warranty_months INTEGER NOT NULL,
        hygiene INTEGER NOT NULL
    )""",
    """CREATE TABLE shipments (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        order_id TEXT NOT NULL REFERENCES orders,
        carrier TEXT NOT NULL,
        tracking TEXT NOT NULL UNIQUE,
        status TEXT NOT NULL
            CHECK (status IN ('packed', 'in transit', 'delivered', 'lost', 'replaced')),
        sent TEXT NOT NULL,
        due TEXT NOT NULL,
        delivered TEXT
    )""",
    """CREATE TABLE scans (
        shipment INTEGER NOT NULL REFERENCES shipments,
        day TEXT NOT NULL,
        place TEXT NOT NULL,
        what TEXT NOT NULL
    )""",
    """CREATE TABLE returns (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        order_id TEXT NOT NULL REFERENCES orders,
        item TEXT NOT NULL,
        quantity INTEGER NOT NULL CHECK (quantity > 0),
        reason TEXT NOT NULL,
        label_cents INTEGER NOT NULL CHECK (label_cents >= 0),
        status TEXT NOT NULL CHECK (status IN ('open', 'received', 'cancelled')),
        opened TEXT NOT NULL
    )""",
    """CREATE TABLE invoices (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        customer_id TEXT REFERENCES customers ON DELETE SET NULL,
        about TEXT NOT NULL,
        issued TEXT NOT NULL,
        due TEXT NOT NULL,
        cents INTEGER NOT NULL CHECK (cents > 0),
        paid INTEGER NOT NULL CHECK (paid BETWEEN 0 AND cents)
    )""",
    """CREATE TABLE plan_refunds (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        invoice INTEGER NOT NULL REFERENCES invoices,
        cents INTEGER NOT NULL CHECK (cents > 0),
        reason TEXT NOT NULL,
        issued TEXT NOT NULL
    )""",
    """CREATE TABLE credits (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        customer_id TEXT REFERENCES customers ON DELETE SET NULL,
        cents INTEGER NOT NULL CHECK (cents <> 0),
        reason TEXT NOT NULL,
        made TEXT NOT NULL
    )""",
    """CREATE TABLE plans (
        name TEXT PRIMARY KEY,
        rank INTEGER NOT NULL UNIQUE,
        month_cents INTEGER NOT NULL,
        year_cents INTEGER NOT NULL,
        storage TEXT NOT NULL,
        people INTEGER NOT NULL
    )""",
    # A customer without a row is on the free plan, Basic.
    """CREATE TABLE subscriptions (
        customer_id TEXT PRIMARY KEY REFERENCES customers ON DELETE CASCADE,
        plan TEXT NOT NULL REFERENCES plans,
        period TEXT NOT NULL CHECK (period IN ('month', 'year')),
        began TEXT NOT NULL,
        ends TEXT NOT NULL,
        invoice INTEGER NOT NULL REFERENCES invoices,
        next_plan TEXT REFERENCES plans,
        next_period TEXT CHECK (next_period IN ('month', 'year'))
    )""",
    # What can be taken back: the columns before and after, as JSON. Gone with the customer.
    """CREATE TABLE changes (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        customer_id TEXT REFERENCES customers ON DELETE CASCADE,
        what TEXT NOT NULL,
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        before TEXT NOT NULL,
        after TEXT NOT NULL,
        made TEXT NOT NULL,
        undone TEXT
    )""",
    "CREATE INDEX shipments_of ON shipments (order_id)",
    "CREATE INDEX scans_of ON scans (shipment, day)",
    "CREATE INDEX returns_of ON returns (order_id)",
    "CREATE INDEX invoices_of ON invoices (customer_id, issued)",
    "CREATE INDEX credits_of ON credits (customer_id)",
    "CREATE INDEX changes_of ON changes (customer_id)",
)

_OWNER: Final = {
    "addresses": 0,
    "invoices": 1,
    "subscriptions": 0,
    "credits": 1,
}
"""At which place a row names the customer it belongs to; orders are never deleted."""


def fill(connection: sqlite3.Connection) -> None:
    """Make the tables and their first rows, in the transaction that is open."""
    for statement in TABLES:
        connection.execute(statement)
    there = {row[0] for row in connection.execute("SELECT customer_id FROM customers")}
    for table, given in ROWS.items():
        place = _OWNER.get(table)
        rows = [row for row in given if place is None or row[place] in there]
        if rows:  # one statement: a row each would be a hundred
            values = ", ".join([f"({', '.join('?' * len(rows[0]))})"] * len(rows))
            flat = [value for row in rows for value in row]
            connection.execute(
                f"INSERT INTO {table} VALUES {values}",  # noqa: S608 - a table of ours
                flat,
            )
    # What the first numbers of these follow.
    connection.execute(
        "INSERT INTO sqlite_sequence VALUES ('changes', 9000), ('plan_refunds', 7000)"
    )
