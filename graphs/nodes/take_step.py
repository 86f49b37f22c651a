"""`take_step`: a step of a workflow, whose model call makes tool calls and answers nothing."""

from collections.abc import Iterable

from langchain_core.messages import BaseMessage, HumanMessage

from graphs import audit
from graphs.asking import ask
from graphs.context import Context
from graphs.model_source import ModelSource
from graphs.node import Node, Scope, Update
from graphs.nodes.call_model import closed_calls, new_run, refusal_of
from graphs.reach import may_run
from graphs.state import State, begin, ending, progress_of
from graphs.system_prompt import SystemPrompt
from graphs.transcript import model_view, newest_question
from graphs.usage import usage_of
from graphs.waiting import Steps
from tools import Contract


def take_step(
    source: ModelSource,
    prompt: SystemPrompt,
    *,
    tools: Iterable[Contract],
    context: type[Context],
    name: str,
    first: bool = False,
) -> Node:
    """Make the node of a step that its author wired (seed "The Augmented LLM", rung 2).

    It keeps true that
    * the step makes one model call with its own prompt and its own tools, whatever came before;
    * a reply without a call ends nothing: the route is fixed, and the next step follows;
    * only a model that fails for good, or refuses, ends the run here;
    * the first step begins a new run, as `call_model` does.

    Args:
        source: The model, told to call a tool.
        prompt: The step's system prompt.
        tools: The tools of the step; those that change state are left out of a read-only run.
        context: The variant's settings.
        name: The step's name, and the node's.
        first: Whether it is the first step.
    """

    def body(state: State, scope: Scope) -> Steps[Update]:
        messages = state["messages"]
        question = newest_question(messages).id or ""
        if not source.is_ready(scope.context):
            yield source.prepare(scope.context)
        progress = progress_of(state, question)
        update: Update = {}
        closed: list[BaseMessage] = []
        anew = first and (state.get("status") or isinstance(messages[-1], HumanMessage))
        if progress is None or anew:
            progress = begin(question, scope.context.cap)
            update = new_run(state, scope)
            closed += yield from closed_calls(state, scope, source.reach)
        system = yield from prompt.fill(scope)
        recorded = [*messages, *closed]
        view = model_view(recorded)
        offered = [tool.name for tool in tools if may_run(tool, scope.context)]
        asked = yield from ask(source, system, view, recorded, scope, offered=offered)
        step = progress["rounds"] + 1
        audit.model_call(scope, asked, step=step, messages=len(view) + 1, offered=offered)
        reply = asked.reply
        made = len(reply.tool_calls) + len(reply.invalid_tool_calls) if reply else 0
        said = [*closed, reply] if reply else closed
        calls = progress["calls"] + made
        update |= {
            "messages": said,
            "calls": [],
            "progress": {**progress, "rounds": step, "calls": calls, "open_calls": made},
        }
        why = refusal_of(reply) if reply and not made else None
        if reply is None or why:
            end = ending(None, "refused", why) if why else None
            end = end or ending(None, "no_answer", f"the model failed: {asked.failure}")
            cost = usage_of([*messages, *said], question, source.name(scope.context), asked)
            update |= {**end, "usage": cost}
        return update

    return Node(name, body, context, source.reach.tools)
