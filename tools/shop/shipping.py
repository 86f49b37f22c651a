"""What shipping costs, by the help centre's "Shipping times" and "International shipping"."""

from typing import Any, Final, Literal

from tools.shop.errors import ShopError
from tools.shop.money import cents_of, dollars
from tools.shop.records import text_of

Service = Literal["standard", "express", "overnight"]

_DOMESTIC: Final = {
    "standard": (4_95, "3 to 5 business days"),
    "express": (14_95, "2 business days"),
    "overnight": (29_95, "the next business day, not to PO boxes, Alaska or Hawaii"),
}
_FREE_FROM: Final = 50_00
_UNION: Final = (
    "austria belgium bulgaria croatia cyprus czechia denmark estonia finland france germany greece"
    " hungary ireland italy latvia lithuania luxembourg malta netherlands poland portugal romania"
    " slovakia slovenia spain sweden"
)
_ABROAD: Final = (
    ({"canada", "mexico"}, 12_00, "5 to 8 business days"),
    (
        {"united kingdom", "norway", "switzerland", *_UNION.split()},
        19_00,
        "6 to 10 business days",
    ),
    ({"japan", "australia", "new zealand"}, 24_00, "8 to 12 business days"),
)
_HOME: Final = {"united states", "united states of america", "usa", "us"}


def shipping_quote(
    country: str, order_total: str | float, service: Service = "standard"
) -> dict[str, Any]:
    """Work out what shipping to a country costs and how long it takes, before an order is placed.

    Args:
        country: The country in English, such as United States or Japan.
        order_total: Dollars of the order, such as "48.00"; from $50 standard is free at home.
        service: Express and overnight exist in the United States only.

    Returns:
        `country`, `service`, the `cost` and the `time` it takes.

    Raises:
        ShopError: We don't ship there, or not by that service.
    """
    goal, cents = text_of(country, "country"), cents_of(order_total)
    named = goal.casefold().removeprefix("the ")
    if named in _HOME:
        cost, time = _DOMESTIC[service]
        if service == "standard" and cents >= _FREE_FROM:
            cost = 0
        return {"country": goal, "service": service, "cost": dollars(cost), "time": time}
    for countries, cost, time in _ABROAD:
        if named in countries:
            if service != "standard":
                raise ShopError(f"{service} exists in the United States only; use standard")
            return {"country": goal, "service": service, "cost": dollars(cost), "time": time}
    raise ShopError(f"we don't ship to {goal!r}; the page 'International shipping' lists where")
