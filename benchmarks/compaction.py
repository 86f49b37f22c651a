"""A long run in a small window: `react_compaction` beside LangChain's SummarizationMiddleware.

Both look up 60 things, each with an observation of 2,000 characters, in a window of 20,000 tokens
that is compacted at three quarters, on the same saver and with the same summaries.
"""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from benchmarks.measure import table
from graphs import open_graph
from graphs.memory import open_memory

TURNS, SIZE = 60, 2_000
WINDOW, SHARE, KEPT = 20_000, 0.75, 3
QUESTION = "Which of the sixty lots, from lot 0 to lot 59, is the heaviest? Look each one up."
SUMMARY = "Goal: find the heaviest lot. Facts: the lots so far weigh 1 to 9 kg (source: look). " * 6
REPEATS = 3


@dataclass(slots=True)
class Seen:
    """What one run sent, and what it cost.

    Attributes:
        tokens: Tokens of each prompt, summarizer calls left out.
        marks: CPU seconds of the process as each prompt came in.
        asked: Whether the question stood in each prompt, word for word.
        summaries: Summarizer calls.
    """

    tokens: list[int] = field(default_factory=list)
    marks: list[float] = field(default_factory=list)
    asked: list[bool] = field(default_factory=list)
    summaries: int = 0


class LongModel(BaseChatModel):
    """Looks up one thing a turn, as text or as a tool call; all its summaries are the same."""

    turns: int
    as_text: bool
    bound: bool = False
    _seen: Seen = PrivateAttr(default_factory=Seen)

    @property
    def seen(self) -> Seen:
        return self._seen

    @property
    def _llm_type(self) -> str:
        return "long"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "LongModel":  # type: ignore[override]
        bound = self.model_copy(update={"bound": True})
        bound._seen = self._seen
        return bound

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _reply(self, messages: list[BaseMessage]) -> AIMessage:
        summarizes = "compress the history" in messages[0].text if self.as_text else not self.bound
        if summarizes:
            self._seen.summaries += 1
            return AIMessage(SUMMARY)
        self._seen.tokens.append(count_tokens_approximately(messages))
        self._seen.asked.append(any(QUESTION in message.text for message in messages))
        self._seen.marks.append(time.process_time())
        turn = len(self._seen.tokens) - 1
        if turn >= self.turns:
            return AIMessage("Final Answer: lot 7" if self.as_text else "lot 7")
        thought = f"I need lot {turn}."
        if self.as_text:
            return AIMessage(f"Thought: {thought}\nAction: look[lot {turn}]")
        call = {"id": f"call_{turn}", "name": "look", "args": {"query": f"lot {turn}"}}
        return AIMessage(thought, tool_calls=[call])


def look(query: str) -> str:
    """Look a lot up."""
    return (f"{query} weighs 4 kg, as row after row of the register says. " * 60)[:SIZE]


def run_rungs(turns: int, folder: Path) -> Seen:
    model = LongModel(turns=turns, as_text=True)
    context = {"max_turns": 1000, "context_window": WINDOW, "kept_turns": KEPT}
    arguments: dict[str, Any] = {"model": model, "tools": [look]}
    arguments["token_counter"] = count_tokens_approximately
    with open_graph("react_compaction", db=folder / "r.sqlite", **arguments) as graph:
        graph.invoke(_question(), _config(), context=context)
    return model.seen


def run_middleware(turns: int, folder: Path, **options: Any) -> Seen:
    model = LongModel(turns=turns, as_text=False)
    trigger, keep = ("tokens", int(WINDOW * SHARE)), ("messages", 2 * KEPT)
    summarizing = SummarizationMiddleware(
        model,
        trigger=trigger,  # type: ignore[arg-type]
        keep=keep,  # type: ignore[arg-type]
        **options,
    )
    with open_memory(folder / "r.sqlite") as memory:
        agent: Any = create_agent(
            model, [look], middleware=[summarizing], checkpointer=memory.saver
        )
        agent.invoke(_question(), _config(), durability="sync")
    return model.seen


def _question() -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": QUESTION}]}


def _config() -> Any:
    return {"configurable": {"thread_id": "bench"}, "recursion_limit": 10_000}


def run_untrimmed(turns: int, folder: Path) -> Seen:
    return run_middleware(turns, folder, trim_tokens_to_summarize=None)


CONTENDERS: dict[str, Callable[[int, Path], Seen]] = {
    "rungs": run_rungs,
    "middleware, its defaults": run_middleware,  # sends its summarizer 4,000 tokens, or none at all
    "middleware, untrimmed": run_untrimmed,
}


def measured(name: str, turns: int) -> tuple[Seen, int]:
    """Run a contender on a new file, and return what it sent and the bytes it left."""
    with TemporaryDirectory() as folder:
        gc.collect()
        seen = CONTENDERS[name](turns, Path(folder))
        return seen, sum(file.stat().st_size for file in Path(folder).iterdir())


def cpu_by_thirds(seen: Seen) -> list[float]:
    """Return the CPU milliseconds of a turn in the first, second and last third of a run."""
    steps = [later - mark for mark, later in zip(seen.marks, seen.marks[1:], strict=False)]
    third = len(steps) // 3
    thirds = [steps[:third], steps[third : 2 * third], steps[2 * third :]]
    return [1000 * sum(part) / len(part) for part in thirds]


def main() -> None:
    for name in CONTENDERS:  # warms imports and caches up
        measured(name, 3)
    runs: dict[str, list[tuple[Seen, int]]] = {name: [] for name in CONTENDERS}
    for _ in range(REPEATS):
        for name in CONTENDERS:
            runs[name].append(measured(name, TURNS))
    rows = []
    for name, made in runs.items():
        seen, size = made[0]
        cpu = [min(values) for values in zip(*(cpu_by_thirds(s) for s, _ in made), strict=True)]
        rows.append(
            [
                name,
                f"{max(seen.tokens):,}",
                f"{seen.summaries}",
                f"{sum(seen.asked)}/{len(seen.asked)}",
                *(f"{value:.1f}" for value in cpu),
                f"{size:,}",
            ]
        )
    print(
        f"{TURNS} turns, observations of {SIZE:,} characters, window {WINDOW:,} tokens at {SHARE}"
    )
    print(
        table(
            [
                *("", "largest prompt", "summaries", "question in prompt"),
                *("ms/turn first", "middle", "last third", "bytes"),
            ],
            rows,
        )
    )
    print()
    print("Bytes of the database by turns: linear where a turn costs the same however many came")
    rows = []
    for turns in (30, 60, 120):
        sizes = [measured(name, turns)[1] for name in CONTENDERS]
        rows.append([str(turns), *(f"{size:,} ({size / turns:,.0f} a turn)" for size in sizes)])
    print(table(["turns", *CONTENDERS], rows))


if __name__ == "__main__":
    main()
