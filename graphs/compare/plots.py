"""The plots of a comparison's report, as inline SVG."""

from collections.abc import Callable, Sequence

from graphs.compare.rows import NOT_JUDGED, Row
from graphs.compare.summary import OUTCOMES, Line, names_of
from graphs.compare.svg import color, figure, line, mark, short, text, ticks, width_of

_WIDTH, _HEIGHT = 640.0, 360.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 24.0, 16.0, 48.0
_UNKNOWN = 90.0
_GAP = 15.0


def accuracy_plot(summary: Sequence[Line], unit: str, value: Callable[[Line], float | None]) -> str:
    """Plot accuracy against a cost; those whose cost is unknown stand apart, at the left.

    A graph that does not answer questions has no place in it.

    Args:
        summary: A line a contestant.
        unit: What the cost is, as the axis says it.
        value: Its value; None is unknown.
    """
    names = names_of(summary)
    values = [value(row) for row in summary]
    known = [one for one in values if one is not None]
    has_unknown = len(known) < len(values)
    start = _LEFT + (_UNKNOWN if has_unknown else 0.0)
    scale = ticks(max(known, default=0.0))
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM

    def x_of(one: float | None) -> float:
        if one is None:
            return _LEFT + _UNKNOWN / 2
        return start + one / scale[-1] * (right - start)

    def y_of(accuracy: float) -> float:
        return bottom - accuracy * (bottom - _TOP)

    parts = [line(_LEFT, y_of(n / 4), right, y_of(n / 4), "grid") for n in range(5)]
    parts += [text(_LEFT - 8, y_of(n / 4) + 4, f"{25 * n}%", anchor="end") for n in range(5)]
    if known:
        parts += [text(x_of(one), bottom + 18, short(one), anchor="middle") for one in scale]
        parts.append(text((start + right) / 2, _HEIGHT - 8, unit, anchor="middle", kind="axis"))
    else:
        parts.append(text(right, bottom + 18, f"{unit}: nobody told", anchor="end", kind="axis"))
    if has_unknown and known:
        parts.append(line(start - 1, _TOP, start - 1, bottom, "apart"))
    if has_unknown:
        parts.append(text(_LEFT + _UNKNOWN / 2, bottom + 18, "unknown", anchor="middle"))
    spots = [
        (x_of(one), y_of(row["accuracy"]), place)
        for place, (row, one) in enumerate(zip(summary, values, strict=True))
        if row["accuracy"] is not None and row["answers"]
    ]
    parts += _labelled(
        spots, names, right, [_tip(row, name) for row, name in zip(summary, names, strict=True)]
    )
    return figure(_WIDTH, _HEIGHT, f"Accuracy against {unit}", parts)


def _tip(row: Line, name: str) -> str:
    tokens = "unknown" if row["tokens"] is None else f"{row['tokens']:,.0f}"
    return (
        f"{name}: {row['right']} of {row['judged']} right, {row['model_calls']:.1f} model calls, "
        f"tokens {tokens}, {row['seconds']:.2f} s a question"
    )


def _labelled(
    spots: Sequence[tuple[float, float, int]],
    names: Sequence[str],
    right: float,
    tips: Sequence[str],
) -> list[str]:
    """Draw marks with their names, moved up or down until none lies on another."""
    parts: list[str] = []
    taken: list[tuple[float, float, float]] = []
    for x, y, place in sorted(spots, key=lambda spot: (spot[1], spot[0])):
        wide = width_of(names[place])
        to_left = x + 12 + wide > right + _RIGHT - 4
        begin = x - 12 - wide if to_left else x + 12
        marks = [(mx - 9, mx + 9, my + 4) for mx, my, other in spots if other != place]
        at = _free(y + 4, begin, begin + wide, [*taken, *marks])
        taken.append((begin, begin + wide, at))
        edge = begin + wide if to_left else begin
        if abs(at - y - 4) > _GAP / 2:
            parts.append(line(x, y, edge + (3 if to_left else -3), at - 4, "leader"))
        parts.append(mark(x, y, place, tips[place]))
        parts.append(text(edge, at, names[place], anchor="end" if to_left else "start"))
    return parts


def _free(
    wanted: float, begin: float, end: float, taken: Sequence[tuple[float, float, float]]
) -> float:
    """Return the height nearest to the wanted one at which a label lies on nothing."""
    for moved in range(400):
        at = wanted + (moved + 1) // 2 * (2 if moved % 2 else -2)
        inside = _TOP + 8 <= at <= _HEIGHT - _BOTTOM
        if inside and not any(
            abs(at - other) < _GAP and begin < right and left < end for left, right, other in taken
        ):
            return at
    return wanted


