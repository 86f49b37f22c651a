"""The options that several commands have, and those that answer what a thread waits for."""

from typing import Annotated

import typer

from graphs.cli.settings import check_db, named_user, needed_user
from graphs.database_url import VARIABLE

Db = Annotated[
    str,
    typer.Option(
        "--db",
        envvar=[VARIABLE, "RUNGS_DB"],
        metavar="FILE",
        callback=check_db,
        help="The memory file, or a Postgres database: postgresql://user@host/database.",
        show_envvar=False,
    ),
]
User = Annotated[
    str | None,
    typer.Option(
        "--user",
        "-u",
        metavar="ID",
        callback=named_user,
        help="Whose notes and threads; without it, notes are off.",
    ),
]
MaxToolRounds = Annotated[
    int | None,
    typer.Option("--max-tool-rounds", metavar="N", help="Tool rounds before the last call."),
]
ReadOnly = Annotated[
    bool | None,
    typer.Option("--read-only/--no-read-only", help="Run no tool that changes state."),
]
MaxSteps = Annotated[
    int | None, typer.Option("--max-steps", metavar="N", help="Steps of a full agent.")
]
MaxTurns = Annotated[
    int | None, typer.Option("--max-turns", metavar="N", help="Turns of a ReAct run.")
]
Values = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Another setting of the variant, such as kept_turns=4. May be repeated.",
    ),
]
Schema = Annotated[
    str | None,
    typer.Option("--schema", metavar="S", help="The record's schema, for forced_output."),
]
Graph = Annotated[str | None, typer.Option("--graph", "-g", metavar="NAME", help="The variant.")]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", metavar="M", help="offline, openai:NAME or another provider:NAME."
    ),
]
Company = Annotated[
    str | None,
    typer.Option("--company", metavar="NAME", help="The company the assistant works for."),
]
Docs = Annotated[
    str | None,
    typer.Option(
        "--docs",
        "-d",
        envvar="RUNGS_DOCS",
        metavar="DIR",
        help="The folder of Markdown and text files to search.",
    ),
]
ToolsFile = Annotated[
    str | None,
    typer.Option("--tools", envvar="RUNGS_TOOLS", metavar="FILE", help="The tools file."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, and nothing else, on stdout.")
]
AsJsonLines = Annotated[
    bool, typer.Option("--json", help="Print one JSON object a line, and nothing else, on stdout.")
]
AnswerOnly = Annotated[bool, typer.Option("--quiet", "-q", help="Print the answer alone.")]
NotesOwner = Annotated[
    str,
    typer.Option(
        "--user",
        "-u",
        metavar="ID",
        callback=needed_user,
        help="Whose notes.",
        show_default=False,
    ),
]
Approve = Annotated[bool, typer.Option("--approve", help="Run the calls that wait.")]
Reject = Annotated[
    str | None, typer.Option("--reject", metavar="[REASON]", help="Run none of them.")
]
Edit = Annotated[
    str | None,
    typer.Option(
        "--edit", metavar="JSON", help="Run the call with these arguments; several by call id."
    ),
]
Respond = Annotated[
    str | None,
    typer.Option("--respond", metavar="TEXT", help="Give this as the result; run nothing."),
]
Call = Annotated[
    list[str] | None,
    typer.Option(
        "--call",
        metavar="ID[=ANSWER]",
        help="Which call the answer is for, or an answer of its own: approve, reject:REASON, "
        "edit:JSON or respond:TEXT. May be repeated.",
    ),
]
