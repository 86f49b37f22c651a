"""The tools of the ladder's rungs: the same ones on each, `finish` only where there is a loop."""

import os
from collections.abc import Sequence
from typing import Any

from tools import LADDER_FILE, Contract, ToolSet, as_contracts, contract, load_tools
from tools.finish import finish

FINISH = "finish"
"""The tool that ends the full agent's loop (seed "The Augmented LLM", rung 3)."""


def action_space(tools: Sequence[Any] | None, *, loop: bool = False) -> Sequence[Contract]:
    """Make the contracts of a rung's tools; servers are not asked for theirs yet.

    Args:
        tools: Those given to the graph; None takes the file that `RUNGS_TOOLS` names, or
            `ladder.toml`.
        loop: Whether the rung is a loop, which `finish` ends: it is added where it is missing, and
            left out of every other rung.

    Raises:
        ContractError: A tool can't be offered.
        ToolsFileError: The tools file is wrong.
    """
    own = os.environ.get("RUNGS_TOOLS") or LADDER_FILE
    contracts = load_tools(own) if tools is None else as_contracts(tools)
    if isinstance(contracts, ToolSet):
        if not loop:
            return contracts.without(FINISH)
        has_finish = any(tool.name == FINISH for tool in contracts.known)
        return contracts if has_finish else contracts.beside(contract(finish, effect="read_only"))
    others = [tool for tool in contracts if tool.name != FINISH]
    if not loop:
        return others
    given = [tool for tool in contracts if tool.name == FINISH]
    return [*others, *(given or [contract(finish, effect="read_only")])]
