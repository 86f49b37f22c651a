"""Make records of many texts: in parallel, in order, and resumable after any stop."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import Any

from graphs.cli import CANCELLED
from graphs.cli.bars import progress_bar
from graphs.cli.failures import FAILED
from graphs.cli.opening import opened
from graphs.cli.results_file import ResultsFile, check_no_input
from graphs.cli.schemas import load_schema
from graphs.cli.screen import Screen
from graphs.cli.settings import Settings
from graphs.cli.tally import GIVE_UP, Tally, tell
from graphs.cli.texts import Text, read_texts
from graphs.errors import UsageError
from graphs.extracting import FINISHED, Extracted, extract, thread_of
from graphs.forced_output import TOOL, TOOL_DESCRIPTION
from tools import ContractError
from tools.record import record_tool


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done.

    Attributes:
        settings: Schema, model, user and company.
        files: The inputs.
        out: The file of results; None is stdout.
        field: The field of a line that holds its text.
        lines: Whether every input is JSON Lines.
        jobs: How many run at the same time.
        again: Whether finished texts are asked about, too.
        db: The memory file.
    """

    settings: Settings
    files: tuple[str, ...]
    out: str | None
    field: str
    lines: bool
    jobs: int
    again: bool
    db: str


def execute(job: Job, *, as_json: bool = False) -> int:
    """Do it; nothing is asked or written before all inputs, the schema and the model are checked.

    Returns:
        The exit code: 0 all are records, 1 some are not, 130 stopped.

    Raises:
        UsageError: Something that was given can't be used.
    """
    if as_json and job.out is None:
        raise UsageError("--json prints a summary on stdout: name a file for the lines with --out")
    schema_id = _schema_id(job)
    texts = read_texts(job.files, job.field, lines=job.lines)
    if job.out is not None:
        check_no_input(job.out, job.files)
    threads = _threads(job, schema_id, texts)
    started = time.monotonic()
    tally = Tally(inputs=len(texts))
    stopped = False
    with (
        opened(job.settings, job.db, Screen(silent=True)) as graph,
        _writer(job, threads, tally) as out,
    ):
        add, done = out
        tally.counts.update(done.values())
        groups: dict[str, list[Text]] = {}
        for text in texts:
            if text.source not in done:
                groups.setdefault(threads[text.source], []).append(text)
        try:
            asyncio.run(_all(job, graph, groups, add, tally))
        except KeyboardInterrupt:
            stopped = True
    told = tally.as_json(job.out, time.monotonic() - started)
    if as_json:
        Screen().data(told)
    tell(tally, told, stopped=stopped)
    if stopped:
        return CANCELLED
    return 0 if told["records"] == told["inputs"] else FAILED


def _schema_id(job: Job) -> Any:
    """Return all of the schema that a record depends on.

    Raises:
        UsageError: It can't be used.
    """
    spec = job.settings.schema or ""
    try:
        tool = record_tool(load_schema(spec), name=TOOL, description=TOOL_DESCRIPTION)
    except ContractError as error:
        raise UsageError(f"{spec}: {error.reason}") from None
    return [tool.description, tool.schema]


def _threads(job: Job, schema_id: Any, texts: list[Text]) -> dict[str, str]:
    """Return the thread of each source; the same text has the same one, and is asked once."""
    settings = job.settings
    asked_with = {
        "schema": schema_id,
        "model": settings.model_name,
        "company": settings.company,
        "user": settings.user,
    }
    return {text.source: thread_of(text.text, **asked_with) for text in texts}


Add = Callable[[str, Extracted], None]


@contextmanager
def _writer(
    job: Job, threads: dict[str, str], tally: Tally
) -> Iterator[tuple[Add, dict[str, str]]]:
    """Lend what takes the results, and the status of those sources whose line is there already."""
    if job.out is None:
        screen = Screen(silent=True)
        yield lambda source, found: screen.data(_line(source, found)), {}
        return
    with ResultsFile(job.out, threads, again=job.again) as file:
        yield lambda source, found: file.add(_line(source, found)), file.done
    tally.replaced = file.replaced


def _line(source: str, found: Extracted) -> dict[str, Any]:
    told = {"record": found.record} if found.status == "record" else {"rejection": found.rejection}
    return {"source": source, "status": found.status, **told, "thread": found.thread_id}


async def _all(job: Job, graph: Any, groups: dict[str, list[Text]], add: Add, tally: Tally) -> None:
    """Ask about the one text of each group, and write a line for each of its sources."""
    ended = 0
    # Lines that run over the terminal are progress enough, and a bar would break them.
    wanted = job.out is not None or not sys.stdout.isatty()
    with progress_bar("extracting", wanted=wanted) as show:
        show(0, len(groups))

        def progress() -> None:
            nonlocal ended
            ended += 1
            show(ended, len(groups))

        results = extract(
            graph,
            ((thread, texts[0].text) for thread, texts in groups.items()),
            context=job.settings.context(),
            metadata=job.settings.recorded(),
            jobs=job.jobs,
            again=job.again,
            progress=progress,
        )
        async with aclosing(results):
            async for found in results:
                sources = [text.source for text in groups[found.thread_id]]
                if found.status in FINISHED:
                    for source in sources:
                        add(source, found)
                tally.add(found, sources)
                if tally.in_a_row >= GIVE_UP:
                    return
