"""Rung 2 of the ladder: a workflow whose route its author wired (seed "The Augmented LLM").

Retrieve, retrieve again with what was found, synthesize: a model call each, with a prompt and tools
of its own, the same on every question. That makes it predictable and easy to budget, and it fits
the one shape of question it was wired for: where one search is enough the second is pointless, and
where three are needed it stops one short, which its answer then says. `steps=` wires another route.
"""

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any, Literal

import langgraph.types  # noqa: F401 - before langchain_core: the other order takes a third longer
from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph

from graphs.action_space import action_space
from graphs.model_source import ANY, ModelSource
from graphs.nodes import answer, approve, run_tools, take_step, validate_calls
from graphs.rules import Rule, rule
from graphs.rung_contexts import WorkflowContext
from graphs.state import Input, Output, Standing, State, current
from graphs.wiring import wire
from graphs.workflow_steps import STEPS, Step, read_steps

NAME = "fixed_workflow"
DESCRIPTION = "Rung 2: a route wired in advance: retrieve, retrieve again, synthesize."
Context = WorkflowContext

__all__ = ["DESCRIPTION", "NAME", "STEPS", "Context", "Step", "build", "graph"]


@rule
def after_step(state: Standing) -> Literal["tool calls", "no tool call", "ended"]:
    """Go on with the step's calls; without one the next step follows all the same."""
    if state.get("status"):
        return "ended"
    progress = current(state)
    return "tool calls" if progress and progress["open_calls"] else "no tool call"


@rule
def after_answer(state: Standing) -> Literal["answer", "ask again"]:
    """Ask once more where the reply was empty."""
    return "answer" if state.get("status") else "ask again"


def next_of(steps: int) -> Rule:
    """Make the rule that numbers the step after the one that called; the author wired them."""

    def next_step(state: Standing) -> str:
        progress = current(state)
        done = progress["rounds"] if progress else 0
        return f"step {min(done + 1, steps)}"

    return rule(next_step)


def call_or(following: Rule) -> Rule:
    """Make the rule after the check of a step's calls: ask, run, or go on to the next step."""

    def after_validation(state: Standing) -> str:
        progress = current(state)
        if progress and progress["to_approve"]:
            return "needs a yes"
        return "valid calls" if state.get("calls") else following.invoke(state)

    return rule(after_validation)


def build(
    *,
    model: BaseChatModel | str | None = None,
    tools: Sequence[Any] | None = None,
    steps: Sequence[Step | str] | None = None,
) -> StateGraph[State, Context, Input, Output]:
    """Build the graph, uncompiled.

    Args:
        model: A chat model or a `provider:name`; None takes the run's `context.model`.
        tools: Tools, functions or JSON schemas with a callable. None takes the file that
            `RUNGS_TOOLS` names, or `ladder.toml`. `finish`, which ends a loop, is left out.
        steps: The route: `Step` objects, or names of the shipped ones (`retrieve`,
            `retrieve_again`, `synthesize`), of which one may come again. The last has no tools.

    Raises:
        UsageError: The steps are no workflow.
        ContractError: A tool can't be offered.
        ToolsFileError: The tools file is wrong.
        ModelError: The model can't be used as it is configured.
    """
    contracts = action_space(tools)
    route = read_steps(steps)
    names = [step.name for step in route]
    following = next_of(len(names))
    after = f"a workflow of {len(route)} steps"
    builder, plain, _ = wire(model, contracts, Context)
    source = ModelSource(model, contracts, forced=ANY)

    for place, step in enumerate(route[:-1]):
        own = step.own_tools(contracts)
        builder.add_node(
            step.name,
            take_step(
                source,
                step.system_prompt(own, Context),
                tools=own,
                context=Context,
                name=step.name,
                first=place == 0,
            ),
        )
    builder.add_node("validate_calls", validate_calls(contracts, context=Context, approval=True))
    builder.add_node("approve", approve(contracts, context=Context))
    builder.add_node("run_tools", run_tools(contracts, context=Context))
    builder.add_node(
        names[-1],
        answer(
            plain,
            route[-1].system_prompt([], Context),
            tools=contracts,
            context=Context,
            after=after,
            name=names[-1],
        ),
    )

    builder.add_edge(START, names[0])
    for name, next_name in pairwise(names):
        builder.add_conditional_edges(
            name,
            after_step,
            {"tool calls": "validate_calls", "no tool call": next_name, "ended": END},
        )
    later: dict[Hashable, str] = {f"step {n}": name for n, name in enumerate(names[1:], start=2)}
    builder.add_conditional_edges(
        "validate_calls",
        call_or(following),
        {"needs a yes": "approve", "valid calls": "run_tools", **later},
    )
    builder.add_conditional_edges(
        "approve", call_or(following), {"valid calls": "run_tools", **later}
    )
    builder.add_conditional_edges("run_tools", following, later)
    builder.add_conditional_edges(names[-1], after_answer, {"answer": END, "ask again": names[-1]})
    return builder


graph = build().compile(name=NAME)