def steps_plot(rows: Sequence[Row], summary: Sequence[Line]) -> str:
    """Plot the steps (model calls and tool calls) that each contestant took, by question."""
    ids = list(dict.fromkeys(row["id"] for row in rows))
    places = {identity: place for place, identity in enumerate(ids)}
    scale = ticks(max((row["model_calls"] + row["tool_calls"] for row in rows), default=0))
    names, legend = names_of(summary), 22.0
    width = 980.0
    bottom = _HEIGHT - _BOTTOM
    step = (width - _RIGHT - _LEFT) / max(1, len(ids))
    parts: list[str] = []
    for one in scale:
        y = bottom - one / scale[-1] * (bottom - _TOP)
        parts += [line(_LEFT, y, width - _RIGHT, y, "grid")]
        parts += [text(_LEFT - 8, y + 4, short(one), anchor="end")]
    for contestant, who in enumerate(summary):
        own = [r for r in rows if (r["graph"], r["model"]) == (who["graph"], who["model"])]
        points = []
        # Side by side within a question's column, so that equal numbers hide nobody.
        shift = (contestant + 0.5) / len(summary) - 0.5
        for row in own:
            steps = row["model_calls"] + row["tool_calls"]
            x = _LEFT + (places[row["id"]] + 0.5 + 0.7 * shift) * step
            y = bottom - steps / scale[-1] * (bottom - _TOP)
            points.append(
                (x, y, f"{row['id']}, {names[contestant]}: {steps} steps, {row['outcome']}")
            )
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
        parts.append(f'<polyline points="{path}" class="trace" stroke="{color(contestant)}"/>')
        parts += [mark(x, y, contestant, tip, 2.6) for x, y, tip in points]
    parts.append(
        text(
            (_LEFT + width) / 2,
            bottom + 20,
            "questions, in the file's order",
            anchor="middle",
            kind="axis",
        )
    )
    parts.append(_legend(names, _LEFT, _HEIGHT - 6, width - _RIGHT))
    rows_of_legend = _legend_rows(names, width - _RIGHT - _LEFT)
    return figure(width, _HEIGHT + legend * (rows_of_legend - 1), "Steps by question", parts)


def _legend_rows(names: Sequence[str], wide: float) -> int:
    return _legend_places(names, 0.0, wide)[-1][1] + 1 if names else 1


def _legend_places(names: Sequence[str], left: float, right: float) -> list[tuple[float, int]]:
    places: list[tuple[float, int]] = []
    x, row = left, 0
    for name in names:
        wide = width_of(name) + 34
        if x + wide > right and x > left:
            x, row = left, row + 1
        places.append((x, row))
        x += wide
    return places


def _legend(names: Sequence[str], left: float, y: float, right: float) -> str:
    parts = []
    for place, (x, row) in enumerate(_legend_places(names, left, right)):
        parts.append(mark(x + 6, y + 22 * row - 4, place, names[place], 5))
        parts.append(text(x + 16, y + 22 * row, names[place]))
    return "".join(parts)


def failures_plot(summary: Sequence[Line]) -> str:
    """Plot what each contestant's answers came to: a bar a contestant, a part an outcome."""
    names = names_of(summary)
    left = max((width_of(name) for name in names), default=0.0) + 20
    width, bar = 980.0, 30.0
    used = [name for name in OUTCOMES if any(name in row["outcomes"] for row in summary)]
    parts = []
    for place, (row, name) in enumerate(zip(summary, names, strict=True)):
        y = 10 + place * bar
        parts.append(text(left - 10, y + 16, name, anchor="end"))
        x = left
        for outcome in used:
            count = row["outcomes"].get(outcome, 0)
            if not count:
                continue
            wide = count / row["questions"] * (width - left - _RIGHT)
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{bar - 8:.1f}" '
                f'class="o-{outcome.replace(" ", "-")}">'
                f"<title>{name}: {count} {outcome}</title></rect>"
            )
            if wide > width_of(str(count)) + 4:
                parts.append(text(x + wide / 2, y + 16, str(count), anchor="middle", kind="count"))
            x += wide
    y = 10 + len(summary) * bar + 16
    for place, (x, row_of) in enumerate(_legend_places(used, left, width - _RIGHT)):
        at = y + 22 * row_of
        parts.append(
            f'<rect x="{x:.1f}" y="{at - 10:.1f}" width="12" height="12" '
            f'class="o-{used[place].replace(" ", "-")}"/>'
        )
        parts.append(text(x + 18, at, used[place]))
    height = y + 22 * (_legend_rows(used, width - _RIGHT - left)) - 6
    return figure(width, height, "Where each graph fails", parts)


def hops_plot(summary: Sequence[Line]) -> str:
    """Plot the share of right answers by the hops that questions need, as a grid."""
    names = names_of(summary)
    hops = sorted({hop for row in summary for hop in row["by_hops"]})
    left = max((width_of(name) for name in names), default=0.0) + 20
    cell, high = 110.0, 30.0
    parts = [
        text(left + (n + 0.5) * cell, 16, _hops(hop), anchor="middle") for n, hop in enumerate(hops)
    ]
    for place, (row, name) in enumerate(zip(summary, names, strict=True)):
        y = 26 + place * high
        parts.append(text(left - 10, y + 18, name, anchor="end"))
        for n, hop in enumerate(hops):
            right, total = row["by_hops"].get(hop, (0, 0))
            told = f"{right} of {total}" if total else NOT_JUDGED if hop in row["by_hops"] else ""
            share = right / total if total else 0.0
            x = left + n * cell
            parts.append(
                f'<rect x="{x + 2:.1f}" y="{y:.1f}" width="{cell - 4:.1f}" height="{high - 4:.1f}" '
                f'class="share" fill-opacity="{0.06 + 0.7 * share:.2f}">'
                f"<title>{name}, {_hops(hop)}: {told}</title></rect>"
            )
            parts.append(text(x + cell / 2, y + 18, told, anchor="middle"))
    height = 26 + len(summary) * high + 8
    return figure(left + len(hops) * cell + 12, height, "Right answers by hops", parts)


def _hops(hop: str) -> str:
    if hop == "?":
        return "hops unknown"
    return f"{hop} hop" if hop == "1" else f"{hop} hops"
