"""A model that is shown two tools, whatever the number behind them (seed "ToolSearch").

`tool_search` finds tools by what they do and tells their parameters, `tool_call` runs one of them
by its name. What the model is shown stays the same however many tools there are. A call through
`tool_call` is a call of the tool that it names: approval, read-only, cache, timeout, ledger and
audit look at that tool and its arguments, and a failure says its code and whether another try may
help. After ten rounds, searches included, one last call without tools gives the answer, flagged as
having hit the limit.
"""

from collections.abc import Sequence
from typing import Any

import langgraph.types  # noqa: F401 - before langchain_core: the other order takes a third longer
from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph

from graphs.context import ToolSearchContext
from graphs.deferred import PresentedReach
from graphs.library import as_catalog
from graphs.nodes import (
    approve,
    call_model,
    finalize,
    run_tools,
    search_catalog,
    validate_calls,
)
from graphs.search_rules import (
    after_approval,
    after_model,
    after_search,
    after_tools,
    after_validation,
)
from graphs.state import Input, Output, State
from graphs.wiring import wire
from tools.catalog import Catalog
from tools.late_catalog import source_of
from tools.search_tools import Library, toolkit_call, toolkit_search

NAME = "tool_search_toolkit"
DESCRIPTION = "Two tools for any number: one finds tools, one calls what was found."
Context = ToolSearchContext


def build(
    *,
    model: BaseChatModel | str | None = None,
    tools: Sequence[Any] | None = None,
    catalog: Catalog | Sequence[Any] | None = None,
) -> StateGraph[State, Context, Input, Output]:
    """Build the graph, uncompiled.

    Args:
        model: A chat model or a `provider:name`; None takes the run's `context.model`.
        tools: The tools that are presented: tools, functions or JSON schemas with a callable; one
            of which nothing more is known runs without a yes (`contract(tool, effect=...)` says
            more). None takes the file that `RUNGS_TOOLS` names, or `library.toml`.
        catalog: A catalog in place of `tools`; it may change while the graph is used.

    Raises:
        ContractError: A tool can't be offered.
        ModelError: The model can't be used as it is configured.
        ToolsFileError: The tools file is wrong.
        UsageError: Both `tools` and `catalog` are given.
    """
    catalog = as_catalog(tools, catalog)
    shown = [toolkit_search(), toolkit_call(Library(lambda: catalog))]
    reach = PresentedReach(shown, catalog)
    builder, source, prompt = wire(
        model,
        shown,
        Context,
        reach=reach,
        library=source_of(catalog),
        prompt="system_prompt_with_tool_search",
    )

    builder.add_node("call_model", call_model(source, prompt, tools=reach, context=Context))
    builder.add_node("validate_calls", validate_calls(reach, context=Context, approval=True))
    builder.add_node("search_catalog", search_catalog(catalog, reach, context=Context, loads=False))
    builder.add_node("approve", approve(reach, context=Context))
    builder.add_node("run_tools", run_tools(reach, context=Context))
    builder.add_node("finalize", finalize(source, prompt, context=Context))

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
            "searches": "search_catalog",
            "needs a yes": "approve",
            "valid calls": "run_tools",
            "next round": "call_model",
            "out of rounds": "finalize",
        },
    )
    builder.add_conditional_edges(
        "search_catalog",
        after_search,
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
