"""ReAct over many turns, its plan and findings in a notes file (seed "ReAct", To-do notes).

The model has one action more, `update_notes`, which replaces the notes of the run. The notes stand
at the top of every prompt, above the last eight turns; what is older drops out of the prompt, never
out of the record. The notes lie in the store, a row for each run, so that a run that was killed
goes on with them. After forty turns the run stops early and returns them, and a new run can begin
where it stopped.
"""

from collections.abc import Sequence
from typing import Any

import langgraph.types  # noqa: F401 - before langchain_core: the other order takes a third longer
from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph

from graphs.nodes import approve, run_tools, validate_calls
from graphs.nodes.call_react_model import call_react_model
from graphs.nodes.stop_early import stop_early
from graphs.react.context import NotesContext
from graphs.react.rules import after_approval, after_model, after_tools, after_validation
from graphs.react.run_notes import with_notes
from graphs.react.window import NotesInput, NotesOutput, NotesState, NotesWindow
from graphs.react.wiring import wire_react
from tools import as_contracts, load_tools

NAME = "react_todo_notes"
DESCRIPTION = "A long ReAct run that keeps its plan and findings in a notes file."
Context = NotesContext


def build(
    *, model: BaseChatModel | str | None = None, tools: Sequence[Any] | None = None
) -> StateGraph[NotesState, Context, NotesInput, NotesOutput]:
    """Build the graph, uncompiled.

    Args:
        model: A chat model or a `provider:name`; None takes the run's `context.model`.
        tools: Tools, functions or JSON schemas with a callable; None takes `tools.toml`.

    Raises:
        ContractError: A tool can't be offered.
        ToolsFileError: The tools file is wrong.
        ModelError: The model can't be used as it is configured.
    """
    given = load_tools() if tools is None else as_contracts(tools, spoken=True)
    contracts = with_notes(given)
    builder, source, prompt = wire_react(
        model, contracts, Context, state=NotesState, given=NotesInput, output=NotesOutput
    )
    recall = NotesWindow()

    builder.add_node(
        "call_model", call_react_model(source, prompt, recall, tools=contracts, context=Context)
    )
    builder.add_node("validate_calls", validate_calls(contracts, context=Context, approval=True))
    builder.add_node("approve", approve(contracts, context=Context))
    builder.add_node("run_tools", run_tools(contracts, context=Context))
    builder.add_node("stop_early", stop_early(source, recall, context=Context))

    builder.add_edge(START, "call_model")
    builder.add_conditional_edges(
        "call_model",
        after_model,
        {
            "action": "validate_calls",
            "ended": END,
            "next turn": "call_model",
            "out of turns": "stop_early",
        },
    )
    builder.add_conditional_edges(
        "validate_calls",
        after_validation,
        {
            "needs a yes": "approve",
            "valid action": "run_tools",
            "next turn": "call_model",
            "out of turns": "stop_early",
        },
    )
    builder.add_conditional_edges(
        "approve",
        after_approval,
        {"valid action": "run_tools", "next turn": "call_model", "out of turns": "stop_early"},
    )
    builder.add_conditional_edges(
        "run_tools", after_tools, {"next turn": "call_model", "out of turns": "stop_early"}
    )
    builder.add_edge("stop_early", END)
    return builder


graph = build().compile(name=NAME)
