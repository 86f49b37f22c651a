"""The rows that the tables of layout 2 start with."""

from typing import Any, Final

Rows = tuple[tuple[Any, ...], ...]

ADDRESSES: Final[Rows] = (
    ("C-1001", "12 Alder Street", "Portland", "OR 97205", "United States"),
    ("C-1002", "480 Lake Avenue", "Chicago", "IL 60611", "United States"),
    ("C-1003", "7 rue des Lilas", "Lyon", "69003", "France"),
    ("C-1004", "2201 Bay Drive", "Miami", "FL 33141", "United States"),
    ("C-1005", "59 King Street West", "Toronto", "ON M5H 1K4", "Canada"),
    ("C-1006", "310 Congress Street", "Boston", "MA 02210", "United States"),
    ("C-1007", "18 Pearse Road", "Cork", "T12 XY00", "Ireland"),
    ("C-1008", "4-2 Kitahama", "Osaka", "541-0041", "Japan"),
    ("C-1009", "Rua da Rosa 91", "Lisbon", "1200-382", "Portugal"),
    ("C-1010", "Lindenweg 5", "Basel", "4051", "Switzerland"),
    ("C-1011", "77 Spring Street", "Denver", "CO 80203", "United States"),
    ("C-1012", "9 Mill Lane", "Leeds", "LS1 4AB", "United Kingdom"),
)

PRODUCTS: Final[Rows] = (
    # name, cents, stock, months of warranty, whether a broken seal ends the right to return
    ("Umbrella portable speaker", 89_00, 34, 36, 0),
    ("Globex wireless earbuds", 129_00, 12, 24, 0),
    ("Initech sport earbuds", 79_95, 0, 12, 0),
    ("Ear tips, set of 3", 7_50, 210, 0, 1),
    ("USB-C cable, 2 m", 12_99, 88, 12, 0),
    ("Carrying case", 24_50, 19, 12, 0),
)

SHIPMENTS: Final[Rows] = (
    # number, order, carrier, tracking, status, sent, due, delivered
    (4001, "O-2001", "Parcelia", "PX100301", "delivered", "2026-08-04", "2026-08-11", "2026-08-07"),
    (4002, "O-2002", "Parcelia", "PX100302", "delivered", "2026-08-22", "2026-08-28", "2026-08-26"),
    (4003, "O-2004", "Northway", "NW500004", "delivered", "2026-09-15", "2026-09-22", "2026-09-18"),
    (4004, "O-2005", "Parcelia", "PX100305", "delivered", "2026-10-02", "2026-10-09", "2026-10-06"),
    (4005, "O-2006", "Northway", "NW500006", "delivered", "2026-10-13", "2026-10-23", "2026-10-16"),
    (4006, "O-2007", "Parcelia", "PX100307", "in transit", "2026-11-18", "2026-11-25", None),
    (4007, "O-2008", "Northway", "NW500008", "delivered", "2026-11-10", "2026-11-24", "2026-11-13"),
    (4008, "O-2009", "Parcelia", "PX100309", "in transit", "2026-11-23", "2026-12-10", None),
)

SCANS: Final[Rows] = (
    (4006, "2026-11-18", "Reno", "left the warehouse"),
    (4006, "2026-11-20", "Salt Lake City", "arrived at the sorting centre"),
    (4006, "2026-11-21", "Salt Lake City", "left the sorting centre"),
    (4008, "2026-11-23", "Reno", "left the warehouse"),
    (4008, "2026-11-25", "Los Angeles", "handed over for air freight"),
    (4008, "2026-11-28", "Osaka", "arrived at customs"),
    (4007, "2026-11-10", "Reno", "left the warehouse"),
    (4007, "2026-11-13", "Cork", "delivered at the door"),
)

RETURNS: Final[Rows] = (
    (5001, "O-2008", "Carrying case", 1, "does not fit the speaker", 5_95, "open", "2026-11-28"),
)

PLANS: Final[Rows] = (
    ("Basic", 0, 0, 0, "5 GB", 1),
    ("Plus", 1, 24_00, 240_00, "500 GB", 6),
    ("Business", 2, 60_00, 600_00, "5 TB", 25),
)

INVOICES: Final[Rows] = (
    # number, customer, about, issued, due, cents, paid
    (6001, "C-1005", "Plus, a year from 2026-03-01", "2026-03-01", "2026-03-01", 240_00, 240_00),
    (6002, "C-1009", "Plus, 30 days from 2026-11-05", "2026-11-05", "2026-11-05", 24_00, 24_00),
    (6003, "C-1001", "Plus, a year from 2026-11-11", "2026-11-11", "2026-11-11", 240_00, 240_00),
    (6004, "C-1004", "Business, 30 days from 2026-11-13", "2026-11-13", "2026-11-13", 60_00, 60_00),
    (6005, "C-1003", "Plus, 30 days from 2026-11-14", "2026-11-14", "2026-11-14", 24_00, 24_00),
    (6006, "C-1006", "Express shipping of O-2007", "2026-11-16", "2026-11-23", 14_95, 0),
    (6007, "C-1008", "Business, a year from 2026-11-20", "2026-11-20", "2026-12-20", 600_00, 0),
)

SUBSCRIPTIONS: Final[Rows] = (
    ("C-1001", "Plus", "year", "2026-11-11", "2027-11-11", 6003, None, None),
    ("C-1003", "Plus", "month", "2026-11-14", "2026-12-14", 6005, None, None),
    ("C-1004", "Business", "month", "2026-11-13", "2026-12-13", 6004, None, None),
    ("C-1005", "Plus", "year", "2026-03-01", "2027-03-01", 6001, None, None),
    ("C-1008", "Business", "year", "2026-11-20", "2027-11-20", 6007, None, None),
    ("C-1009", "Plus", "month", "2026-11-05", "2026-12-05", 6002, "Basic", "month"),
)

CREDITS: Final[Rows] = (
    (8001, "C-1006", 10_00, "the parcel of O-2007 is late", "2026-11-27"),
    (8002, "C-1001", 20_00, "a speaker that crackled", "2026-08-12"),
    (8003, "C-1001", -5_50, "spent on ear tips", "2026-09-01"),
)

ROWS: Final[dict[str, Rows]] = {
    "addresses": ADDRESSES,
    "products": PRODUCTS,
    "shipments": SHIPMENTS,
    "scans": SCANS,
    "returns": RETURNS,
    "plans": PLANS,
    "invoices": INVOICES,
    "subscriptions": SUBSCRIPTIONS,
    "credits": CREDITS,
}
