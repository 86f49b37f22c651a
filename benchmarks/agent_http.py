"""CPU per tool round over HTTP, against `create_agent` on ChatOpenAI, the server elsewhere."""

import os
from functools import partial

from langchain_openai import ChatOpenAI

from benchmarks.contenders import run_create_agent, run_rungs
from benchmarks.measure import in_turns, table
from benchmarks.rounds_server import rounds_server
from graphs.models import resolve

GOALS = {(20, 10): 0.45, (60, 10): 0.30}
TURNS = {1: 9, 5: 7, 20: 5, 60: 4}


def main() -> None:
    os.environ["OPENAI_API_KEY"] = "none"
    rows = []
    for size in (10, 20_000):
        for rounds, turns in TURNS.items():
            with rounds_server(rounds) as url:
                os.environ["OPENAI_BASE_URL"] = url
                ours, theirs = resolve("openai:stub"), ChatOpenAI(model="stub", base_url=url)
                costs = in_turns(
                    {
                        "rungs": partial(run_rungs, ours, rounds, size),
                        "create_agent": partial(run_create_agent, theirs, rounds, size),
                    },
                    turns,
                )
            ratio = costs["rungs"].best / costs["create_agent"].best
            goal = GOALS.get((rounds, size))
            rows.append(
                [
                    str(rounds),
                    f"{size:,}",
                    f"{costs['rungs'].best:.2f}",
                    f"{costs['create_agent'].best:.2f}",
                    f"{ratio:.2f}",
                    f"<= {goal}" if goal else "",
                ]
            )
    print("CPU milliseconds a tool round over HTTP, best of several turns")
    print(table(["rounds", "characters", "rungs", "create_agent", "ratio", "goal"], rows))


if __name__ == "__main__":
    main()
