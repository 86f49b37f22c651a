"""A model that searches a large library for its tools (seed "Augmented LLM", Deferred tool search).

A request begins with one tool, `tool_search`. What a search finds is loaded: it is in the tool list
of every later call of the request, and can be called like any other tool; a new question begins
with `tool_search` alone again. A call of a tool that is not loaded does not run, and its result
names `tool_search`. A call that needs a person's yes waits for it. After six rounds, searches
included, one last call without tools gives the answer, flagged as having hit the limit.
"""

from collections.abc import Sequence
from typing import Any

import langgraph.types  # noqa: F401 - before langchain_core: the other order takes a third longer
from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph

from graphs.context import DeferredContext
from graphs.deferred import DeferredReach
from graphs.library import always_loaded_of, as_catalog
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
from tools.search_tools import loading_search

NAME = "deferred_tool_search"
DESCRIPTION = "A large library of tools: the model searches it, and what it finds is loaded."
Context = DeferredContext


def build(
    *,
    model: BaseChatModel | str | None = None,
    tools: Sequence[Any] | None = None,
    catalog: Catalog | Sequence[Any] | None = None,
    always_loaded: Sequence[Any] = (),
) -> StateGraph[State, Context, Input, Output]:
    """Build the graph, uncompiled.

    Args:
        model: A chat model or a `provider:name`; None takes the run's `context.model`.
        tools: The library: tools, functions or JSON schemas with a callable; one of which nothing
            more is known runs without a yes (`contract(tool, effect=...)` says more). None takes
            the file that `RUNGS_TOOLS` names, or `library.toml`.
        catalog: A catalog in place of `tools`; it may change while the graph is used.
        always_loaded: Tools that need no search, by their names in the library or themselves.

    Raises:
        ContractError: A tool can't be offered.
        ModelError: The model can't be used as it is configured.
        ToolsFileError: The tools file is wrong.
        UsageError: Both `tools` and `catalog` are given.
    """
    catalog = as_catalog(tools, catalog)
    always = [loading_search(), *always_loaded_of(always_loaded, catalog)]
    reach = DeferredReach(always, catalog)
    builder, source, prompt = wire(
        model,
        always,
        Context,
        reach=reach,
        library=source_of(catalog),
        prompt="system_prompt_with_tool_search",
    )

    builder.add_node("call_model", call_model(source, prompt, tools=reach, context=Context))
    builder.add_node("validate_calls", validate_calls(reach, context=Context, approval=True))
    builder.add_node("search_catalog", search_catalog(catalog, reach, context=Context, loads=True))
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
