"""The commands about the tools: a search with its reasons, and a check of the catalog."""

from dataclasses import asdict
from typing import Annotated

import typer

from graphs.cli.options import AsJson, Db
from graphs.cli.settings import DEFAULT_DB, existing_db, has_memory

FOUND_FAULTS = 1

tools_app = typer.Typer(
    help="Search the tools, or check how well they can be found.", rich_markup_mode=None
)
ToolsFile = Annotated[
    str | None,
    typer.Option(
        "--tools",
        envvar="RUNGS_TOOLS",
        metavar="FILE",
        help="The tools file; without it the library, as the graphs that search have it.",
    ),
]


@tools_app.command("search")
def search(
    query: Annotated[str, typer.Argument(help="What is needed.", show_default=False)],
    *,
    tools: ToolsFile = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="1 to 20 tools.")] = 5,
    as_json: AsJson = False,
) -> int:
    """Show which tools a search finds, and why."""
    from graphs.cli.screen import Screen, plural
    from tools.catalog import Catalog
    from tools.registry import LIBRARY_FILE, load_tools

    found = Catalog(load_tools(tools or LIBRARY_FILE)).search(query, limit, reasons=True)
    screen = Screen(silent=as_json)
    if as_json:
        matches = [
            {
                "name": match.tool.name,
                "score": round(match.score, 4),
                "reasons": [asdict(reason) for reason in match.reasons],
            }
            for match in found
        ]
        screen.data({"tools": matches, "matched": found.matched, "available": found.available})
        return 0
    for match in found:
        screen.text(f"{match.score:.3f}  {match.tool.name}  {match.tool.description}")
        for reason in match.reasons:
            said = f"{reason.word} in {', '.join(reason.fields)}" if reason.word else ""
            screen.text(f"       {reason.share:.3f}  {said or _PARTS[reason.kind]}")
    counted = f"{found.matched} of {plural(found.available, 'tool')} match"
    screen.text(counted if found.matched else f"{counted}: try other words")
    return 0


_PARTS = {"clause": "the best clause of the query", "meaning": "nearness in meaning"}


@tools_app.command("check")
def check(*, tools: ToolsFile = None, db: Db = DEFAULT_DB, as_json: AsJson = False) -> int:
    """Check the descriptions, what they find, what they cost, and the log of searches.

    The exit code is 1 where there is something to mend.
    """
    from graphs.cli.screen import Screen
    from graphs.memory import open_memory
    from tools.catalog import Catalog
    from tools.catalog_check import check_log, check_tools, costs
    from tools.places import places
    from tools.registry import LIBRARY_FILE, load_tools, tools_file
    from tools.search_log import read_log

    file = tools_file(tools or LIBRARY_FILE)
    contracts = load_tools(file)
    catalog = Catalog(contracts)
    searches = []
    if db != DEFAULT_DB or has_memory(db):
        existing_db(db)
        with open_memory(db) as memory:
            searches = read_log(memory.store)
    findings = [*check_tools(catalog), *check_log(searches, catalog)]
    where = places(file, contracts)
    each = costs(catalog)
    screen = Screen(silent=as_json)
    if as_json:
        told = [{**asdict(f), "place": where.get(f.tool or "", str(file))} for f in findings]
        screen.data({"findings": told, "tokens": each, "searches": len(searches)})
        return FOUND_FAULTS if findings else 0
    for finding in findings:
        screen.text(f"{finding.tool or 'no tool'}: {finding.text}")
        screen.text(f"    {where.get(finding.tool or '', str(file))}")
    screen.text(f"tokens, about: {sum(each.values()):,} for {len(each)} tools")
    for name, cost in each.items():
        screen.text(f"    {cost:6,}  {name}")
    screen.text(f"{file}: {len(findings)} to mend; {len(searches)} searches read")
    return FOUND_FAULTS if findings else 0
