"""What the ReAct variants are wired from."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langgraph.graph import StateGraph

from graphs.model_source import ModelSource
from graphs.react.context import ReactContext
from graphs.react.prompt import ReactPrompt
from graphs.redaction import RedactingGraph, policy_of
from graphs.state import Input, Output, State
from tools import Contract
from tools.toolset import tool_set


class ReactWiring(NamedTuple):
    """The parts that a variant puts together: an empty graph, the model, the prompt."""

    builder: StateGraph[Any, Any, Any, Any]
    source: ModelSource
    prompt: ReactPrompt


def wire_react(
    model: BaseChatModel | str | None,
    tools: Sequence[Contract],
    context: type[ReactContext],
    *,
    state: Any = State,
    given: Any = Input,
    output: Any = Output,
) -> ReactWiring:
    """Make the parts of a variant.

    Args:
        model: The model, or None for the run's `context.model`.
        tools: The tools that the prompt describes.
        context: The variant's settings.
        state: Its state, where it holds more than others.
        given: Its input, likewise.
        output: Its output, likewise.

    Raises:
        ModelError: The model can't be used as it is configured.
        TemplateError: The prompt is wrong.
    """
    builder = RedactingGraph(
        state,
        policy=policy_of(tools),
        context_schema=context,
        input_schema=given,
        output_schema=output,
    )
    listed = tool_set(tools)
    return ReactWiring(builder, ModelSource(model, listed), ReactPrompt(listed, context))
