"""Kill -9 at random points: an approved call takes effect at most once, and no run is lost."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

MANY = [
    pytest.param(name, kills, marks=pytest.mark.crash)
    for name, kills in (("tool_calling", 250), ("ladder", 60))
]


@pytest.mark.parametrize(("graph", "kills"), [("tool_calling", 10), ("ladder", 4), *MANY])
def test_each_approved_call_takes_effect_at_most_once_and_every_run_ends(
    graph: str, kills: int, tmp_path: Path
) -> None:
    """Before the ledger, inside the tool, after it, after the checkpoint, and between them."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash_driver", str(tmp_path), str(kills), "7", graph],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    effects = Counter((tmp_path / "effects").read_text().split())
    assert told["killed"] == kills
    assert told["ended"] == told["threads"]
    assert max(effects.values()) == 1
    assert len(effects) > told["threads"]
