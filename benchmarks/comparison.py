"""Time a comparison offline: the 68 questions by hops on six graphs, two runs at once.

Run it by hand: `python -m benchmarks.comparison [JOBS]`. CPU time is what tells on a busy machine;
the second line is the same command again, which asks nothing.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GRAPHS = "tools_in_context,tool_calling,one_call,fixed_workflow,full_agent,ladder"


def timed(command: list[str], folder: str) -> tuple[float, float]:
    """Run a command; return its seconds, and those of its CPU time."""
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, env=environment())
    after = os.times()
    cpu = after.children_user + after.children_system
    return time.perf_counter() - began, cpu - before.children_user - before.children_system


def environment() -> dict[str, str]:
    """Return the environment in which our packages are found from any folder."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}


def main(jobs: str = "2") -> None:
    """Compare twice in a folder of its own."""
    command = [sys.executable, "-m", "graphs.cli", "compare", "hops", "-g", GRAPHS, "-j", jobs]
    with tempfile.TemporaryDirectory() as folder:
        for what in ("408 runs", "the same again"):
            seconds, cpu = timed(command, folder)
            print(f"{what:<15} {seconds:6.1f} s, {cpu:6.1f} s of CPU")


if __name__ == "__main__":
    main(*sys.argv[1:])
