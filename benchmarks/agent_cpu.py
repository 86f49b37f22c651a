"""CPU per tool round, the model taken out, against `create_agent` with the same saver."""

from functools import partial

from benchmarks.contenders import RoundsModel, run_create_agent, run_rungs
from benchmarks.measure import in_turns, table

GOALS = {(20, 10): 0.75, (60, 20_000): 0.40}
TURNS = {1: 15, 5: 9, 20: 5, 60: 4}


def main() -> None:
    rows = []
    for size in (10, 20_000):
        for rounds, turns in TURNS.items():
            model = RoundsModel(rounds=rounds)
            costs = in_turns(
                {
                    "rungs": partial(run_rungs, model, rounds, size),
                    "create_agent": partial(run_create_agent, model, rounds, size),
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
    print("CPU milliseconds a tool round, best of several turns")
    print(table(["rounds", "characters", "rungs", "create_agent", "ratio", "goal"], rows))


if __name__ == "__main__":
    main()
