"""Bytes of the database per byte of transcript, against `create_agent` with the same saver."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.contenders import QUESTION, RoundsModel, run_create_agent, run_rungs
from benchmarks.measure import table

SIZE = 2_000


def main() -> None:
    rows = []
    for rounds in (5, 20, 60, 200):
        transcript = _transcript_bytes(rounds)
        ours, theirs = (_database_bytes(run, rounds) for run in (run_rungs, run_create_agent))
        rows.append(
            [
                str(rounds),
                f"{transcript:,}",
                f"{ours:,}",
                f"{ours / transcript:.1f}",
                f"{theirs / transcript:.1f}",
                "<= 5" if rounds == 200 else "",
            ]
        )
    print(f"Database bytes per byte of transcript, results of {SIZE:,} characters")
    print(table(["rounds", "transcript", "rungs file", "rungs", "create_agent", "goal"], rows))


def _transcript_bytes(rounds: int) -> int:
    """Count the text of question, calls, results and answer."""
    call = len('{"query": "number 100"}') + len("look") + len("call_100")
    return len(str(QUESTION["messages"][0]["content"])) + rounds * (SIZE + call) + len("Done.")


def _database_bytes(run: Callable[..., Any], rounds: int) -> int:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "r.sqlite"
        run(RoundsModel(rounds=rounds), rounds, SIZE, path)
        return sum(file.stat().st_size for file in Path(folder).iterdir())


if __name__ == "__main__":
    main()
