"""What approval, ledger and audit cost where no call needs them: CPU of a round, with and without.

One process, alternatives in turns: `tool_calling` as it is; and with the audit log off, no ledger,
no approval asked after and no look at repeats. Tools only read, as in most rounds of most runs.
"""

import contextlib
import gc
import logging
import random
import statistics
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from unittest.mock import patch

from benchmarks.contenders import RoundsModel, _measured, looking
from benchmarks.measure import table
from graphs import open_graph
from graphs.reach import Reach
from tools import contract

GOAL = 1.10
ROUNDS = 20
TURNS = 40


@contextlib.contextmanager
def without_policies() -> Iterator[None]:
    """Leave out what approval, repeats and audit do in a round."""
    with (
        patch("graphs.checking.without_repeats", lambda _, __, found, ___: (list(found), False)),
        patch.object(Reach, "needs_yes", lambda *_: False),
        patch("graphs.audit.tool_call", lambda *_, **__: None),
        patch("graphs.audit.model_call", lambda *_, **__: None),
    ):
        yield


def run(model: RoundsModel, *, policies: bool, log: bool) -> float:
    """Run `tool_calling`, warm, and return the CPU milliseconds of a round."""
    audit = logging.getLogger("rungs.audit")
    audit.setLevel(logging.INFO if log else logging.WARNING)
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
    with NamedTemporaryFile(suffix=".log") as file:
        audit.addHandler(logging.FileHandler(file.name))
        compare()


def compare() -> None:
    """Measure the ways in turns, and print what each costs."""
    model = RoundsModel(rounds=ROUNDS)
    ways = {
        "with policies": {"policies": True, "log": False},
        "and an audit log written": {"policies": True, "log": True},
        "without": {"policies": False, "log": False},
    }
    seen: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(TURNS + 1):
        # in another order each time, so that none always follows the same one
        for way in random.sample(list(ways), len(ways)):
            gc.collect()
            cost = run(model, **ways[way])
            if turn:  # the first turn warms caches up
                seen[way].append(cost)
    calm = {way: statistics.fmean(sorted(costs)[: TURNS // 4]) for way, costs in seen.items()}
    rows = [
        [
            way,
            f"{calm[way]:.2f}",
            f"{calm[way] / calm['without']:.3f}",
            f"{statistics.median(costs) / statistics.median(seen['without']):.3f}",
            "" if way == "without" else f"<= {GOAL}",
        ]
        for way, costs in seen.items()
    ]
    print("CPU milliseconds a round in which no call needs approval or ledger")
    print(table(["", "calmest quarter", "ratio", "of medians", "goal"], rows))


if __name__ == "__main__":
    main()
