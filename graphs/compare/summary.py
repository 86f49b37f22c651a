"""What the rows of a comparison come to: a line a contestant, and the lowest rung that answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from graphs.compare.contestants import Contestant
from graphs.compare.prices import Price, cost
from graphs.compare.rows import Outcome, Row

NONE = "none"
"""Said of a question that no graph answers."""

OUTCOMES: tuple[Outcome, ...] = (
    "right",
    "incomplete",
    "capped",
    "rejected",
    "no answer",
    "refused",
    "wrong",
    "failed",
    "unknown",
)


class Line(TypedDict):
    """What one graph with one model came to; a mean is a question's.

    Attributes:
        graph: The graph.
        model: The model.
        questions: Questions it was put.
        right: Right answers.
        judged: Answers of which it is known whether they are right.
        accuracy: `right / judged`; None where none was judged.
        outcomes: How many rows there are of each outcome.
        by_hops: By the hops that questions need: right, and all.
        model_calls: Mean.
        tool_calls: Mean.
        tokens: Mean, sent and received; None where a run did not tell.
        seconds: Mean.
        dollars: Mean; None where the price or the tokens are unknown.
    """

    graph: str
    model: str
    questions: int
    right: int
    judged: int
    accuracy: float | None
    outcomes: dict[Outcome, int]
    by_hops: dict[str, tuple[int, int]]
    model_calls: float
    tool_calls: float
    tokens: float | None
    seconds: float
    dollars: float | None


def contestants_of(rows: Sequence[Row]) -> list[Contestant]:
    """List the contestants of the rows, in their order."""
    return list(dict.fromkeys(Contestant(row["graph"], row["model"]) for row in rows))


def summarize(rows: Sequence[Row], prices: Mapping[str, Price]) -> list[Line]:
    """Add the rows up, a line a contestant."""
    return [
        _line(who, [row for row in rows if (row["graph"], row["model"]) == who], prices)
        for who in contestants_of(rows)
    ]


def _line(who: Contestant, rows: Sequence[Row], prices: Mapping[str, Price]) -> Line:
    judged = [row for row in rows if row["correct"] is not None]
    right = sum(row["correct"] is True for row in rows)
    price = prices.get(who.model)
    told = [(row["input_tokens"], row["output_tokens"]) for row in rows]
    tokens = [None if None in pair else sum(n or 0 for n in pair) for pair in told]
    by_hops: dict[str, tuple[int, int]] = {}
    for row in rows:
        hops = "?" if row["hops"] is None else str(row["hops"])
        good, all_of_it = by_hops.get(hops, (0, 0))
        by_hops[hops] = (good + (row["correct"] is True), all_of_it + 1)
    outcomes = Counter(row["outcome"] for row in rows)
    return Line(
        graph=who.graph,
        model=who.model,
        questions=len(rows),
        right=right,
        judged=len(judged),
        accuracy=right / len(judged) if judged else None,
        outcomes={name: outcomes[name] for name in OUTCOMES if outcomes[name]},
        by_hops=dict(sorted(by_hops.items())),
        model_calls=sum(row["model_calls"] for row in rows) / len(rows),
        tool_calls=sum(row["tool_calls"] for row in rows) / len(rows),
        tokens=_mean(tokens),
        seconds=sum(row["seconds"] for row in rows) / len(rows),
        dollars=_mean([cost(price, *pair) for pair in told]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def lowest(rows: Sequence[Row]) -> dict[str, dict[str, str]]:
    """Name, by model and by the question's id, the first graph that answers right, or `none`."""
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        of_model = found.setdefault(row["model"], {})
        if row["correct"] and of_model.get(row["id"], NONE) == NONE:
            of_model[row["id"]] = row["graph"]
        of_model.setdefault(row["id"], NONE)
    return found


def lowest_counts(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    """Count, by model, for how many questions each graph is the lowest that answers."""
    order = [*dict.fromkeys(row["graph"] for row in rows), NONE]
    return {
        model: {graph: count for graph in order if (count := list(by_id.values()).count(graph))}
        for model, by_id in lowest(rows).items()
    }


def as_json(rows: Sequence[Row], prices: Mapping[str, Price], report: str) -> dict[str, Any]:
    """Return what `--json` prints."""
    return {
        "report": report,
        "summary": summarize(rows, prices),
        "lowest": lowest_counts(rows),
        "rows": rows,
    }
