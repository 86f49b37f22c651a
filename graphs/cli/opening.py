"""Open a graph for a run: everything that can be wrong is found before anything is written."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphs import models
from graphs.cli.failures import complain
from graphs.cli.indexing import index_documents
from graphs.cli.schemas import load_schema
from graphs.cli.screen import Screen
from graphs.cli.settings import DEFAULT_GRAPH, OPTIONS, Settings
from graphs.context import read_context
from graphs.errors import UsageError
from graphs.open import open_graph
from graphs.variants import GRAPHS
from tools import load_tools

WITH_SCHEMA = "forced_output"
"""The graph whose record has a schema of the user's."""


@contextmanager
def opened(settings: Settings, db: str, screen: Screen) -> Iterator[Any]:
    """Lend the compiled graph of the settings, on the memory file.

    The graph's name, the tools file, the context, the model and the folder are checked in this
    order, and all of them before the memory file is opened or created.

    Raises:
        ValueError: One of them is wrong; one line says which and what to do.
    """
    name = settings.graph or DEFAULT_GRAPH
    if name not in GRAPHS:
        raise UsageError(f"there is no graph {name!r}: name one of {', '.join(GRAPHS)}")
    screen.wait("opening ...")
    try:
        settings.check_tools()
        tools = None if settings.tools is None else load_tools(settings.tools)
        wiring = _wiring(name, settings)
        _check_context(name, settings)
        model = models.resolve(settings.model_name)
    finally:
        screen.settle()
    with (
        searching(settings.docs, screen),
        _warnings_of_servers(),
        open_graph(name, db=db, model=model, tools=tools, **wiring) as graph,
    ):
        yield graph


@contextmanager
def searching(docs: str | None, screen: Screen) -> Iterator[None]:
    """Let the search tools search a folder for a while; None leaves them theirs.

    Raises:
        DocsFolderError: The folder can't be searched.
    """
    with _environment("RUNGS_DOCS", docs):
        if docs is not None:
            index_documents(docs, screen)
        yield


def _wiring(name: str, settings: Settings) -> dict[str, Any]:
    """Return what the variant is wired with beside model and tools."""
    if settings.schema is None:
        return {}
    if name != WITH_SCHEMA:
        raise UsageError(f"--schema is for --graph {WITH_SCHEMA}: {name} fills no record")
    return {"schema": load_schema(settings.schema)}


def check_limits(name: str | None, settings: Settings) -> None:
    """Refuse an option that was given for a setting that the variant does not have.

    Raises:
        UsageError: There is one; the line names the option and the graph.
    """
    name = name or DEFAULT_GRAPH
    if name not in GRAPHS:
        return
    known, prompts = GRAPHS[name].Context.model_fields, GRAPHS[name].Context.prompt_settings
    for field in settings.context():
        if field in known:
            continue
        if field in OPTIONS:
            raise UsageError(f"{OPTIONS[field]} is not for --graph {name}, which has no such limit")
        ours = ", ".join(sorted(known.keys() - OPTIONS.keys() - {"model"} - prompts.keys()))
        raise UsageError(
            f"--set {field}: {name} has no such setting; it has {ours}; "
            f"and the prompts {', '.join(prompts)}"
        )


def _check_context(name: str, settings: Settings) -> None:
    """Check what goes into the run's context, and name the options where something is wrong."""
    try:
        read_context(GRAPHS[name].Context, settings.context())
    except UsageError as error:
        text = str(error).removeprefix("context: ")
        told = {name: f"--set {name}" for name in settings.values or ()}
        for field, option in {**OPTIONS, **told}.items():
            text = text.replace(f"{field}: ", f"{option}: ")
        raise UsageError(text) from None


@contextmanager
def _warnings_of_servers() -> Iterator[None]:
    """Tell on stderr what an MCP server can't offer, in a line each."""
    logger, handler = logging.getLogger("rungs.mcp"), _Complaints()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Complaints(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        complain(record.getMessage())


@contextmanager
def _environment(name: str, value: str | None) -> Iterator[None]:
    """Set a variable for a while: the search tool reads its folder from there."""
    before = os.environ.get(name)
    if value is not None:
        os.environ[name] = value
    try:
        yield
    finally:
        if before is not None:
            os.environ[name] = before
        elif value is not None:
            os.environ.pop(name, None)
