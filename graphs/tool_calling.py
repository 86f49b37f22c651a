"""Tool calling with a yes where one is needed, each effect once (seed "AI Tool Calling").

A call that changes state waits for a person, who may approve, edit, reject or answer in its place,
now or in another process days later. It is entered in a ledger before it runs and after, so that no
crash, resume or double click lets it take effect twice. A run ends at the first reply without a
tool call, after ten tool calls with one last call without tools, or when the same call keeps giving
the same result.
"""

import os
from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph

import prompts
from graphs.context import ToolCallsContext
from graphs.model_source import ModelSource
from graphs.nodes import approve, call_model, finalize, run_tools, validate_calls
from graphs.rules import rule
from graphs.state import Input, Output, Standing, State
from tools import SHOP_FILE, Contract, as_contracts, load_tools

NAME = "tool_calling"
DESCRIPTION = "Tools that change things: a person approves, each effect happens at most once."
Context = ToolCallsContext

STEPS_TO_END = 4
"""Steps from a reply to the end: `validate_calls`, `approve`, `run_tools`, `finalize`."""


@rule
def after_model(
    state: Standing,
) -> Literal["tool calls", "answer", "ask again", "out of calls"]:
    """End at a text reply; a tool call goes on, and an empty reply is asked for once more."""
    if state.get("status"):
        return "answer"
    if state["remaining_steps"] <= STEPS_TO_END:
        return "out of calls"
    if state["progress"]["open_calls"]:
        return "tool calls"
    return "ask again" if after_round(state) == "next call" else "out of calls"


@rule
def after_validation(
    state: Standing,
) -> Literal["needs a yes", "valid calls", "next call", "out of calls"]:
    """Ask a person where a call needs it, run what may run, or send the errors back."""
    if state["progress"]["to_approve"]:
        return "needs a yes"
    return after_approval_of(state)


@rule
def after_approval(state: Standing) -> Literal["valid calls", "next call", "out of calls"]:
    """Run what may run, if anything is left to run."""
    return after_approval_of(state)


@rule
def after_tools(state: Standing) -> Literal["next call", "out of calls"]:
    """Let the model see the results, if it has a call left."""
    return after_round(state)


def after_approval_of(state: Standing) -> Literal["valid calls", "next call", "out of calls"]:
    """Say whether calls are left to run."""
    return "valid calls" if state.get("calls") else after_round(state)


def after_round(state: Standing) -> Literal["next call", "out of calls"]:
    """Stop after the given number of tool calls, when stuck, or where LangGraph has no room."""
    progress = state["progress"]
    spent = max(progress["calls"], progress["rounds"]) >= progress["cap"]
    over = spent or progress["stuck"] or state["remaining_steps"] <= STEPS_TO_END + 1
    return "out of calls" if over else "next call"


def _own_tools() -> list[Contract]:
    return load_tools(os.environ.get("RUNGS_TOOLS") or SHOP_FILE)


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
    contracts = _own_tools() if tools is None else as_contracts(tools, trusting=False)
    source = ModelSource(model, contracts)
    prompt = prompts.with_tools(
        prompts.load("system_prompt_with_tools", names={"company", "memory_notes"}), contracts
    )
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        State, context_schema=Context, input_schema=Input, output_schema=Output
    )

    builder.add_node("call_model", call_model(source, prompt, tools=contracts, context=Context))
    builder.add_node(
        "validate_calls",
        validate_calls(contracts, context=Context, approval=True, stop_repeats=True),
    )
    builder.add_node("approve", approve(contracts, context=Context))
    builder.add_node("run_tools", run_tools(contracts, context=Context))
    builder.add_node("finalize", finalize(source, prompt, context=Context, counted="tool call"))

    builder.add_edge(START, "call_model")
    builder.add_conditional_edges(
        "call_model",
        after_model,
        {
            "tool calls": "validate_calls",
            "answer": END,
            "ask again": "call_model",
            "out of calls": "finalize",
        },
    )
    builder.add_conditional_edges(
        "validate_calls",
        after_validation,
        {
            "needs a yes": "approve",
            "valid calls": "run_tools",
            "next call": "call_model",
            "out of calls": "finalize",
        },
    )
    builder.add_conditional_edges(
        "approve",
        after_approval,
        {"valid calls": "run_tools", "next call": "call_model", "out of calls": "finalize"},
    )
    builder.add_conditional_edges(
        "run_tools", after_tools, {"next call": "call_model", "out of calls": "finalize"}
    )
    builder.add_edge("finalize", END)
    return builder


graph = build().compile(name=NAME)
