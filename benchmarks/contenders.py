"""What is compared: `tools_in_context` and `create_agent`, on the same model, tool and saver."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from benchmarks.measure import cpu_ms
from graphs import open_graph
from graphs.memory import open_memory
from tools import contract

QUESTION = {"messages": [{"role": "user", "content": "Look everything up, and say when done."}]}


class RoundsModel(BaseChatModel):
    """Calls `look` for a number of rounds, then answers; costs next to nothing itself."""

    rounds: int

    @property
    def _llm_type(self) -> str:
        return "rounds"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "RoundsModel":  # type: ignore[override]
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        done = sum(message.type == "tool" for message in messages)
        reply = AIMessage("Done.")
        if done < self.rounds:
            call = {"id": f"call_{done}", "name": "look", "args": {"query": f"number {done}"}}
            reply = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=reply)])


def looking(size: int) -> Any:
    """Make a tool whose result has so many characters."""
    text = ("row of a result " * (size // 16 + 1))[:size]

    def look(query: str) -> str:
        """Look something up."""
        return text

    return look


def run_rungs(model: BaseChatModel, rounds: int, size: int, keep: Path | None = None) -> float:
    """Run `tools_in_context`, warm, and return the CPU milliseconds of a round."""
    context = {"max_tool_rounds": max(rounds, 1) + 1}
    with TemporaryDirectory() as folder:
        db = keep or Path(folder) / "r.sqlite"
        # What only reads is kept in no ledger; `create_agent` has none.
        look = contract(looking(size), effect="read_only")
        with open_graph("tools_in_context", db=db, model=model, tools=[look]) as graph:
            return _measured(graph, rounds, warm=keep is None, context=context)


def run_create_agent(
    model: BaseChatModel, rounds: int, size: int, keep: Path | None = None
) -> float:
    """Run `create_agent` on the same saver, and return the same."""
    with TemporaryDirectory() as folder, open_memory(keep or Path(folder) / "r.sqlite") as memory:
        agent: Any = create_agent(model, [looking(size)], checkpointer=memory.saver)
        return _measured(agent, rounds, warm=keep is None)


def _measured(graph: Any, rounds: int, *, warm: bool, **kwargs: Any) -> float:
    """Run a graph once to warm it up, where that is wanted, and once more in another thread."""
    if warm:
        graph.invoke(QUESTION, _config("warm"), durability="sync", **kwargs)
    cost = cpu_ms(lambda: graph.invoke(QUESTION, _config("bench"), durability="sync", **kwargs))
    return cost / max(rounds, 1)


def _config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}, "recursion_limit": 10_000}
