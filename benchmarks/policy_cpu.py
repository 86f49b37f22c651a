"""What approval, ledger and audit cost where no call needs them: CPU of a round, with and without.

One process, alternatives in turns: `tool_calling` as it is; and with the audit log off, no ledger,
no approval asked after and no look at repeats. Tools only read, as in most rounds of most runs.
"""

import contextlib
import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from benchmarks.contenders import RoundsModel, _measured, looking
from benchmarks.measure import in_turns, table
from graphs import open_graph
from graphs.nodes import validate_calls
from graphs.reach import Reach
from tools import contract

GOAL = 1.10
ROUNDS = 20
TURNS = 9


@contextlib.contextmanager
def without_policies() -> Iterator[None]:
    """Leave out what approval, repeats and audit do in a round."""

    def unchecked(tools: Any, **options: Any) -> Any:
        return validate_calls(tools, **{**options, "stop_repeats": False})

    with (
        patch("graphs.tool_calling.validate_calls", unchecked),
        patch.object(Reach, "needs_yes", lambda *_: False),
        patch("graphs.audit.tool_call", lambda *_, **__: None),
        patch("graphs.audit.model_call", lambda *_, **__: None),
    ):
        yield


def run(model: RoundsModel, *, policies: bool) -> float:
    """Run `tool_calling`, warm, and return the CPU milliseconds of a round."""
    audit = logging.getLogger("rungs.audit")
    audit.setLevel(logging.INFO if policies else logging.WARNING)
    with (
        TemporaryDirectory() as folder,
        contextlib.nullcontext() if policies else without_policies(),
        open_graph(
            "tool_calling",
            db=Path(folder) / "r.sqlite",
            model=model,
            tools=[contract(looking(10), effect="read_only")],
        ) as graph,
    ):
        return _measured(graph, ROUNDS, warm=True, context={"max_tool_calls": ROUNDS + 1})


def main() -> None:
    audit = logging.getLogger("rungs.audit")
    audit.propagate = False
    audit.addHandler(logging.StreamHandler(Path("/dev/null").open("w")))  # noqa: SIM115
    model = RoundsModel(rounds=ROUNDS)
    costs = in_turns(
        {
            "with": partial(run, model, policies=True),
            "without": partial(run, model, policies=False),
        },
        TURNS,
    )
    with_them, without = costs["with"].best, costs["without"].best
    row = [f"{with_them:.2f}", f"{without:.2f}", f"{with_them / without:.3f}", f"<= {GOAL}"]
    print("CPU milliseconds a round in which no call needs approval or ledger, best of several")
    print(table(["with policies and audit log", "without", "ratio", "goal"], [row]))


if __name__ == "__main__":
    main()
