"""The shop's day, and what it counts in: days, business days, the help centre's periods.

The shop's calendar stands still. Its orders, parcels and periods are days before and after one day,
and a demonstration that aged would soon have no open order, no late parcel and no refund due.
"""

from datetime import date, timedelta
from typing import Final

TODAY: Final = date(2026, 11, 30)
"""The day it always is in the shop."""

RETURN_DAYS: Final = 30
"""Days from delivery in which an item may be sent back ("Returning an item")."""

PLAN_DAYS: Final = 30
"""Days of a billing period, and of the refund window of a year ("Prorated refunds for plans")."""

_SATURDAY: Final = 5
_HOLIDAYS: Final = frozenset(
    map(
        date.fromisoformat,
        (
            *("2026-07-03", "2026-09-07", "2026-10-12", "2026-11-11", "2026-11-26", "2026-12-25"),
            *("2027-01-01", "2027-01-18", "2027-02-15", "2027-05-31"),
        ),
    )
)
_BUSIEST: Final = ((11, 1), (12, 24))


def today() -> str:
    """Return the shop's day as `YYYY-MM-DD`."""
    return TODAY.isoformat()


def days_later(day: str, days: int) -> str:
    """Return the day so many days later."""
    return (date.fromisoformat(day) + timedelta(days)).isoformat()


def year_later(day: str) -> str:
    """Return the same date a year later; February 29 becomes February 28."""
    begun = date.fromisoformat(day)
    leap_day = (begun.month, begun.day) == (2, 29)
    return begun.replace(year=begun.year + 1, day=28 if leap_day else begun.day).isoformat()


def business_days_later(day: str, days: int) -> str:
    """Return the day so many business days later: no weekends, no federal holidays."""
    found = date.fromisoformat(day)
    while days:
        found += timedelta(1)
        days -= found.weekday() < _SATURDAY and found not in _HOLIDAYS
    return found.isoformat()


def months_later(day: str, months: int) -> str:
    """Return the same date so many months later, or the last day of a shorter month."""
    begun = date.fromisoformat(day)
    year, month = divmod(begun.year * 12 + begun.month - 1 + months, 12)
    month += 1
    first_of_next = date(year + month // 12, month % 12 + 1, 1)
    last = (first_of_next - timedelta(1)).day
    return date(year, month, min(begun.day, last)).isoformat()


def days_used(began: str) -> int:
    """Count the days of a period that are used; today counts as used."""
    return (TODAY - date.fromisoformat(began)).days + 1


def last_return_day(placed: str, delivered: str) -> str:
    """Return the last day on which an item may be sent back.

    What is bought from November 1 to December 24 may be returned until January 31.
    """
    bought = date.fromisoformat(placed)
    usual = days_later(delivered, RETURN_DAYS)
    if _BUSIEST[0] <= (bought.month, bought.day) <= _BUSIEST[1]:
        return max(usual, f"{bought.year + 1}-01-31")
    return usual
