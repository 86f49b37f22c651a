"""Rung 1 of the ladder: one augmented call (seed "The Augmented LLM").

The model may call tools, but only one round of them, side by side, and then it must answer. This is
the cheapest rung, and it answers a surprising fraction of real questions. What it can't do is
structural: no call of the round can use what another one found. Then its answer says that it is
incomplete, and the run is flagged as having hit the limit.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import langgraph.types  # noqa: F401 - before langchain_core: the other order takes a third longer
from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph

from graphs.action_space import action_space
from graphs.incomplete import judged
from graphs.nodes import answer, approve, call_model, run_tools, validate_calls
from graphs.rules import AfterReply, after_reply, rule
from graphs.rung_contexts import OneCallContext
from graphs.state import Input, Output, Standing, State, current
from graphs.wiring import wire

NAME = "one_call"
DESCRIPTION = "Rung 1: one round of tool calls, then the answer."
Context = OneCallContext

STEPS_TO_END = 4
"""Steps from a reply with calls to the end: `validate_calls`, `approve`, `run_tools`, `answer`."""

AFTER = "one tool round"


@rule
def after_model(state: Standing) -> AfterReply:
    """Run the one round, if the model asks for it; a text reply is the answer."""
    return after_reply(state, steps_to_end=STEPS_TO_END, over=False)


@rule
def after_validation(
    state: Standing,
) -> Literal["needs a yes", "valid calls", "no valid call"]:
    """Ask a person where a call needs it, and run what may run; a bad call has no second round."""
    progress = current(state)
    if progress and progress["to_approve"]:
        return "needs a yes"
    return "valid calls" if state.get("calls") else "no valid call"


@rule
def after_approval(state: Standing) -> Literal["valid calls", "no valid call"]:
    """Run what is left to run."""
    return "valid calls" if state.get("calls") else "no valid call"


@rule
def after_answer(state: Standing) -> Literal["answer", "ask again"]:
    """Ask once more where the reply was empty."""
    return "answer" if state.get("status") else "ask again"


def build(
    *, model: BaseChatModel | str | None = None, tools: Sequence[Any] | None = None
) -> StateGraph[State, Context, Input, Output]:
    """Build the graph, uncompiled.

    Args:
        model: A chat model or a `provider:name`; None takes the run's `context.model`.
        tools: Tools, functions or JSON schemas with a callable. None takes the file that
            `RUNGS_TOOLS` names, or `ladder.toml`. `finish`, which ends a loop, is left out.

    Raises:
        ContractError: A tool can't be offered.
        ToolsFileError: The tools file is wrong.
        ModelError: The model can't be used as it is configured.
    """
    contracts = action_space(tools)
    builder, source, prompt = wire(model, contracts, Context, prompt="one_call")

    builder.add_node(
        "call_model",
        call_model(
            source, prompt, tools=contracts, context=Context, judge=partial(judged, after=AFTER)
        ),
    )
    builder.add_node("validate_calls", validate_calls(contracts, context=Context, approval=True))
    builder.add_node("approve", approve(contracts, context=Context))
    builder.add_node("run_tools", run_tools(contracts, context=Context))
    builder.add_node(
        "answer", answer(source, prompt, tools=contracts, context=Context, after=AFTER)
    )

    builder.add_edge(START, "call_model")
    builder.add_conditional_edges(
        "call_model",
        after_model,
        {
            "tool calls": "validate_calls",
            "answer": END,
            "ask again": "call_model",
            "out of rounds": "answer",
        },
    )
    builder.add_conditional_edges(
        "validate_calls",
        after_validation,
        {"needs a yes": "approve", "valid calls": "run_tools", "no valid call": "answer"},
    )
    builder.add_conditional_edges(
        "approve", after_approval, {"valid calls": "run_tools", "no valid call": "answer"}
    )
    builder.add_edge("run_tools", "answer")
    builder.add_conditional_edges("answer", after_answer, {"answer": END, "ask again": "answer"})
    return builder


graph = build().compile(name=NAME)
