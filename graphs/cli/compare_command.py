"""The command `rungs compare` and its options; what it does is in `comparing`."""

from typing import Annotated

import typer

from graphs.cli.options import AsJson, Docs, ToolsFile


def compare(
    questions: Annotated[
        str,
        typer.Argument(
            help="A JSON Lines file of questions, or a set that ships: essay, hops.",
            show_default=False,
        ),
    ],
    *,
    graphs: Annotated[
        str | None,
        typer.Option(
            "--graphs",
            "-g",
            metavar="NAMES",
            help="Graphs, by commas, the lowest first, or all; the three rungs without it.",
        ),
    ] = None,
    models: Annotated[
        str | None, typer.Option("--models", "-m", metavar="NAMES", help="Models, by commas.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="M", help='The model that judges where "check" says so.'),
    ] = None,
    prices: Annotated[
        str | None,
        typer.Option("--prices", metavar="FILE", help="A TOML table of prices by model."),
    ] = None,
    report: Annotated[
        str,
        typer.Option("--report", "-o", metavar="FILE", help="The HTML report."),
    ] = "compare.html",
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", min=1, max=64, help="Runs at once.")
    ] = 4,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ask again what is finished already.")
    ] = False,
    docs: Docs = None,
    tools: ToolsFile = None,
    as_json: AsJson = False,
) -> int:
    """Put the same questions to several graphs and models, and tell the lowest that answers.

    What is finished is kept beside the report: the same command goes on where it was stopped.
    """
    from graphs.cli import comparing
    from graphs.cli.opening import searching
    from graphs.cli.screen import Screen

    screen = Screen(silent=as_json)
    order = comparing.Order(
        questions, graphs, models, judge, prices, report, jobs, fresh, docs, tools
    )
    with searching(docs, screen):
        return comparing.compare(order, screen, json_only=as_json)
