"""Tool calling with a yes where one is needed, each effect once (seed "AI Tool Calling").

A call that changes state waits for a person, who may approve, edit, reject or answer in its place,
now or in another process days later. It is entered in a ledger before it runs and after, so that no
crash, resume or double click lets it take effect twice: in the graph's store, which `open_graph`
brings and a server too. On a memory file and on Postgres that holds between processes; another
store tells two answers at the same moment apart in one process alone; and so does, until the
process ends, a graph that is compiled with a checkpointer and no `store=`, which a warning says. A
run ends at the first reply without a tool call, after ten tool calls with one last call without
tools, or when the same call comes a fourth time in a row; the third is answered with a warning. A
tool that only reads may be polled, as long as its results differ.
"""

import os
from collections.abc import Sequence
from typing import Any, Literal

import langgraph.types  # noqa: F401 - before langchain_core: the other order takes a third longer
from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph

from graphs.context import ToolCallsContext
from graphs.nodes import approve, call_model, finalize, run_tools, validate_calls
from graphs.rules import (
    AfterReply,
    Onward,
    after_check,
    after_checked_reply,
    onward,
    over_budget,
    rule,
)
from graphs.state import Input, Output, Replied, Standing, State
from graphs.wiring import wire
from tools import SHOP_FILE, as_contracts, load_tools

NAME = "tool_calling"
DESCRIPTION = "Tools that change things: a person approves, each effect happens at most once."
Context = ToolCallsContext

STEPS_TO_END = 4
"""Steps from a reply to the end: `validate_calls`, `approve`, `run_tools`, `finalize`."""


@rule
def after_model(state: Replied) -> Literal["sound calls"] | AfterReply:
    """End at a text reply; a tool call goes on, and an empty reply is asked for once more."""
    return after_checked_reply(state, steps_to_end=STEPS_TO_END, over=is_over(state))


@rule
def after_validation(state: Standing) -> Literal["needs a yes"] | Onward:
    """Ask a person where a call needs it, run what may run, or send the errors back."""
    return after_check(state, over=is_over(state))


@rule
def after_approval(state: Standing) -> Onward:
    """Run what may run, if anything is left to run."""
    return onward(state, over=is_over(state))


@rule
def after_tools(state: Standing) -> Literal["next round", "out of rounds"]:
    """Let the model see the results, if it has a call left."""
    return "out of rounds" if is_over(state) else "next round"


def is_over(state: Standing) -> bool:
    """Tell whether the tool calls are used up, the run is stuck, or LangGraph leaves no room."""
    return over_budget(state, "calls", "rounds", steps_to_end=STEPS_TO_END)


def build(
    *, model: BaseChatModel | str | None = None, tools: Sequence[Any] | None = None
) -> StateGraph[State, Context, Input, Output]:
    """Build the graph, uncompiled.

    Args:
        model: A chat model or a `provider:name`; None takes the run's `context.model`.
        tools: Tools, functions or JSON schemas with a callable; one of which nothing more is known
            needs a person's yes (`contract(tool, effect="read_only")` says more). None takes the
            file that `RUNGS_TOOLS` names, or `shop.toml`, the tools of the demo shop.

    Raises:
        ContractError: A tool can't be offered.
        ToolsFileError: The tools file is wrong.
        ModelError: The model can't be used as it is configured.
    """
    own = os.environ.get("RUNGS_TOOLS") or SHOP_FILE
    contracts = load_tools(own) if tools is None else as_contracts(tools, trusting=False)
    builder, source, prompt = wire(model, contracts, Context)

    builder.add_node(
        "call_model", call_model(source, prompt, tools=contracts, context=Context, straight=True)
    )
    builder.add_node("validate_calls", validate_calls(contracts, context=Context, approval=True))
    builder.add_node("approve", approve(contracts, context=Context))
    builder.add_node("run_tools", run_tools(contracts, context=Context))
    builder.add_node("finalize", finalize(source, prompt, context=Context, counted="tool call"))

    builder.add_edge(START, "call_model")
    builder.add_conditional_edges(
        "call_model",
        after_model,
        {
            "sound calls": "run_tools",
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
        "run_tools", after_tools, {"next round": "call_model", "out of rounds": "finalize"}
    )
    builder.add_edge("finalize", END)
    return builder


graph = build().compile(name=NAME)
