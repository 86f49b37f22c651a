"""SVG text, made by hand: a few shapes, all words escaped, nothing fetched."""

import math
from collections.abc import Sequence
from html import escape

COLORS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#b8860b",
    "#56b4e9",
    "#7f3fbf",
    "#8c564b",
    "#5f6b6d",
    "#c2185b",
    "#2e7d32",
    "#3949ab",
)
"""Colours that most eyes tell apart, on light and on dark."""

_SHAPES = 4
_TICKS = 5
_CHARACTER = 6.6
"""Width of a character of a label, about, in the units of the drawing."""


def color(place: int) -> str:
    """Return the colour of the contestant in a place."""
    return COLORS[place % len(COLORS)]


def text(x: float, y: float, words: str, *, anchor: str = "start", kind: str = "") -> str:
    """Write words."""
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{named}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Draw a line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def mark(x: float, y: float, place: int, tip: str, size: float = 6) -> str:
    """Draw the mark of the contestant in a place: colour and shape, so that neither is needed."""
    shape = place // len(COLORS) + place
    fill = f'fill="{color(place)}"'
    inside = f"<title>{escape(tip)}</title>"
    at = f"{x:.1f} {y:.1f}"
    if shape % _SHAPES == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" {fill}>{inside}</circle>'
    paths = {
        1: f"m{-size} {-size}h{2 * size}v{2 * size}h{-2 * size}z",
        2: f"m0 {-1.2 * size}l{1.2 * size} {2.2 * size}h{-2.4 * size}z",
        3: f"m0 {-1.4 * size}l{1.3 * size} {1.4 * size}l{-1.3 * size} {1.4 * size}"
        f"l{-1.3 * size} {-1.4 * size}z",
    }
    return f'<path d="M{at}{paths[shape % _SHAPES]}" {fill}>{inside}</path>'


def figure(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    """Put the parts of a drawing together; it scales with the page."""
    inside = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" style="max-width: {1.2 * width:.0f}px" '
        f'role="img" aria-label="{escape(label)}">\n'
        f"<title>{escape(label)}</title>\n{inside}\n</svg>"
    )


def ticks(most: float) -> list[float]:
    """Return round numbers from 0 to just above `most`, about five of them."""
    if most <= 0:
        return [0.0, 1.0]
    rough = most / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * n for n in (1, 2, 2.5, 5, 10) if power * n >= rough)
    return [step * n for n in range(math.ceil(most / step - 1e-9) + 1)]


def short(value: float) -> str:
    """Write a number in few characters."""
    if value and abs(value) < 0.01:  # noqa: PLR2004
        return f"{value:.1g}"
    if abs(value) >= 10_000:  # noqa: PLR2004
        return f"{value / 1000:g}k"
    return f"{value:.3g}" if value != int(value) else f"{value:.0f}"


def width_of(words: str) -> float:
    """Estimate how wide a label is."""
    return len(words) * _CHARACTER
