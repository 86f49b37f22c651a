"""What a run costs in money, by a table that the user can change; the unknown stays unknown."""

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from graphs.errors import UsageError

SHIPPED = Path(__file__).with_name("prices.toml")
_MILLION = 1_000_000


class Price(NamedTuple):
    """US dollars for a million tokens."""

    input: float
    output: float


class PricesError(UsageError):
    """A table of prices is wrong: the file, the model and the reason."""


def read_prices(path: str | None) -> dict[str, Price]:
    """Read a table of prices; None reads the one that ships.

    Raises:
        PricesError: It can't be read, or a price is none.
    """
    file = SHIPPED if path is None else Path(path).expanduser()
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise PricesError(f"the prices in {file} can't be read: {why}") from None
    return {model: _price(file, model, table) for model, table in read.items()}


def _price(file: Path, model: str, table: Any) -> Price:
    if not isinstance(table, Mapping) or table.keys() != {"input", "output"}:
        raise PricesError(
            f'{file}: ["{model}"] must have input and output, dollars for a million tokens'
        )
    for name, value in table.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value < 0:
            raise PricesError(f'{file}: {name} of ["{model}"] must be a number from 0 up')
    return Price(float(table["input"]), float(table["output"]))


def cost(price: Price | None, sent: int | None, received: int | None) -> float | None:
    """Return dollars; None where the price or the tokens are unknown, unless both prices are 0."""
    if price is not None and not any(price):
        return 0.0
    if price is None or sent is None or received is None:
        return None
    return (sent * price.input + received * price.output) / _MILLION
