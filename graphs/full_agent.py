"""Rung 3 of the ladder: the agent that chooses at run time (seed "The Augmented LLM").

The model picks the next tool call after reading what the last one returned, and nobody wired how
many there will be. The loop ends when it calls `finish` with its answer, or at the step budget: ten
steps, then one last call without tools, flagged as having hit the limit. A reply in plain text,
without a call, is taken for the answer too. An answer that calls itself incomplete is flagged like
one at the limit: ten steps, or the fewer that the model took, were not enough.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, cast

import langgraph.types  # noqa: F401 - before langchain_core: the other order takes a third longer
from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph

from graphs.action_space import FINISH, action_space
from graphs.context import StepsContext
from graphs.incomplete import judged
from graphs.nodes import approve, call_model, finalize, finish, run_tools, validate_calls
from graphs.nodes.finish import finishing_result
from graphs.rules import (
    AfterReply,
    Onward,
    after_check,
    after_reply,
    onward,
    over_budget,
    rule,
)
from graphs.state import Input, Output, Standing, State
from graphs.wiring import wire

NAME = "full_agent"
DESCRIPTION = "Rung 3: the model chooses each next step, until it calls finish."
Context = StepsContext

STEPS_TO_END = 4
"""Steps from a reply to the end: `validate_calls`, `approve`, `run_tools`, `finalize`."""

AFTER = "the agent's loop"


@rule
def after_model(state: Standing) -> AfterReply:
    """Go on with the reply's calls; a text reply is the answer."""
    return after_reply(state, steps_to_end=STEPS_TO_END, over=is_over(state))


@rule
def after_validation(state: Standing) -> Literal["needs a yes"] | Onward:
    """Ask a person where a call needs it, run what may run, or let the model read the errors."""
    return after_check(state, over=is_over(state))


@rule
def after_approval(state: Standing) -> Onward:
    """Run what may run, if anything is left to run."""
    return onward(state, over=is_over(state))


@rule
def after_tools(state: State) -> Literal["finished", "next round", "out of rounds"]:
    """End at a `finish` that ran; else the model reads the results, if it has a step left."""
    if finishing_result(state, FINISH):
        return "finished"
    return "out of rounds" if is_over(cast("Standing", state)) else "next round"


def is_over(state: Standing) -> bool:
    """Tell whether the step budget is used up, or LangGraph leaves no room for another step."""
    return over_budget(state, "rounds", steps_to_end=STEPS_TO_END)


def build(
    *, model: BaseChatModel | str | None = None, tools: Sequence[Any] | None = None
) -> StateGraph[State, Context, Input, Output]:
    """Build the graph, uncompiled.

    Args:
        model: A chat model or a `provider:name`; None takes the run's `context.model`.
        tools: Tools, functions or JSON schemas with a callable; one named `finish` ends the loop,
            and is added where there is none. None takes the file that `RUNGS_TOOLS` names, or
            `ladder.toml`.

    Raises:
        ContractError: A tool can't be offered.
        ToolsFileError: The tools file is wrong.
        ModelError: The model can't be used as it is configured.
    """
    contracts = action_space(tools, loop=True)
    builder, source, prompt = wire(model, contracts, Context, prompt="full_agent")

    builder.add_node(
        "call_model",
        call_model(
            source, prompt, tools=contracts, context=Context, judge=partial(judged, after=AFTER)
        ),
    )
    builder.add_node("validate_calls", validate_calls(contracts, context=Context, approval=True))
    builder.add_node("approve", approve(contracts, context=Context))
    builder.add_node("run_tools", run_tools(contracts, context=Context))
    builder.add_node("finish", finish(source, tool=FINISH, context=Context, after=AFTER))
    builder.add_node("finalize", finalize(source, prompt, context=Context, counted="step"))

    builder.add_edge(START, "call_model")
    builder.add_conditional_edges(
        "call_model",
        after_model,
        {
            "tool calls": "validate_calls",
            "answer": END,
            "ask again": "call_model",
            "out of rounds": "finalize",
        },
    )
    builder.add_conditional_edges(
        "validate_calls",
        after_validation,
        {
            "needs a yes": "approve",
            "valid calls": "run_tools",
            "next round": "call_model",
            "out of rounds": "finalize",
        },
    )
    builder.add_conditional_edges(
        "approve",
        after_approval,
        {"valid calls": "run_tools", "next round": "call_model", "out of rounds": "finalize"},
    )
    builder.add_conditional_edges(
        "run_tools",
        after_tools,
        {"finished": "finish", "next round": "call_model", "out of rounds": "finalize"},
    )
    builder.add_edge("finish", END)
    builder.add_edge("finalize", END)
    return builder


graph = build().compile(name=NAME)
