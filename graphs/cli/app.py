"""The commands of `rungs` and their options; what they do is in the modules beside this one."""

from typing import Annotated

import typer

from graphs.cli.compare_command import compare
from graphs.cli.extract_command import extract
from graphs.cli.options import (
    AnswerOnly,
    Approve,
    AsJson,
    AsJsonLines,
    Call,
    Company,
    Db,
    Docs,
    Edit,
    Graph,
    MaxSteps,
    MaxToolRounds,
    MaxTurns,
    ModelName,
    NotesOwner,
    ReadOnly,
    Reject,
    Respond,
    Schema,
    ToolsFile,
    User,
    Values,
)
from graphs.cli.serving import studio, view
from graphs.cli.settings import DEFAULT_DB
from graphs.cli.tools import tools_app

app = typer.Typer(
    name="rungs",
    help="Put a question to an agent, go on with a thread, look at what was recorded.",
    epilog="Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 capped or stuck, "
    "4 waiting for approval, 130 cancelled.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
notes_app = typer.Typer(help="Look at a user's notes, or delete one.", rich_markup_mode=None)
app.add_typer(notes_app, name="notes")
app.add_typer(tools_app, name="tools")
app.command()(extract)


def _version(wanted: bool) -> None:  # noqa: FBT001 - Typer calls it so
    if wanted:
        from importlib.metadata import version

        typer.echo(f"rungs {version('rungs')}")
        raise typer.Exit


@app.callback()
def rungs(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Log the audit events, and show where an error came from."),
    ] = False,
) -> None:
    """Put a question to an agent, go on with a thread, look at what was recorded."""


@app.command()
def ask(
    question: Annotated[
        str, typer.Argument(help="The question; - reads it from stdin.", show_default=False)
    ],
    *,
    graph: Graph = None,
    user: User = None,
    thread: Annotated[
        str | None,
        typer.Option("--thread", "-t", metavar="ID", help="The thread, new or begun earlier."),
    ] = None,
    docs: Docs = None,
    tools: ToolsFile = None,
    model: ModelName = None,
    company: Company = None,
    max_tool_rounds: MaxToolRounds = None,
    read_only: ReadOnly = None,
    max_turns: MaxTurns = None,
    max_steps: MaxSteps = None,
    values: Values = None,
    schema: Schema = None,
    db: Db = DEFAULT_DB,
    as_json: AsJson = False,
    quiet: AnswerOnly = False,
) -> int:
    """Answer a question, showing each step as it happens."""
    from graphs.cli.question import read_question

    text = read_question(question)

    from graphs.cli.ask import execute
    from graphs.cli.following import Run
    from graphs.cli.opening import check_limits
    from graphs.cli.records import recorded_settings
    from graphs.cli.screen import Screen
    from graphs.cli.settings import Settings, check_thread_id, read_values

    limits = (max_tool_rounds, read_only, max_turns, max_steps)
    more = read_values(values or [])
    settings = Settings(graph, user, model, docs, tools, company, *limits, schema, more).absolute()
    given = settings
    if thread is not None:
        thread = check_thread_id(thread)
        settings = recorded_settings(settings, thread, db)
    check_limits(settings.graph, given)
    run = Run(text, settings, db, thread)
    return execute(run, Screen(silent=as_json or quiet), json_only=as_json, answer_only=quiet)


@app.command()
def resume(
    thread: Annotated[str, typer.Argument(help="The thread's id.", show_default=False)],
    *,
    approve: Approve = False,
    reject: Reject = None,
    edit: Edit = None,
    respond: Respond = None,
    call: Call = None,
    max_turns: MaxTurns = None,
    values: Values = None,
    user: User = None,
    db: Db = DEFAULT_DB,
    as_json: AsJson = False,
    quiet: AnswerOnly = False,
) -> int:
    """Go on with a run that was stopped or killed, or answer what it waits for.

    It goes on with the settings that its thread recorded, but for those given here. --max-turns is
    for a run that stopped early: a new one goes on from its notes.
    """
    from graphs.cli.answers import read_options

    answer = read_options(
        approve=approve, reject=reject, edit=edit, respond=respond, calls=call or []
    )

    from graphs.cli.ask import execute
    from graphs.cli.following import Run
    from graphs.cli.opening import check_limits
    from graphs.cli.records import settings_to_resume
    from graphs.cli.screen import Screen
    from graphs.cli.settings import Settings, check_thread_id, read_values

    thread = check_thread_id(thread)
    given = Settings(user=user, max_turns=max_turns, values=read_values(values or []))
    settings = settings_to_resume(thread, db, given)
    check_limits(settings.graph, given)
    run = Run(None, settings, db, thread, answer)
    return execute(run, Screen(silent=as_json or quiet), json_only=as_json, answer_only=quiet)


app.command()(compare)


@app.command()
def threads(*, user: User = None, db: Db = DEFAULT_DB, as_json: AsJsonLines = False) -> None:
    """List a user's threads, newest first; without a user those of nobody in particular."""
    from graphs.cli.records import show_threads
    from graphs.cli.screen import Screen

    show_threads(db, user, Screen(), as_json=as_json)


@app.command()
def audit(
    thread: Annotated[
        str | None, typer.Argument(help="The thread's id.", show_default=False)
    ] = None,
    *,
    limits: Annotated[
        bool, typer.Option("--limits", help="Which tools took runs to a limit in the last week.")
    ] = False,
    user: User = None,
    db: Db = DEFAULT_DB,
    as_json: AsJsonLines = False,
) -> None:
    """Show every model call and tool call of a thread; or how often runs hit a limit."""
    from graphs.cli.records import show_events, show_limits
    from graphs.cli.screen import Screen
    from graphs.cli.settings import check_thread_id
    from graphs.errors import UsageError

    if limits == (thread is not None):
        raise UsageError("name a thread (rungs threads lists them), or give --limits")
    if thread is None:
        show_limits(db, Screen(), as_json=as_json)
        return
    show_events(db, check_thread_id(thread), user, Screen(), as_json=as_json)


@app.command()
def draw(
    graph: Annotated[str, typer.Argument(help="The variant.", show_default=False)],
    *,
    ascii_art: Annotated[bool, typer.Option("--ascii", help="Draw it with letters.")] = False,
) -> None:
    """Draw a graph, as Mermaid text."""
    from graphs.cli.drawing import show_drawing
    from graphs.cli.screen import Screen

    show_drawing(graph, Screen(), as_letters=ascii_art)


@notes_app.command("list")
def notes_list(*, user: NotesOwner, db: Db = DEFAULT_DB, as_json: AsJsonLines = False) -> None:
    """List a user's notes, oldest first."""
    from graphs.cli.records import show_notes
    from graphs.cli.screen import Screen

    show_notes(db, user, Screen(), as_json=as_json)


@notes_app.command("delete")
def notes_delete(
    key: Annotated[
        str, typer.Argument(help="The note's key, or enough of its beginning.", show_default=False)
    ],
    *,
    user: NotesOwner,
    db: Db = DEFAULT_DB,
) -> None:
    """Delete one of a user's notes."""
    from graphs.cli.records import remove_note
    from graphs.cli.screen import Screen

    remove_note(db, user, key, Screen())


app.command()(view)
app.command()(studio)
