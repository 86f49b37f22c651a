"""What importing costs: `graphs` and a variant, against `langgraph.graph` and the model's own package."""

import subprocess
import sys

from benchmarks.measure import in_turns, table

STATEMENTS = {
    "langgraph.graph": "import langgraph.graph",
    "graphs": "import graphs",
    "graphs.tools_in_context, offline": "import graphs.tools_in_context; from graphs.models import resolve; resolve('offline')",
    "langgraph.graph + langchain_openai": "import langgraph.graph, langchain_openai",
    "graphs.tools_in_context + openai model": "import graphs.tools_in_context; from graphs.models import resolve; resolve('openai:gpt-5-mini')",
    "langgraph.graph + checkpoint.sqlite": "import langgraph.graph, langgraph.checkpoint.sqlite, langgraph.store.sqlite",
    "graphs.open_graph": "from graphs import open_graph",
}
TURNS = 7


def main() -> None:
    costs = in_turns({name: lambda code=code: _cost(code) for name, code in STATEMENTS.items()}, TURNS)  # type: ignore[misc]
    pairs = [
        ("graphs", "langgraph.graph", "<= 1.10"),
        ("graphs.tools_in_context, offline", "langgraph.graph", ""),
        ("graphs.tools_in_context + openai model", "langgraph.graph + langchain_openai", "<= 1.10"),
        ("graphs.open_graph", "langgraph.graph + checkpoint.sqlite", ""),
    ]
    rows = [
        [
            name,
            f"{costs[name].best:.0f}",
            base,
            f"{costs[base].best:.0f}",
            f"{costs[name].best / costs[base].best:.2f}",
            goal,
        ]
        for name, base, goal in pairs
    ]
    print("CPU milliseconds of an import in a fresh process")
    print(table(["import", "ms", "against", "ms", "ratio", "goal"], rows))


def _cost(code: str) -> float:
    program = f"import time; t = time.process_time()\n{code}\nprint((time.process_time() - t) * 1000)"
    environment = {"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": "none", "LANGSMITH_TRACING": "false"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    return float(done.stdout)


if __name__ == "__main__":
    main()
