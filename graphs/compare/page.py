"""The report of a comparison: one HTML file that opens offline, whatever was asked and answered."""

import contextlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from graphs.compare.plots import accuracy_plot, failures_plot, hops_plot, steps_plot
from graphs.compare.prices import Price
from graphs.compare.rows import NOT_JUDGED, Row
from graphs.compare.summary import (
    Line,
    contestants_of,
    lowest_counts,
    names_of,
    notes_of,
    summarize,
)
from graphs.errors import UsageError

_SIGNS = {
    "right": "✓",
    "incomplete": "…",
    "capped": "↥",
    "rejected": "⊘",
    "no answer": "∅",
    "refused": "⊝",
    "wrong": "✗",
    "failed": "!",
    NOT_JUDGED: "?",
}
_SHOWN = 2000
_STYLE = Path(__file__).with_name("report.css")


_MADE_BY = '<meta name="generator" content="rungs compare">'
_HEAD_BYTES = 1000


def check_target(path: Path) -> None:
    """Refuse a path at which something else than a report is: it would be replaced.

    Raises:
        UsageError: It is no regular file, or a file that no comparison wrote.
    """
    try:
        if not path.exists():
            return
        ours = path.is_file() and _MADE_BY.encode() in path.read_bytes()[:_HEAD_BYTES]
    except OSError as error:
        raise UsageError(f"the report {path} can't be written: {error.strerror}") from None
    if not ours:
        raise UsageError(f"{path} is there and is no report of a comparison: name another file")


class ReportError(Exception):
    """The report can't be written: its path and why."""


def write_report(path: Path, rows: Sequence[Row], prices: Mapping[str, Price], title: str) -> None:
    """Write the report; what was there before stays until the new one is whole.

    Raises:
        ReportError: It can't be written.
    """
    content = page(rows, prices, title).encode("utf-8", "replace")
    try:
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(draft).replace(path.resolve())
        except BaseException:
            with contextlib.suppress(OSError):
                Path(draft).unlink()
            raise
    except OSError as error:
        raise ReportError(f"the report {path} can't be written: {error.strerror}") from None


def page(rows: Sequence[Row], prices: Mapping[str, Price], title: str) -> str:
    """Return the page: tables and plots, styled and drawn in place, without a script."""
    summary = summarize(rows, prices)
    questions = len({row["id"] for row in rows})
    plots = [
        _titled(
            "Accuracy against tokens",
            accuracy_plot(summary, "tokens a question", lambda line: line["tokens"]),
        ),
        _titled(
            "Accuracy against time",
            accuracy_plot(summary, "seconds a question", lambda line: line["seconds"]),
        ),
    ]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{_MADE_BY}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{_STYLE.read_text(encoding="utf-8")}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p class="note">{questions:,} questions, {len(summary)} contestants, {len(rows):,} runs.</p>
<h2>What each one costs</h2>
<div class="scroll">{_table(summary)}</div>
<h2>The lowest rung that answers</h2>
{_lowest(rows)}
<div class="plots">{"".join(plots)}</div>
<h2>Where each one fails</h2>
<div class="scroll">{failures_plot(summary)}</div>
{_notes(summary)}
<h2>Right answers by hops</h2>
<div class="scroll">{hops_plot(summary)}</div>
<h2>Steps by question</h2>
<p class="note">A step is a model call or a tool call.</p>
<div class="scroll">{steps_plot(rows, summary)}</div>
<h2>Every question</h2>
<p class="note">{escape(", ".join(f"{sign} {name}" for name, sign in _SIGNS.items()))}</p>
<div class="scroll">{_matrix(rows, summary)}</div>
<h2>Every answer that is not right, or not judged</h2>
{_details(rows)}
</body>
</html>
"""


def _titled(title: str, plot: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{plot}</section>"


def percent(value: float | None) -> str:
    """Write a share."""
    return NOT_JUDGED if value is None else f"{100 * value:.0f} %"


def dollars(value: float | None) -> str:
    """Write a price."""
    return "unknown" if value is None else f"${value:.6f}".rstrip("0").rstrip(".")


def tokens(value: float | None) -> str:
    """Write a number of tokens."""
    return "unknown" if value is None else f"{value:,.0f}"


def cells(line: Line) -> list[str]:
    """Return what the tables say of a contestant, after its name."""
    return [
        f"{line['right']} of {line['judged']}",
        percent(line["accuracy"]) if line["answers"] else "no answers",
        f"{line['model_calls']:.1f}",
        f"{line['tool_calls']:.1f}",
        tokens(line["tokens"]),
        f"{line['seconds']:.2f}",
        dollars(line["dollars"]),
    ]


HEADS = ("right", "accuracy", "model calls", "tool calls", "tokens", "seconds", "price")
"""What the columns of the tables are; all but the first two are means a question."""


def _table(summary: Sequence[Line]) -> str:
    heads = "".join(f"<th>{head}</th>" for head in ("graph", *HEADS))
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in (name, *cells(line))) + "</tr>"
        for name, line in zip(names_of(summary), summary, strict=True)
    )
    return f'<table id="summary"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'


def _lowest(rows: Sequence[Row]) -> str:
    said = []
    for model, counts in lowest_counts(rows).items():
        told = ", ".join(f"{graph} {count}" for graph, count in counts.items())
        said.append(f"<p><b>{escape(model)}</b>: {escape(told)}</p>")
    return "".join(said)


def _notes(summary: Sequence[Line]) -> str:
    said = [
        note
        for name, line in zip(names_of(summary), summary, strict=True)
        for note in notes_of(line, name)
    ]
    return "".join(f'<p class="note">{escape(note)}</p>' for note in said)


def _matrix(rows: Sequence[Row], summary: Sequence[Line]) -> str:
    order = contestants_of(rows)
    by_id: dict[str, dict[tuple[str, str], Row]] = {}
    for row in rows:
        by_id.setdefault(row["id"], {})[row["graph"], row["model"]] = row
    heads = "".join(f"<th>{escape(name)}</th>" for name in names_of(summary))
    body = []
    for identity, found in by_id.items():
        first = next(iter(found.values()))
        marks = "".join(_mark(found.get(who)) for who in order)
        body.append(
            f"<tr><td>{escape(identity)}: {escape(first['question'][:300])}</td>{marks}</tr>"
        )
    return (
        f'<table id="matrix"><thead><tr><th>question</th>{heads}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table>"
    )


def _mark(row: Row | None) -> str:
    if row is None:
        return "<td></td>"
    kind = row["outcome"].replace(" ", "-")
    tip = f"{row['graph']}: {row['outcome']}. {(row['answer'] or row['stop_reason'])[:300]}"
    return f'<td class="o o-{kind}" title="{escape(tip)}">{_SIGNS[row["outcome"]]}</td>'


def _details(rows: Sequence[Row]) -> str:
    said = []
    for row in rows:
        if row["outcome"] == "right":
            continue
        kind = row["outcome"].replace(" ", "-")
        who = f"{row['id']}, {row['graph']}, {row['model']}"
        fields = {
            "Question": row["question"],
            "Answer": row["answer"] or "(none)",
            "Why": "; ".join(filter(None, dict.fromkeys([row["why"], row["stop_reason"]]))),
        }
        told = "".join(
            f"<dt>{name}</dt><dd>{escape(words[:_SHOWN])}</dd>" for name, words in fields.items()
        )
        said.append(
            f'<details><summary><span class="badge o-{kind}">{row["outcome"]}</span> {escape(who)}'
            f"</summary><dl>{told}</dl></details>"
        )
    return "".join(said) or "<p>There is none.</p>"
