"""What an import costs, against `langgraph.graph` and the model's own package."""

import subprocess
import sys
from functools import partial

from benchmarks.measure import in_turns, table

STATEMENTS = {
    "langgraph.graph": "import langgraph.graph",
    "graphs": "import graphs",
    "a variant": "import graphs.tools_in_context",
    "langgraph.graph, langchain_core's models": (
        "import langgraph.graph, langchain_core.language_models"
    ),
    "langgraph.graph, langchain_openai": "import langgraph.graph, langchain_openai",
    "a variant, graphs.models.openai": "import graphs.tools_in_context, graphs.models.openai",
    "langgraph.graph, its SQLite packages": (
        "import langgraph.graph, langgraph.checkpoint.sqlite, langgraph.store.sqlite"
    ),
    "graphs.open_graph": "from graphs import open_graph",
}
PAIRS = [
    ("graphs", "langgraph.graph", "<= 1.10"),
    ("a variant", "langgraph.graph, langchain_core's models", ""),
    ("a variant, graphs.models.openai", "langgraph.graph, langchain_openai", "<= 1.10"),
    ("graphs.open_graph", "langgraph.graph, its SQLite packages", ""),
]
TURNS = 9


def main() -> None:
    costs = in_turns({name: partial(_cost, code) for name, code in STATEMENTS.items()}, TURNS)
    rows = [
        [
            name,
            f"{costs[name].best:.0f}",
            base,
            f"{costs[base].best:.0f}",
            f"{costs[name].best / costs[base].best:.2f}",
            goal,
        ]
        for name, base, goal in PAIRS
    ]
    print("CPU milliseconds of an import in a fresh process")
    print(table(["import", "ms", "against", "ms", "ratio", "goal"], rows))


def _cost(code: str) -> float:
    # A full garbage collection takes 100 ms and falls now into one import and now into another.
    clock = "time.process_time()"
    program = f"import gc, time; gc.disable(); t = {clock}\n{code}\nprint(({clock} - t) * 1000)"
    environment = {"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": "none", "LANGSMITH_TRACING": "false"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    return float(done.stdout)


if __name__ == "__main__":
    main()
