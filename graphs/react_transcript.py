"""Thought, Action and Observation by turns (seed "ReAct", Transcript only).

One model writes a Thought and an Action, is shown the Observation, and chooses the next action from
it, until it writes a Final Answer. Its replies are text, read by a parser; what it writes behind
its action is dropped, and no Observation can be taken for an action or an answer. After ten turns
it is told that it must answer now, and that answer is flagged. The same action three times in a row
ends the run as stuck.
"""

from collections.abc import Sequence
from typing import Any

import langgraph.types  # noqa: F401 - before langchain_core: the other order takes a third longer
from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph

from graphs.nodes import approve, run_tools, validate_calls
from graphs.nodes.call_react_model import call_react_model
from graphs.nodes.finalize_react import finalize_react
from graphs.react.context import ReactContext
from graphs.react.rules import after_approval, after_model, after_tools, after_validation
from graphs.react.views import WholeTranscript
from graphs.react.wiring import wire_react
from graphs.state import Input, Output, State
from tools import as_contracts, load_tools

NAME = "react_transcript"
DESCRIPTION = "Thought, Action and Observation in turn, the whole transcript before the model."
Context = ReactContext


def build(
    *, model: BaseChatModel | str | None = None, tools: Sequence[Any] | None = None
) -> StateGraph[State, Context, Input, Output]:
    """Build the graph, uncompiled.

    Args:
        model: A chat model or a `provider:name`; None takes the run's `context.model`.
        tools: Tools, functions or JSON schemas with a callable; None takes `tools.toml`.

    Raises:
        ContractError: A tool can't be offered.
        ToolsFileError: The tools file is wrong.
        ModelError: The model can't be used as it is configured.
    """
    contracts = load_tools() if tools is None else as_contracts(tools, spoken=True)
    builder, source, prompt = wire_react(model, contracts, Context)
    recall = WholeTranscript()

    builder.add_node(
        "call_model", call_react_model(source, prompt, recall, tools=contracts, context=Context)
    )
    builder.add_node("validate_calls", validate_calls(contracts, context=Context, approval=True))
    builder.add_node("approve", approve(contracts, context=Context))
    builder.add_node("run_tools", run_tools(contracts, context=Context))
    builder.add_node("finalize", finalize_react(source, prompt, recall, context=Context))

    builder.add_edge(START, "call_model")
    builder.add_conditional_edges(
        "call_model",
        after_model,
        {
            "action": "validate_calls",
            "ended": END,
            "next turn": "call_model",
            "out of turns": "finalize",
        },
    )
    builder.add_conditional_edges(
        "validate_calls",
        after_validation,
        {
            "needs a yes": "approve",
            "valid action": "run_tools",
            "next turn": "call_model",
            "out of turns": "finalize",
        },
    )
    builder.add_conditional_edges(
        "approve",
        after_approval,
        {"valid action": "run_tools", "next turn": "call_model", "out of turns": "finalize"},
    )
    builder.add_conditional_edges(
        "run_tools", after_tools, {"next turn": "call_model", "out of turns": "finalize"}
    )
    builder.add_edge("finalize", END)
    return builder


graph = build().compile(name=NAME)
