"""The commands of `rungs` that serve something until they are stopped."""

from typing import Annotated

import typer

from graphs.cli.options import Db, User
from graphs.cli.settings import DEFAULT_DB

Port = Annotated[int, typer.Option("--port", min=0, max=65_535, help="Where; 0: any free port.")]


def view(
    thread: Annotated[
        str | None, typer.Argument(help="The thread to show first.", show_default=False)
    ] = None,
    *,
    user: User = None,
    db: Db = DEFAULT_DB,
    port: Port = 0,
) -> None:
    """Show threads in a browser: each run step by step, and what waits for a yes."""
    from graphs.cli.screen import Screen
    from graphs.cli.settings import check_thread_id
    from graphs.cli.view import serve_page

    shown = None if thread is None else check_thread_id(thread)
    serve_page(shown, db, user, port, Screen())


def studio(
    *,
    db: Db = DEFAULT_DB,
    port: Port = 0,
) -> int:
    """Serve the graphs to LangGraph Studio, and say where to click."""
    from graphs.cli.screen import Screen
    from graphs.cli.studio import serve_studio

    return serve_studio(port, db, Screen())
