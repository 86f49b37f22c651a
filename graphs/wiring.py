"""What every variant with tools in its prompt is wired from, made once a graph."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langgraph.graph import StateGraph

from graphs.context import Context
from graphs.model_source import ModelSource
from graphs.prompt_of_run import PromptOfRun
from graphs.reach import Reach
from graphs.redaction import RedactingGraph, policy_of
from graphs.state import Input, Output, State
from graphs.system_prompt import SystemPrompt
from prompts import LateList, Template, with_tools
from tools import Contract, ToolSet


class Wiring(NamedTuple):
    """The parts that a variant puts together.

    Attributes:
        builder: An empty graph over the shared state.
        source: The model, with its tools.
        prompt: The system prompt, its list of tools true to those there are.
    """

    builder: StateGraph[Any, Any, Any, Any]
    source: ModelSource
    prompt: SystemPrompt


def wire(
    model: BaseChatModel | str | None,
    tools: Sequence[Any],
    context: type[Context],
    *,
    state: type[Any] = State,
    output: type[Any] = Output,
    forced: str | None = None,
    reach: Reach | None = None,
    library: Iterable[Contract] = (),
    prompt: str = "system_prompt_with_tools",
) -> Wiring:
    """Make the parts of a variant.

    Args:
        model: A chat model, a `provider:name`, or None for the run's `context.model`.
        tools: What the model is always shown, and the prompt lists.
        context: The variant's settings.
        state: The state, with what the variant adds to the shared one.
        output: What a run returns of it.
        forced: The tool that the model is told to call.
        reach: The tools that there are, where they are not these alone.
        library: Those that a search finds; what their file takes out is taken out.
        prompt: The system prompt's name in `prompts/`.

    Raises:
        ModelError: The model can't be used as it is configured.
        TemplateError: The prompt is wrong.
    """

    def finish(template: Template) -> Template:
        if isinstance(tools, ToolSet):
            return LateList.of(template, tools)
        return with_tools(template, tools)

    system_prompt = SystemPrompt(PromptOfRun(prompt, context, finish=finish))
    builder = RedactingGraph(
        state,
        policy=policy_of(tools, library),
        context_schema=context,
        input_schema=Input,
        output_schema=output,
    )
    source = ModelSource(model, tools, forced=forced, reach=reach)
    return Wiring(builder, source, system_prompt)
