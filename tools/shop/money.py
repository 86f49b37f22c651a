"""Money: whole cents inside, dollars outside, and nothing rounded on the way."""

import re
import sqlite3
from typing import Final

from tools.shop.errors import ShopError
from tools.text import one_line, shorten

LARGEST: Final = 100_000_000
"""Cents of one amount: a million dollars."""

_DOLLARS = re.compile(r"\$? ?(\d{1,3}(?:,\d{3}){1,3}|\d{1,12})(?:\.(\d{1,2}))?", re.ASCII)


def cents_of(amount: str | float) -> int:
    """Read an amount of dollars as cents, exactly.

    Args:
        amount: `19.99`, `"19.99"`, `"$1,250"`. A number counts as the digits it is written with.

    Raises:
        ShopError: It is no amount, not above zero, above a million, or has parts of a cent.
    """
    written = one_line(amount if isinstance(amount, str) else repr(amount))
    if not isinstance(amount, str) and written.endswith(".0"):
        written = written[:-2]
    found = None if isinstance(amount, bool) else _DOLLARS.fullmatch(written)
    if found is None:
        raise ShopError(
            f"{shorten(written, 40)!r} is no amount: give dollars above 0 with at most two "
            "decimals, such as 19.99"
        )
    whole, part = found[1].replace(",", ""), found[2] or ""
    cents = int(whole + part.ljust(2, "0"))
    if not 0 < cents <= LARGEST:
        raise ShopError(f"an amount is from $0.01 to {dollars(LARGEST)}, not {dollars(cents)}")
    return cents


def dollars(cents: int) -> str:
    """Write cents as dollars, such as `$1,250.00`."""
    return f"${cents // 100:,}.{cents % 100:02d}"


def share_of(cents: int, part: int, whole: int) -> int:
    """Return `cents * part / whole`, rounded to the nearest cent, half a cent up."""
    return (2 * cents * part + whole) // (2 * whole)


def credit_of(connection: sqlite3.Connection, customer_id: str) -> int:
    """Return the cents of credit that a customer has."""
    found = connection.execute(
        "SELECT coalesce(sum(cents), 0) FROM credits WHERE customer_id = ?", (customer_id,)
    ).fetchone()
    return int(found[0])
