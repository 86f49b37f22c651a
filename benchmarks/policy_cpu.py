"""What approval, ledger and audit cost where no call needs them: CPU of a round, with and without.

One process, alternatives in turns: `tool_calling` as it is; and with the audit log off, no ledger,
no approval asked after and no look at repeats. Tools only read, as in most rounds of most runs.
"""

import contextlib
import logging
import statistics
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from benchmarks.contenders import RoundsModel, _measured, looking
from benchmarks.measure import table
from graphs import open_graph
from graphs.reach import Reach
from tools import contract

GOAL = 1.10
ROUNDS = 20
TURNS = 15


@contextlib.contextmanager
def without_policies() -> Iterator[None]:
    """Leave out what approval, repeats and audit do in a round."""
    with (
        patch("graphs.checking._without_repeats", lambda _, __, found: (list(found), False)),
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
    audit.addHandler(logging.StreamHandler(Path("/dev/null").open("w")))  # noqa: SIM115
    model = RoundsModel(rounds=ROUNDS)
    ways = {
        "with policies": {"policies": True, "log": False},
        "and an audit log written": {"policies": True, "log": True},
        "without": {"policies": False, "log": False},
    }
    seen: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(TURNS + 1):
        for way, options in ways.items():
            cost = run(model, **options)
            if turn:  # the first turn warms caches up
                seen[way].append(cost)
    least = min(seen["without"])
    rows = [
        [
            way,
            f"{min(costs):.2f}",
            f"{min(costs) / least:.3f}",
            f"{statistics.median(a / b for a, b in zip(costs, seen['without'], strict=True)):.3f}",
            "" if way == "without" else f"<= {GOAL}",
        ]
        for way, costs in seen.items()
    ]
    print("CPU milliseconds a round in which no call needs approval or ledger")
    print(table(["", "best", "best to best", "median ratio", "goal"], rows))


if __name__ == "__main__":
    main()
