"""What `rungs compare` plots, in a notebook."""

from collections.abc import Sequence

from graphs.compare.page import HEADS, cells
from graphs.compare.plots import accuracy_plot, failures_plot, hops_plot, steps_plot
from graphs.compare.prices import read_prices
from graphs.compare.rows import Row
from graphs.compare.summary import names_of, summarize
from graphs.notebook.picture import Picture, Table


def table(rows: Sequence[Row]) -> Table:
    """Tell in a table what each graph came to: answers, calls, tokens, time, price."""
    summary = summarize(rows, read_prices(None))
    told = [(name, *cells(line)) for name, line in zip(names_of(summary), summary, strict=True)]
    return Table(("graph", *HEADS), told)


def plots(rows: Sequence[Row]) -> dict[str, Picture]:
    """Plot what each graph came to.

    Args:
        rows: A comparison's.

    Returns:
        By what they show: `accuracy` against model calls (a model that does not tell its tokens
        has these too), `failures`, `hops`, `steps`.
    """
    summary = summarize(rows, read_prices(None))
    figures = {
        "accuracy": accuracy_plot(
            summary, "model calls a question", lambda line: line["model_calls"]
        ),
        "failures": failures_plot(summary),
        "hops": hops_plot(summary),
        "steps": steps_plot(rows, summary),
    }
    return {name: Picture.of(figure) for name, figure in figures.items()}
