"""What the rows of a comparison come to: a line a contestant, and the lowest rung that answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from graphs.compare.contestants import Contestant
from graphs.compare.prices import Price, cost
from graphs.compare.rows import NOT_JUDGED, Outcome, Row

NONE = "none"
"""Said of a question that no graph answers; `not judged` of one that a graph may have answered."""

OUTCOMES: tuple[Outcome, ...] = (
    "right",
    "incomplete",
    "capped",
    "rejected",
    "no answer",
    "refused",
    "wrong",
    "failed",
    NOT_JUDGED,
)

_RECORDS = {"record", "rejected"}
"""How the runs of a graph end that makes records."""


class Line(TypedDict):
    """What one graph with one model came to; a mean is a question's.

    Attributes:
        graph: The graph.
        model: The model.
        questions: Questions it was put.
        right: Right answers.
        judged: Answers of which it is known whether they are right.
        accuracy: `right / judged`; None where none was judged.
        answers: Whether it answers questions: a graph that makes records of them, none of which
            holds what is expected, does not.
        outcomes: How many rows there are of each outcome.
        by_hops: By the hops that questions need: right, and judged.
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
    answers: bool
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
        known = row["correct"] is not None
        by_hops[hops] = (good + (row["correct"] is True), all_of_it + known)
    outcomes = Counter(row["outcome"] for row in rows)
    ends = {row["status"] for row in rows if row["outcome"] != "failed"}
    return Line(
        graph=who.graph,
        model=who.model,
        questions=len(rows),
        right=right,
        judged=len(judged),
        accuracy=right / len(judged) if judged else None,
        answers=bool(right) or not ends or not ends <= _RECORDS,
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
    """Name, by model and by the question's id, the first graph that answers right.

    Where there is none it is `none`; where one before it went unjudged, it is `not judged`: that
    one may be it.
    """
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        of_model = found.setdefault(row["model"], {})
        if of_model.setdefault(row["id"], NONE) == NONE and row["correct"] is not False:
            of_model[row["id"]] = row["graph"] if row["correct"] else NOT_JUDGED
    return found


def lowest_counts(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    """Count, by model, for how many questions each graph is the lowest that answers."""
    order = [*dict.fromkeys(row["graph"] for row in rows), NOT_JUDGED, NONE]
    return {
        model: {graph: count for graph in order if (count := list(by_id.values()).count(graph))}
        for model, by_id in lowest(rows).items()
    }


def name_of(row: Line, *, several: bool) -> str:
    """Name a contestant; the model is named where there are several."""
    return f"{row['graph']} · {row['model']}" if several else row["graph"]


def names_of(summary: Sequence[Line]) -> list[str]:
    """Name the contestants."""
    several = len({row["model"] for row in summary}) > 1
    return [name_of(row, several=several) for row in summary]


def notes_of(line: Line, name: str) -> list[str]:
    """Say what of a contestant was not right, and what is not known of it, a sentence each."""
    outcomes = line["outcomes"]
    failed = ", ".join(
        f"{what} {n}" for what, n in outcomes.items() if what not in {"right", NOT_JUDGED}
    )
    said = []
    if not line["answers"]:
        said.append(f"{name} does not answer questions, it makes records: {failed}")
    elif failed:
        said.append(f"{name} fails: {failed}")
    if unknown := outcomes.get(NOT_JUDGED):
        said.append(f"{name} was not judged: {unknown}")
    return said


def as_json(rows: Sequence[Row], prices: Mapping[str, Price], report: str) -> dict[str, Any]:
    """Return what `--json` prints."""
    return {
        "report": report,
        "summary": summarize(rows, prices),
        "lowest": lowest_counts(rows),
        "rows": rows,
    }
