"""The ladder: the cheapest rung first, a higher one on a named failure (seed "The Augmented LLM").

It starts at the lowest rung and climbs when that one says its answer is incomplete, hits its cap,
has its record rejected or stays silent. What was found goes up: the next rung starts from the calls
and results of those below. Each rung leaves a receipt. A refusal, or a model that can't be reached,
ends it: no rung would do better. `rungs=` names others.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Literal, NotRequired

import langgraph.types  # noqa: F401 - before langchain_core: the other order takes a third longer
from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from graphs.errors import UsageError
from graphs.names import is_node_name
from graphs.nodes import climb
from graphs.receipts import Receipt
from graphs.rules import rule
from graphs.rung_contexts import LadderContext
from graphs.state import Input, Output, State
from graphs.variants import GRAPHS

NAME = "ladder"
DESCRIPTION = "The lowest rung that answers: it climbs on a named failure, a receipt a rung."
Context = LadderContext

RUNGS = ("one_call", "fixed_workflow", "full_agent")


class LadderState(State):
    """The shared state, and the receipts of the newest run's rungs, lowest first."""

    receipts: NotRequired[list[Receipt]]


class LadderOutput(Output):
    """What a run returns: the outcome of the rung it ended on, and all receipts."""

    receipts: list[Receipt]


class Receipts(TypedDict):
    """The part of the state that the rule looks at."""

    receipts: NotRequired[list[Receipt]]


@rule
def after_rung(state: Receipts) -> Literal["done", "named failure"]:
    """Climb on a named failure, which the receipt tells; any other end is the ladder's too."""
    receipts = state.get("receipts") or []
    return "named failure" if receipts and receipts[-1]["failure"] else "done"


def build(
    *,
    model: BaseChatModel | str | None = None,
    tools: Sequence[Any] | None = None,
    rungs: Sequence[str | tuple[str, StateGraph[Any, Any, Any, Any]]] = RUNGS,
) -> StateGraph[LadderState, Context, Input, LadderOutput]:
    """Build the graph, uncompiled.

    Args:
        model: A chat model or a `provider:name`; None takes the run's `context.model`.
        tools: Tools, functions or JSON schemas with a callable, for every rung. None takes each
            rung's own.
        rungs: The rungs, lowest first: names in `GRAPHS`, or a name and an uncompiled graph of
            one's own.

    Raises:
        UsageError: The rungs are no ladder.
        ContractError: A tool can't be offered.
        ToolsFileError: The tools file is wrong.
        ModelError: The model can't be used as it is configured.
    """
    built = _built(rungs, model, tools)
    names = list(built)
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        LadderState, context_schema=Context, input_schema=Input, output_schema=LadderOutput
    )

    for name, graph in built.items():
        rung = graph.compile(name=name)
        builder.add_node(
            name,
            climb(rung, name=name, context=Context, first=name == names[0], last=name == names[-1]),
        )

    builder.add_edge(START, names[0])
    for name, higher in pairwise(names):
        builder.add_conditional_edges(name, after_rung, {"done": END, "named failure": higher})
    builder.add_edge(names[-1], END)
    return builder


def _built(
    rungs: Sequence[str | tuple[str, StateGraph[Any, Any, Any, Any]]],
    model: BaseChatModel | str | None,
    tools: Sequence[Any] | None,
) -> dict[str, StateGraph[Any, Any, Any, Any]]:
    """Build the graphs of the rungs, by name.

    Raises:
        UsageError: There is none, one comes twice, or one does not exist.
    """
    built: dict[str, StateGraph[Any, Any, Any, Any]] = {}
    if isinstance(rungs, str) or not isinstance(rungs, Iterable):
        rungs = [rungs]
    for name, graph in map(_named, rungs):
        if name in built:
            raise UsageError(f"the rung {name!r} comes twice: name each once")
        if graph is None and (name == NAME or name not in GRAPHS):
            known = ", ".join(other for other in GRAPHS if other != NAME)
            raise UsageError(f"there is no rung {name!r}; there are: {known}")
        if not is_node_name(name):
            raise UsageError(f"a rung can't be called {name!r}: take another word for it")
        built[name] = graph or GRAPHS[name].build(model=model, tools=tools)
    if not built:
        raise UsageError("a ladder has at least one rung: name one")
    return built


def _named(rung: Any) -> tuple[str, StateGraph[Any, Any, Any, Any] | None]:
    """Read a rung: a name, or a name and a graph."""
    if isinstance(rung, str):
        return rung, None
    match rung:
        case (str() as name, StateGraph() as graph):
            return name, graph
    raise UsageError(f"a rung is a name, or a name and an uncompiled graph, not {rung!r}")


graph = build().compile(name=NAME)
