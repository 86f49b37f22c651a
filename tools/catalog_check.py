"""The check of a catalog: what makes its tools hard to find, and which words would mend it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tools.catalog import Catalog
from tools.contract import Contract
from tools.ranking.words import stemmed
from tools.record_schema import subschemas
from tools.references import References
from tools.search_log import Search
from tools.search_tools import OWN_NAMES

LINE_CHARACTERS: Final = 200
"""Characters of a description that is still one line."""
_FEWEST_WORDS: Final = 2
_TOO_ALIKE: Final = 0.95
_CHARACTERS_A_TOKEN: Final = 4

Kind = Literal["name", "description", "parameters", "alike", "not found", "nothing found", "missed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend.

    Attributes:
        kind: What is wrong.
        tool: Whose description it is about; None for a search that no tool answers.
        text: What is wrong with it, and what to do, in a sentence.
    """

    kind: Kind
    tool: str | None
    text: str


def tokens(tool: Contract) -> int:
    """Return about how many tokens a tool costs in a request: four characters make one."""
    shown = json.dumps(tool.openai(), ensure_ascii=False)
    return -(-len(shown) // _CHARACTERS_A_TOKEN)


def check_tools(catalog: Catalog) -> list[Finding]:
    """Look at the descriptions, and at what a search by them finds."""
    found: list[Finding] = []
    for tool in catalog:
        found += _name(tool)
        found += _description(tool)
        found += _parameters(tool)
    return found + list(_searches(catalog))


def check_log(searches: Iterable[Search], catalog: Catalog) -> list[Finding]:
    """Look at the searches that found nothing, and at those followed by a call of another tool.

    Args:
        searches: The log, newest first; the same words are told of once.
        catalog: The tools of today.
    """
    found: dict[tuple[str, str | None], Finding] = {}
    for search in searches:
        query = search["query"]
        if not search["returned"]:
            called = next((name for name in search["called"] if name in catalog), None)
            text = f"a search for {query!r} found nothing: if a tool does it, say it in these words"
            if called:
                text = (
                    f"a search for {query!r} found nothing, and this was called: "
                    "its description should have these words"
                )
            found.setdefault((query, called), Finding("nothing found", called, text))
            continue
        if set(search["called"]) & set(search["returned"]):
            continue
        for name in dict.fromkeys(search["called"]):
            if name in catalog:
                text = (
                    f"a search for {query!r} returned {', '.join(search['returned'])}, and this "
                    "was called: its description should have these words"
                )
                found.setdefault((query, name), Finding("missed", name, text))
    return list(found.values())


def _description(tool: Contract) -> Iterator[Finding]:
    if len(tool.description) > LINE_CHARACTERS:
        text = f"its description has {len(tool.description)} characters: say in one line of at most"
        yield Finding("description", tool.name, f"{text} {LINE_CHARACTERS} when to use it")
    new = set(stemmed(tool.description).values()) - set(stemmed(tool.name).values()) - {""}
    if len(new) < _FEWEST_WORDS:
        text = "its description says little more than its name: say in one line when to use it"
        yield Finding("description", tool.name, text)


def _name(tool: Contract) -> Iterator[Finding]:
    if tool.name in OWN_NAMES:
        text = "this is a name of the search's own, so that no graph with a search can have it"
        yield Finding("name", tool.name, f"{text}: give the tool another")


def _parameters(tool: Contract) -> Iterator[Finding]:
    references = References(tool.parameters)
    bare: dict[str, None] = {}
    for path, part in subschemas(tool.parameters):
        for name, schema in (part.get("properties") or {}).items():
            if not any(said.get("description") for said in references.conjuncts(schema)):
                bare[f"{path}.{name}" if path else name] = None
    if bare:
        text = f"not described: {', '.join(bare)}; say what to give, and in which form"
        yield Finding("parameters", tool.name, text)


def _searches(catalog: Catalog) -> Iterator[Finding]:
    told: set[frozenset[str]] = set()
    for tool in catalog:
        found = catalog.search(tool.description, 3)
        names = [match.tool.name for match in found]
        if tool.name not in names:
            text = (
                f"a search for its own description finds {', '.join(names) or 'nothing'} instead: "
                "name what only this tool does"
            )
            yield Finding("not found", tool.name, text)
            continue
        own = found[names.index(tool.name)].score
        for match in found:
            pair = frozenset((tool.name, match.tool.name))
            if (
                match.tool.name != tool.name
                and match.score >= _TOO_ALIKE * own
                and pair not in told
            ):
                told.add(pair)
                text = f"a search can't tell it from {match.tool.name}: say what sets them apart"
                yield Finding("alike", tool.name, text)


def costs(catalog: Sequence[Contract] | Catalog) -> dict[str, int]:
    """Return about how many tokens each tool costs, the dearest first."""
    each = {tool.name: tokens(tool) for tool in catalog}
    return dict(sorted(each.items(), key=lambda item: -item[1]))
