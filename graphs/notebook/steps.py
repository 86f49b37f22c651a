"""The steps of a run in a notebook, a line each as it happens, as `rungs ask` shows them."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from graphs.cli import steps as command_line
from graphs.cli.screen import Screen
from graphs.cli.telling import tell_call


class Steps:
    """Tells what `stream(..., stream_mode="updates")` yields.

        steps = Steps(graph, thread)
        for update in graph.stream(question, thread, stream_mode="updates"):
            steps.show(update)

    Args:
        graph: The graph, before its run or its resumed run begins.
        thread: The config that names the thread.
    """

    def __init__(
        self, graph: CompiledStateGraph[Any, Any, Any, Any], thread: RunnableConfig
    ) -> None:
        self._screen = Screen()
        before = graph.get_state(thread).values.get("messages") or []
        self._steps = command_line.Steps(self._screen, before)

    def show(self, update: Mapping[str, Any]) -> None:
        """Print what a step did; of a pause, the calls that wait for a person's yes."""
        self._steps.update(update)
        for pause in update.get("__interrupt__") or ():
            for action in pause.value["action_requests"]:
                called = tell_call(action["name"], action["args"])
                self._screen.text(f"  waits for a yes: {called}")
