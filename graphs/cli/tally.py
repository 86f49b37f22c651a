"""Count how the extraction of many texts goes, and tell it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphs.cli.failures import complain
from graphs.cli.screen import plural
from graphs.extracting import FINISHED, Extracted

GIVE_UP = 5
"""Failures of the model in a row, over so many texts, after which no more is asked."""

NAMED = 5
"""Texts that are named of those the model failed at; the others are counted."""


@dataclass(slots=True)
class Tally:
    """How it went so far.

    Attributes:
        inputs: How many texts there are.
        counts: How many of them ended in each way.
        asked: Model calls.
        tokens: Tokens sent and received; None is unknown.
        failed: A line for each text that the model failed at.
        in_a_row: How many of the newest texts in a row it failed at.
        replaced: Lines of older texts, schemas or models that went from the file of results.
    """

    inputs: int
    counts: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    tokens: list[int | None] = field(default_factory=lambda: [0, 0])
    failed: list[str] = field(default_factory=list)
    in_a_row: int = 0
    replaced: int = 0

    def add(self, found: Extracted, sources: Sequence[str]) -> None:
        """Count what came of one text, asked about or remembered, for each of its sources."""
        if found.status in FINISHED:
            self.counts[found.status] += len(sources)
            self.in_a_row = 0
        else:
            why = "; ".join((found.rejection or {}).get("errors", ["no answer"]))
            self.failed += [f"{source}: the model failed: {why}" for source in sources]
            self.in_a_row += 1
        if found.usage is not None:
            self.asked += found.usage["model_calls"]
            for place, name in enumerate(("input_tokens", "output_tokens")):
                total, more = self.tokens[place], found.usage[name]
                self.tokens[place] = None if total is None or more is None else total + more

    def as_json(self, out: str | None, seconds: float) -> dict[str, Any]:
        """Return the summary."""
        known = self.asked > 0
        return {
            "inputs": self.inputs,
            "records": self.counts["record"],
            "rejected": self.counts["rejected"],
            "failed": len(self.failed),
            "left": self.inputs - self.counts.total() - len(self.failed),
            "model_calls": self.asked,
            "input_tokens": self.tokens[0] if known else 0,
            "output_tokens": self.tokens[1] if known else 0,
            "seconds": round(seconds, 3),
            "out": out,
        }


def tell(tally: Tally, told: Mapping[str, Any], *, stopped: bool) -> None:
    """Say on stderr which texts the model failed at, what there is, and how to go on."""
    for line in tally.failed[:NAMED]:
        complain(line)
    if len(tally.failed) > NAMED:
        complain(f"the model failed at {len(tally.failed) - NAMED:,} more")
    if tally.replaced:
        was = "was" if tally.replaced == 1 else "were"
        complain(f"{plural(tally.replaced, 'older line')} of the same sources {was} replaced")
    counts = (
        f"{plural(told['inputs'], 'input')}: {plural(told['records'], 'record')}, "
        f"{told['rejected']:,} rejected, {told['failed']:,} failed"
    )
    left = told["left"] + told["failed"]
    cost = f"{plural(told['model_calls'], 'model call')}, {told['seconds']:.2f} s"
    why = "stopped: " if stopped else ""
    onward = f"; the same command goes on with the {left:,} left" if left else ""
    complain(f"{why}{counts} ({cost}){onward}")
