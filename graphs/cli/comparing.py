"""`rungs compare`: put questions to graphs, show the table, write the report."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphs.cli import CANCELLED
from graphs.cli.bars import progress_bar
from graphs.cli.failures import FAILED, USAGE, complain
from graphs.cli.screen import Screen
from graphs.cli.settings import Settings
from graphs.compare.comparison import Comparison, StoppedError
from graphs.compare.contestants import Contestant, Stage, resolved
from graphs.compare.journal import Journal, NotKeptError, digest_of_code
from graphs.compare.judging import Judge
from graphs.compare.page import HEADS, ReportError, cells, check_target, write_report
from graphs.compare.prices import Price, read_prices
from graphs.compare.questions import QuestionsError, read_questions
from graphs.compare.rows import Row
from graphs.compare.summary import as_json, lowest_counts, names_of, notes_of, summarize
from graphs.errors import UsageError
from graphs.variants import GRAPHS
from tools import load_tools
from tools.docs_folder import resolve_folder, scan
from tools.search_docs import HELP_CENTER

RUNGS = ("one_call", "fixed_workflow", "full_agent")
"""The graphs that are compared unless others are named: the rungs, lowest first."""

ALL = "all"


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be compared.

    Attributes:
        questions: A questions file, or the name of a set that ships.
        graphs: Names, comma-separated; `all` is every graph.
        models: Names, comma-separated; None is the model in force.
        judge: The model that judges.
        prices: A table of prices.
        report: Where the report goes; the finished rows are kept beside it.
        jobs: Runs at once.
        fresh: Whether to ask again what is finished.
        docs: The folder that is searched.
        tools: A tools file for every graph.
    """

    questions: str
    graphs: str | None
    models: str | None
    judge: str | None
    prices: str | None
    report: str
    jobs: int
    fresh: bool
    docs: str | None
    tools: str | None


def compare(order: Order, screen: Screen, *, json_only: bool) -> int:
    """Compare, and tell what came of it.

    Returns:
        The exit code: 0, 1 where every run failed or what came of it can't be written, 2 where
        lines of the questions file are wrong, 130 where it was stopped.

    Raises:
        UsageError: Something that was named can't be used; nothing was asked.
    """
    try:
        questions = read_questions(order.questions, judge=order.judge is not None)
    except QuestionsError as error:
        for problem in error.problems:
            complain(problem)
        return USAGE
    contestants = _contestants(order)
    prices = read_prices(order.prices)
    judge = Judge(resolved(order.judge)) if order.judge else None
    tools = load_tools(order.tools) if order.tools else None
    report = Path(order.report).expanduser().absolute()
    if not report.parent.is_dir():
        raise UsageError(f"there is no folder {report.parent}: create it, or name another report")
    check_target(report)
    stage = Stage(tools=tools, judge=judge)
    setting: dict[str, Any] = {"code": digest_of_code(), "docs": _documents(order)}
    setting["tools"] = _digest(order.tools) if order.tools else None
    with Journal(journal_of(report), fresh=order.fresh) as journal:
        comparison = Comparison(questions, contestants, stage, journal, setting, judge=order.judge)
        if before := comparison.finished:
            screen.text(f"{before:,} of {comparison.total:,} rows were finished before", "dim")
        try:
            with progress_bar("comparing") as tell:
                rows = comparison.run(order.jobs, tell)
        except StoppedError as stopped:
            complain(
                f"stopped: {stopped.finished:,} of {stopped.total:,} rows are finished and kept; "
                "the same command goes on"
            )
            return CANCELLED
        except NotKeptError as error:
            complain(str(error))
            return FAILED
    try:
        write_report(report, rows, prices, f"Rungs compared: {Path(order.questions).stem}")
    except ReportError as error:
        complain(f"{error}; the {len(rows):,} finished rows are kept: the same command writes it")
        return FAILED
    if json_only:
        screen.data(as_json(rows, prices, str(report)))
    else:
        _tell(rows, prices, report, screen)
    return FAILED if all(row["outcome"] == "failed" for row in rows) else 0


def journal_of(report: Path) -> Path:
    """Return where the finished rows of a report are kept."""
    return report.with_name(f"{report.name}.rows.jsonl")


def _contestants(order: Order) -> list[Contestant]:
    names = _listed(order.graphs) or list(RUNGS)
    if names == [ALL]:
        names = list(GRAPHS)
    if unknown := [name for name in names if name not in GRAPHS]:
        raise UsageError(
            f"there is no graph {unknown[0]!r}: name some of {', '.join(GRAPHS)}, or {ALL}"
        )
    models = _listed(order.models) or [Settings().model_name]
    for model in models:
        resolved(model)
    return [Contestant(name, model) for model in models for name in names]


def _listed(words: str | None) -> list[str]:
    """Split at commas; what comes twice counts once."""
    parts = [part.strip() for part in (words or "").split(",")]
    return list(dict.fromkeys(part for part in parts if part))


def _documents(order: Order) -> Any:
    """Tell one state of the documents from another."""
    folder = resolve_folder(order.docs or HELP_CENTER)
    if folder == HELP_CENTER:
        return "shipped"
    found = scan(folder, lambda _path, _reason: None)
    return [str(folder), sorted((path, *stamp) for path, stamp in found.items())]


def _digest(path: str) -> str:
    return hashlib.blake2b(Path(path).expanduser().read_bytes(), digest_size=16).hexdigest()


def _tell(rows: Sequence[Row], prices: dict[str, Price], report: Path, screen: Screen) -> None:
    summary = summarize(rows, prices)
    lines: list[tuple[str, ...]] = [("graph", *HEADS)]
    lines += [(name, *cells(line)) for name, line in zip(names_of(summary), summary, strict=True)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    screen.text()
    for place, (first, *rest) in enumerate(lines):
        told = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        screen.text("  ".join([first.ljust(widths[0]), *told]), "bold" if place == 0 else "")
    screen.text()
    for model, counts in lowest_counts(rows).items():
        told_of = ", ".join(f"{graph} {count}" for graph, count in counts.items())
        screen.text(f"lowest rung that answers, {model}: {told_of}")
    for name, line in zip(names_of(summary), summary, strict=True):
        for note in notes_of(line, name):
            screen.text(note, "dim")
    screen.text(f"report: {report}")
