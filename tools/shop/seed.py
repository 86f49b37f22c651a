"""The tables of the shop and the rows that it starts with."""

import sqlite3
from typing import Final

TABLES: Final = (
    """CREATE TABLE customers (
        customer_id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        email TEXT NOT NULL UNIQUE COLLATE NOCASE,
        since TEXT NOT NULL
    )""",
    # An order outlives its customer: what was sold and paid back is kept, without a name.
    """CREATE TABLE orders (
        order_id TEXT PRIMARY KEY,
        customer_id TEXT REFERENCES customers ON DELETE SET NULL,
        status TEXT NOT NULL CHECK (status IN ('placed', 'shipped', 'delivered', 'cancelled')),
        placed TEXT NOT NULL,
        shipped TEXT,
        delivered TEXT,
        cancelled TEXT,
        cancel_reason TEXT
    )""",
    """CREATE TABLE items (
        order_id TEXT NOT NULL REFERENCES orders,
        name TEXT NOT NULL,
        quantity INTEGER NOT NULL CHECK (quantity > 0),
        cents INTEGER NOT NULL CHECK (cents > 0)
    )""",
    # AUTOINCREMENT: a refund's number is never given twice.
    """CREATE TABLE refunds (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        order_id TEXT NOT NULL REFERENCES orders,
        cents INTEGER NOT NULL CHECK (cents > 0),
        reason TEXT NOT NULL,
        issued TEXT NOT NULL
    )""",
    "CREATE INDEX orders_of ON orders (customer_id, placed)",
    "CREATE INDEX items_of ON items (order_id)",
    "CREATE INDEX refunds_of ON refunds (order_id)",
)

CUSTOMERS: Final = (
    ("C-1001", "Ana Torres", "ana.torres@mail.example", "2024-02-11"),
    ("C-1002", "Ben Okafor", "ben.okafor@mail.example", "2024-05-30"),
    ("C-1003", "Chloe Martin", "chloe@martin.example", "2024-08-19"),
    ("C-1004", "Dmitri Volkov", "d.volkov@mail.example", "2024-11-02"),
    ("C-1005", "Emily Chen", "emily.chen@studio.example", "2025-01-15"),
    ("C-1006", "Farid Haddad", "farid@haddad.example", "2025-03-08"),
    ("C-1007", "Grace O'Neill", "grace.oneill@mail.example", "2025-06-21"),
    ("C-1008", "Hiro Tanaka", "hiro.tanaka@mail.example", "2025-09-04"),
    ("C-1009", "Ines Silva", "ines.silva@mail.example", "2025-12-12"),
    ("C-1010", "Jonas Weber", "jonas@weber.example", "2026-02-27"),
    ("C-1011", "Kavya Rao", "kavya.rao@mail.example", "2026-05-09"),
    ("C-1012", "Liam Novak", "liam.novak@mail.example", "2026-10-18"),
)

ORDERS: Final = (
    # order, customer, status, placed, shipped, delivered, cancelled, why
    ("O-2001", "C-1001", "delivered", "2026-08-03", "2026-08-04", "2026-08-07", None, None),
    ("O-2002", "C-1002", "delivered", "2026-08-21", "2026-08-22", "2026-08-26", None, None),
    ("O-2003", "C-1003", "cancelled", "2026-09-02", None, None, "2026-09-02", "ordered twice"),
    ("O-2004", "C-1004", "delivered", "2026-09-14", "2026-09-15", "2026-09-18", None, None),
    ("O-2005", "C-1001", "delivered", "2026-10-01", "2026-10-02", "2026-10-06", None, None),
    ("O-2006", "C-1005", "delivered", "2026-10-12", "2026-10-13", "2026-10-16", None, None),
    ("O-2007", "C-1006", "shipped", "2026-11-16", "2026-11-18", None, None, None),
    ("O-2008", "C-1007", "delivered", "2026-11-09", "2026-11-10", "2026-11-13", None, None),
    ("O-2009", "C-1008", "shipped", "2026-11-20", "2026-11-23", None, None, None),
    ("O-2010", "C-1001", "placed", "2026-11-27", None, None, None, None),
    ("O-2011", "C-1009", "placed", "2026-11-28", None, None, None, None),
    ("O-2012", "C-1010", "cancelled", "2026-11-22", None, None, "2026-11-23", "found it cheaper"),
    ("O-2013", "C-1011", "placed", "2026-11-29", None, None, None, None),
)

ITEMS: Final = (
    ("O-2001", "Umbrella portable speaker", 1, 89_00),
    ("O-2002", "Globex wireless earbuds", 1, 129_00),
    ("O-2002", "Ear tips, set of 3", 2, 7_50),
    ("O-2003", "Initech sport earbuds", 1, 79_95),
    ("O-2004", "Umbrella portable speaker", 2, 89_00),
    ("O-2005", "Globex wireless earbuds", 1, 129_00),
    ("O-2005", "USB-C cable, 2 m", 1, 12_99),
    ("O-2006", "Initech sport earbuds", 3, 79_95),
    ("O-2007", "Globex wireless earbuds", 1, 129_00),
    ("O-2008", "Umbrella portable speaker", 1, 89_00),
    ("O-2008", "Carrying case", 1, 24_50),
    ("O-2009", "Initech sport earbuds", 1, 79_95),
    ("O-2010", "Umbrella portable speaker", 1, 89_00),
    ("O-2010", "USB-C cable, 2 m", 2, 12_99),
    ("O-2011", "Globex wireless earbuds", 2, 129_00),
    ("O-2012", "Carrying case", 1, 24_50),
    ("O-2013", "Umbrella portable speaker", 12, 89_00),
)

REFUNDS: Final = (
    (3001, "O-2003", 79_95, "cancelled before it shipped", "2026-09-02"),
    (3002, "O-2002", 7_50, "one set of ear tips was missing", "2026-08-29"),
    (3003, "O-2006", 79_95, "one of three arrived faulty", "2026-10-20"),
)


def fill(connection: sqlite3.Connection) -> None:
    """Make the tables and their first rows, in the transaction that is open."""
    for statement in TABLES:
        connection.execute(statement)
    connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", CUSTOMERS)
    connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ORDERS)
    connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?)", ITEMS)
    connection.executemany("INSERT INTO refunds VALUES (?, ?, ?, ?, ?)", REFUNDS)
