"""The command `rungs extract` and its options; what it does is in `graphs.cli.extract`."""

from typing import Annotated

import typer

from graphs.cli.options import Company, Db, ModelName, User
from graphs.cli.settings import DEFAULT_DB


def extract(
    schema: Annotated[
        str,
        typer.Argument(
            help="module:Model, path/to/file.py:Model or path/to/schema.json.",
            show_default=False,
        ),
    ],
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Text files; .jsonl and .ndjson hold a text a line; - is stdin.",
            show_default=False,
        ),
    ],
    *,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Where the lines go; without it, or as -, stdout."
        ),
    ] = None,
    field: Annotated[
        str, typer.Option("--field", metavar="NAME", help="The field of a line with its text.")
    ] = "text",
    lines: Annotated[
        bool, typer.Option("--jsonl", help="Read every FILE, and stdin, as JSON Lines.")
    ] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, max=64, help="How many run at the same time.")
    ] = 4,
    again: Annotated[bool, typer.Option("--again", help="Ask about finished texts, too.")] = False,
    model: ModelName = None,
    company: Company = None,
    user: User = None,
    db: Db = DEFAULT_DB,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary as one JSON object; needs --out.")
    ] = False,
) -> int:
    """Make a record of each text: one JSON object a line, a record or a rejection.

    Stopped at any moment, the same command goes on: what is finished is not asked again.
    """
    from graphs.cli.extract import Job, execute
    from graphs.cli.settings import Settings

    settings = Settings("forced_output", user, model, company=company, schema=schema).absolute()
    job = Job(settings, tuple(files), None if out == "-" else out, field, lines, jobs, again, db)
    return execute(job, as_json=as_json)
