"""ReAct past the context limit: its history summarized when it nears it (seed "ReAct", Compaction).

Before each model call the tokens of the request are counted. At three quarters of the window the
turns but the last three go to a summarizer, and the model is sent the question byte for byte, the
summary, and the kept turns word for word. The record itself stays whole. A summarizer that fails
twice costs the oldest half of the turns, and the log says so and why. Where that is not enough,
earlier exchanges of the thread are left out, the oldest first; a window that stays over the
threshold ends the run with the summary.
"""

from collections.abc import Sequence
from typing import Any

import langgraph.types  # noqa: F401 - before langchain_core: the other order takes a third longer
from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph

from graphs.nodes import approve, run_tools, validate_calls
from graphs.nodes.call_react_model import call_react_model
from graphs.nodes.compact import compact
from graphs.nodes.count_tokens import WindowCounter, count_tokens
from graphs.nodes.finalize_react import finalize_react
from graphs.react.compaction_rules import after_compaction, after_count
from graphs.react.context import CompactionContext
from graphs.react.counting import TokenCounter
from graphs.react.rules import after_approval, after_model, after_tools, after_validation
from graphs.react.summary import CompactionOutput, CompactionState, Summarized
from graphs.react.wiring import wire_react
from graphs.state import Input
from tools import as_contracts, load_tools

NAME = "react_compaction"
DESCRIPTION = "A long ReAct run that summarizes its history when it nears the context limit."
Context = CompactionContext


def build(
    *,
    model: BaseChatModel | str | None = None,
    tools: Sequence[Any] | None = None,
    token_counter: TokenCounter | None = None,
) -> StateGraph[CompactionState, Context, Input, CompactionOutput]:
    """Build the graph, uncompiled.

    Args:
        model: A chat model or a `provider:name`; None takes the run's `context.model`.
        tools: Tools, functions or JSON schemas with a callable; None takes `tools.toml`.
        token_counter: Counts the messages about to be sent, as LangChain's `trim_messages` takes
            it; None goes by the model's own usage where it tells it, else by tiktoken or an
            estimate.

    Raises:
        ContractError: A tool can't be offered.
        ToolsFileError: The tools file is wrong.
        ModelError: The model can't be used as it is configured.
    """
    contracts = load_tools() if tools is None else as_contracts(tools, spoken=True)
    builder, source, prompt = wire_react(
        model, contracts, Context, state=CompactionState, output=CompactionOutput
    )
    recall = Summarized()
    counter = WindowCounter(source, prompt, token_counter)

    builder.add_node("count_tokens", count_tokens(counter, context=Context))
    builder.add_node("compact", compact(source, counter, context=Context))
    builder.add_node(
        "call_model", call_react_model(source, prompt, recall, tools=contracts, context=Context)
    )
    builder.add_node("validate_calls", validate_calls(contracts, context=Context, approval=True))
    builder.add_node("approve", approve(contracts, context=Context))
    builder.add_node("run_tools", run_tools(contracts, context=Context))
    builder.add_node("finalize", finalize_react(source, prompt, recall, context=Context))

    builder.add_edge(START, "count_tokens")
    builder.add_conditional_edges(
        "count_tokens",
        after_count,
        {"fits": "call_model", "near the limit": "compact", "out of turns": "finalize"},
    )
    builder.add_conditional_edges(
        "compact",
        after_compaction,
        {"fits": "call_model", "exhausted": END, "out of turns": "finalize"},
    )
    builder.add_conditional_edges(
        "call_model",
        after_model,
        {
            "action": "validate_calls",
            "ended": END,
            "next turn": "count_tokens",
            "out of turns": "finalize",
        },
    )
    builder.add_conditional_edges(
        "validate_calls",
        after_validation,
        {
            "needs a yes": "approve",
            "valid action": "run_tools",
            "next turn": "count_tokens",
            "out of turns": "finalize",
        },
    )
    builder.add_conditional_edges(
        "approve",
        after_approval,
        {"valid action": "run_tools", "next turn": "count_tokens", "out of turns": "finalize"},
    )
    builder.add_conditional_edges(
        "run_tools", after_tools, {"next turn": "count_tokens", "out of turns": "finalize"}
    )
    builder.add_edge("finalize", END)
    return builder


graph = build().compile(name=NAME)
