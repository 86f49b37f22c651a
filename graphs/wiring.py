"""What every variant with tools in its prompt is wired from, made once a graph."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langgraph.graph import StateGraph

import prompts
from graphs.context import Context
from graphs.model_source import ModelSource
from graphs.state import Input, Output, State
from prompts import Template
from tools import Contract


class Wiring(NamedTuple):
    """The parts that a variant puts together.

    Attributes:
        builder: An empty graph over the shared state.
        source: The model, with its tools.
        prompt: The system prompt, its list of tools true to those there are.
    """

    builder: StateGraph[Any, Any, Any, Any]
    source: ModelSource
    prompt: Template


def wire(
    model: BaseChatModel | str | None, tools: Sequence[Contract], context: type[Context]
) -> Wiring:
    """Make the parts of a variant.

    Raises:
        ModelError: The model can't be used as it is configured.
        TemplateError: The prompt is wrong.
    """
    template = prompts.load("system_prompt_with_tools", names={"company", "memory_notes"})
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        State, context_schema=context, input_schema=Input, output_schema=Output
    )
    return Wiring(builder, ModelSource(model, tools), prompts.with_tools(template, tools))
