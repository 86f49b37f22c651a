"""What the rule-based model says and does with what was found: a quotation, or a sum worked out."""

from __future__ import annotations

import re

from graphs.models.offline_comparing import INCOMPLETE, Calls
from graphs.models.offline_conversation import Conversation
from graphs.models.offline_formula import filled_formula, has_formula
from graphs.models.offline_passages import passages
from graphs.models.offline_plan import Tool, Tools
from graphs.models.offline_reading import Finding

_GIVES_AMOUNTS = re.compile(r"[$€£]\s?\d|\d (?:dollars|euros)\b.*\d|\d.*\d (?:dollars|euros)\b")


def call_of(tool: Tool, text: str) -> Calls:
    """Call a tool that takes one text."""
    return [(tool.name, {tool.parameter: text})]


def incomplete(evidence: list[str], needed: str) -> str:
    """Say what was found, and which step can't be made."""
    found = f"I found that {' '.join(evidence).rstrip('.')}, but this" if evidence else "This"
    return f"{INCOMPLETE} {found} needs one more step that I can't make now: {needed}."


def by_formula(
    asked: str, results: list[str], evidence: str, seen: Conversation, tools: Tools
) -> Calls | str | None:
    """Work a formula of the results out, or name it; None where they have none for this."""
    if filled := filled_formula(asked, results):
        formula, expression = filled
        done = seen.result_of(tools.sum, expression)
        if done is None and tools.sum:
            return call_of(tools.sum, expression)
        if done is None and tools.off:
            return incomplete([formula], f"working out {expression}")
        if done and not done.failed:
            said = f"{formula}. {expression} = {done.result.rstrip('.')}."
            return quoted([Finding(said, _title_of(formula, results), 1.0)], evidence)
    elif (named := has_formula(asked, results)) and _GIVES_AMOUNTS.search(asked):
        said = f"{named}. I did not calculate it: the numbers for it are not all plain to me."
        return quoted([Finding(said, _title_of(named, results), 1.0)], evidence)
    return None


def _title_of(formula: str, results: list[str]) -> str:
    return next((p.title for r in results for p in passages(r) if formula in p.text), "")


def quoted(found: list[Finding], evidence: str) -> str:
    """Quote findings, each with the title of its document."""
    said = [f'According to "{f.title}": {f.text}' if f.title else f.text for f in found]
    lead = f"{evidence} " if evidence and evidence not in said[0] else ""
    return lead + "\n\n".join(said)
