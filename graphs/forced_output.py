"""Free text in, one record out (seed "Augmented LLM", Forced output tool).

The model is shown one tool, `record_request`, whose parameters are the record's schema, and is told
to call it. The tool is never executed: the arguments of its call are the record, if they are valid
by that same schema. If they are not, or there is no single call, a rejection holds the errors and
the arguments as they came. The model is called once, and nothing is repaired.
"""

from collections.abc import Sequence
from typing import Any, Literal, NotRequired

import langgraph.types  # noqa: F401 - before langchain_core: the other order takes a third longer
from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph

from graphs import context as settings
from graphs import state as shared
from graphs.errors import UsageError
from graphs.nodes import force_call, validate_record
from graphs.prompt_settings import prompt_setting
from graphs.records import Rejection
from graphs.rules import rule
from graphs.support_request import SupportRequest
from graphs.wiring import wire
from tools.record import record_tool

NAME = "forced_output"
DESCRIPTION = "Free text into one record of a fixed schema, by one forced tool call."
TOOL = "record_request"
TOOL_DESCRIPTION = "Record what the text says, in one call; leave out nothing, invent nothing."


class Context(settings.Context):
    """Settings of the variant, which has no cap: it calls the model once."""

    system_prompt: str = prompt_setting(
        "system_prompt_with_tools", "What the model is told first.", nodes=("call_model",)
    )


class State(shared.State):
    """The shared state, and how the run ended: in one of these two."""

    record: NotRequired[dict[str, Any] | None]
    rejection: NotRequired[Rejection | None]


class Output(shared.Output):
    """What a run returns: exactly one of the two is not None."""

    record: dict[str, Any] | None
    rejection: Rejection | None


@rule
def after_model(state: shared.Standing) -> Literal["reply", "no reply"]:
    """Judge a reply, whatever it is; a run without one has ended."""
    return "no reply" if state.get("status") else "reply"


def build(
    *,
    model: BaseChatModel | str | None = None,
    tools: Sequence[Any] | None = None,
    schema: Any = SupportRequest,
) -> StateGraph[State, Context, shared.Input, Output]:
    """Build the graph, uncompiled.

    Args:
        model: A chat model or a `provider:name`; None takes the run's `context.model`.
        tools: None: the one tool is made of the schema.
        schema: The record: a Pydantic model, or a JSON schema of an object. Every field of it, at
            every level, has a description.

    Raises:
        UsageError: Tools were given.
        ContractError: The schema can't be used, such as for a field without a description.
        ModelError: The model can't be used as it is configured.
    """
    if tools:
        raise UsageError(f"{NAME} takes no tools: its one tool is made of schema=")
    tool = record_tool(schema, name=TOOL, description=TOOL_DESCRIPTION)
    builder, source, prompt = wire(
        model, [tool], Context, state=State, output=Output, forced=tool.name
    )

    builder.add_node("call_model", force_call(source, prompt, tool=tool, context=Context))
    builder.add_node("validate_record", validate_record(source, tool=tool, context=Context))

    builder.add_edge(START, "call_model")
    builder.add_conditional_edges(
        "call_model", after_model, {"reply": "validate_record", "no reply": END}
    )
    builder.add_edge("validate_record", END)
    return builder


graph = build().compile(name=NAME)
